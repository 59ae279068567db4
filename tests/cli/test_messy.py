"""Tables as they come: each is fitted, or refused in one sentence."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import load
from polyladder.automatic.fit_table import read_training_table
from polyladder.automatic.options import FitOptions
from tests.cli.tables import as_text, run, sentence, small_models, small_table, write
from tests.tables.workbooks import by_openpyxl

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures(small_models.__name__)]


def fit(path: Path, *options: object, target: str = "y"):
    """Fit to a table and predict it again; the card, what was said, and the predictions."""
    model = path.parent / "m.ladder"
    result = run("fit", path, "-t", target, "-o", model, "--time-budget", 0, "--json", *options)
    lines = run("predict", model, path).stdout.splitlines()
    return json.loads(result.stdout), result.stderr, lines[1:]


def columns(card) -> list[str]:
    return [column["name"] for column in card["columns"]]


def test_an_unnamed_column_is_called_by_its_position(tmp_path: Path) -> None:
    table = small_table()
    text = as_text({"": table["a"], "b": table["b"], "y": table["y"]})
    (tmp_path / "t.csv").write_text(text)
    card, _, lines = fit(tmp_path / "t.csv")
    assert columns(card) == ["column 1", "b"]
    assert len(lines) == 40


def test_an_unnamed_column_that_counts_rows_is_left_out(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {"": [str(i) for i in range(40)], **small_table()})
    card, said, _ = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "b"]
    assert "  column 1  left out: it has no name and counts the rows\n" in said
    assert "Column 'column 1' has no name and counts the rows: left out." in card["notes"]


def test_numbers_with_text_among_them_are_refused_or_forced(tmp_path: Path) -> None:
    table = small_table()
    table["size"] = [*(["12", "14", "15", "16"] * 9), "12", "14", "large", "small"]
    path = write(tmp_path / "t.csv", table)
    said = sentence("fit", path, "-t", "y")
    assert said.startswith("Column 'size' must hold numbers or categories, not both; got '12' and 'large'.")
    card, _, _ = fit(path, "--drop", "size")
    assert columns(card) == ["a", "b"]
    card, _, _ = fit(path, "--category", "size")
    assert card["columns"][2]["kind"] == "category"


def test_missing_values_become_medians_with_a_flag_and_rows_without_a_target_are_left_out(tmp_path: Path) -> None:
    table = small_table()
    table["a"][3:8] = ["", "NA", "?", " n/a ", "null"]
    table["kind"] = ["x", "", "z", "x"] * 10
    table["y"][5] = ""
    card, said, lines = fit(write(tmp_path / "t.csv", table))
    assert card["rows"] == 39
    assert "1 row has no y: left out." in said
    assert card["columns"][0]["missing"] == 4
    assert card["columns"][2]["missing"] == 9
    assert len(lines) == 40  # also the row without a target is predicted
    assert np.isfinite([float(line) for line in lines]).all()


@pytest.mark.parametrize(
    ("written", "date_format"),
    [("{2}/{1}/{0}", "%d/%m/%Y"), ("{0}-{1}-{2}", "%Y-%m-%d"), ("{0}-{1}-{2}T10:30:00Z", "%Y-%m-%dT%H:%M:%S%.f")],
)
def test_dates_become_days(written: str, date_format: str, tmp_path: Path) -> None:
    table = small_table()
    table["day"] = [written.format("2020", f"{1 + i % 12:02}", f"{1 + i % 28:02}") for i in range(40)]
    card, _, _ = fit(write(tmp_path / "t.csv", table))
    column = card["columns"][2]
    assert column["unit"] == "days since 1970-01-01"
    assert column["date_format"] == date_format
    assert column["minimum"] // 1 == 18262  # the first of January 2020
    # A date that is no date is refused at its row.
    table["day"][30] = "soon"
    said = sentence("predict", tmp_path / "m.ladder", write(tmp_path / "t.csv", table))
    assert said.startswith("Column 'day' must hold dates written like ")
    assert said.endswith("; got 'soon' in row 31.")
    # An ISO date means one day only.
    table["day"] = ["2020-01-01"] * 40
    assert len(run("predict", tmp_path / "m.ladder", write(tmp_path / "t.csv", table)).stdout.splitlines()) == 41


def test_a_hundred_categories(tmp_path: Path) -> None:
    table = small_table(300)
    table["shop"] = [f"shop {i % 100}" for i in range(300)]
    card, _, lines = fit(write(tmp_path / "t.csv", table))
    assert len(card["columns"][2]["categories"]) == 100
    assert len(lines) == 300
    assert card["scores"][0]["r2"] > 0.5


def test_names_are_no_categories(tmp_path: Path) -> None:
    write(tmp_path / "t.csv", {**small_table(), "who": [f"person {i}" for i in range(40)]})
    card, said, _ = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "b"]
    assert "  who  left out: it holds 40 different texts, more like names than categories\n" in said


def test_duplicated_names_are_numbered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(as_text(small_table()).replace("a,b,y", "a,a,y", 1))
    card, said, lines = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "a (2)"]
    assert "Two columns are called 'a'; the later one is 'a (2)' here." in said
    assert len(lines) == 40


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(as_text(small_table()), encoding=encoding)
    card, _, lines = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "b"]
    assert len(lines) == 40


def test_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    plain = write(tmp_path / "t.csv", small_table())
    _, _, expected = fit(plain)
    comma = tmp_path / "t2.csv"
    comma.write_text(as_text(small_table(), ";").replace(".", ","))
    card, _, lines = fit(comma)
    assert columns(card) == ["a", "b"]
    assert lines == expected


def test_tabs_compression_and_parquet_give_the_same_model(tmp_path: Path) -> None:
    table = small_table()
    _, _, expected = fit(write(tmp_path / "t.csv", table))
    assert fit(write(tmp_path / "t.tsv", table, "\t"))[2] == expected
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(as_text(table).encode()))
    assert fit(tmp_path / "t.csv.gz")[2] == expected
    pl.DataFrame({name: [*map(float, cells)] for name, cells in table.items()}).write_parquet(tmp_path / "t.parquet")
    assert fit(tmp_path / "t.parquet")[2] == expected


def test_quotes_and_line_breaks_in_cells(tmp_path: Path) -> None:
    table = small_table()
    table["kind, of\na thing"] = ['"x\ny"', '"a ""b"""', '"p,q"', "plain"] * 10
    text = as_text(table).replace("kind, of\na thing", '"kind, of\na thing"', 1)
    (tmp_path / "t.csv").write_text(text)
    card, _, lines = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "b", "kind, of\na thing"]
    assert sorted(card["columns"][2]["categories"]) == ['a "b"', "p,q", "plain", "x\ny"]
    assert len(lines) == 40


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    table = small_table()
    table["größe"] = ["klein", "groß"] * 20
    (tmp_path / "t.csv").write_bytes(as_text(table).encode("cp1252"))
    card, said, _ = fit(tmp_path / "t.csv")
    assert columns(card) == ["a", "b", "größe"]
    assert "The text is not UTF-8 and was read as windows-1252." in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must hold a header and rows; it is empty."),
        ("\n\n", "must hold a header and rows; it is empty."),
        ("a,b,y\n", "must hold rows under its header; there are none."),
        ("a,b,y\n1,2,3\n", "must hold at least 10 rows with a target; got 1."),
        ("a,b,y\n" + "1,2,3\n" * 20, "Target 'y' must hold different values; every row has 3.0."),
        ("a,b,y\n" + "1,2,3\n" * 20 + "1,2,4\n", "Two classes must have at least 3 rows each"),
        ("a,b,y\n1,2,3\n4,5,6\n", "must hold at least 10 rows with a target; got 2."),
        ("a,b,y\n1,2,3,4\n" * 20, "Row 1 of"),
        ("a,b,y\n" + "1,2,\n" * 20, "Target 'y' must hold numbers or classes; got nothing."),
        ("a,b,y\n" + "1,2,2020-01-01\n1,2,2020-01-02\n" * 20, "Target 'y' must hold numbers or classes; got dates."),
        ("a,y\n" + "".join(f"1,{i}\n" for i in range(20)), "must hold a column besides 'y' that says something"),
        ("a,y\n" + "".join(f"{i},t{i}\n" for i in range(60)), "must hold numbers or a few classes; got 60 different"),
        ("a,b,y\n" + "1,2,inf\n" * 20, "Column 'y' must hold finite numbers; got 'inf' in row 1."),
        ("x\0y", "must be a table of text or Parquet; it holds binary data."),
    ],
)
def test_what_cannot_be_fitted_is_said_in_a_sentence(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert said in sentence("fit", tmp_path / "t.csv", "-t", "y")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_target_that_is_not_there(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", {**small_table(), "price": ["1", "2"] * 20})
    said = sentence("fit", path, "-t", "prise")
    assert said == f"target must name a column of {path}; got 'prise'. Did you mean 'price'?"
    assert sentence("fit", path, "-t", "zzz").endswith("Its columns are a, b, y, price.")
    assert sentence("fit", path, "-t", "y", "--drop", "c").startswith("drop must name a column")


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    assert "there is none" in sentence("fit", tmp_path / "absent.csv", "-t", "y")
    assert "it is a folder" in sentence("fit", tmp_path, "-t", "y")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"a,y\n1,2\n" * 1000)[:-20])
    assert "cannot be decompressed" in sentence("fit", tmp_path / "t.csv.gz", "-t", "y")
    (tmp_path / "t.parquet").write_bytes(b"PAR1 and nothing else")
    assert "cannot be read as Parquet" in sentence("fit", tmp_path / "t.parquet", "-t", "y")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_quote_left_open_is_refused_by_its_line(end: str, tmp_path: Path) -> None:
    fit(write(tmp_path / "t.csv", small_table(80)))
    lines = as_text(small_table(80)).splitlines()
    lines[10] = '"' + lines[10]
    path = tmp_path / "u.csv"
    path.write_bytes(end.join([*lines, ""]).encode())
    for words in (("fit", path, "-t", "y"), ("predict", tmp_path / "m.ladder", path)):
        assert sentence(*words).startswith(
            f"{path} must close every quote that it opens; the one in line 11 is left open."
        )


def test_line_ends_of_old_macs_give_the_same_model(tmp_path: Path) -> None:
    _, _, expected = fit(write(tmp_path / "t.csv", small_table()))
    (tmp_path / "u.csv").write_bytes(as_text(small_table()).replace("\n", "\r").encode())
    _, _, lines = fit(tmp_path / "u.csv")
    assert len(lines) == 40
    # The rows may come in other chunks, which round otherwise.
    np.testing.assert_allclose(np.array(lines, float), np.array(expected, float), rtol=1e-12)


def test_blank_lines_and_short_rows_are_told(tmp_path: Path) -> None:
    _, _, expected = fit(write(tmp_path / "t.csv", small_table()))
    lines = as_text(small_table()).splitlines()
    path = tmp_path / "u.csv"
    path.write_text("\n".join([*lines[:5], "", "", *lines[5:], lines[1].rsplit(",", 1)[0], ""]))
    result = run("predict", tmp_path / "m.ladder", path)
    # The prediction of a row stands where the row stands among the rows; the last lacks only its target.
    found = [float(each) for each in result.stdout.splitlines()[1:]]
    assert found == pytest.approx([float(each) for each in (*expected, expected[0])], rel=1e-12)
    said = [
        "1 row has fewer cells than the header: the rest is read as missing.",
        "2 blank lines are left out.",
    ]
    assert result.stderr == "".join(f"polyladder: note: {sentence}\n" for sentence in said)
    assert run("predict", tmp_path / "m.ladder", path, "--quiet").stderr == ""
    shown = run("fit", path, "-t", "y", "-o", tmp_path / "n.ladder", "--time-budget", 0).stderr
    assert all(sentence in shown for sentence in said)


def test_the_command_ends_in_one_line_whatever_the_file(tmp_path: Path) -> None:
    """As users run it, in a process of its own."""
    fit(write(tmp_path / "t.csv", small_table(80)))
    text = as_text(small_table(80)).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", text)
    encrypted = bytearray(packed.getvalue())
    encrypted[6] = encrypted[encrypted.index(b"PK\x01\x02") + 8] = 1
    pl.read_csv(text).write_parquet(tmp_path / "whole.parquet")
    pages = (tmp_path / "whole.parquet").read_bytes()
    files = {
        "quote.csv": text.replace(b"\n", b'\n"', 1),
        "bad.csv.gz": gzip.compress(text)[:10] + bytes(100) + gzip.compress(text)[110:],
        "encrypted.zip": bytes(encrypted),
        "bad.parquet": pages[:4] + bytes(200) + pages[204:],
        "space.csv": "\u00a0".encode(),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    code = """
import sys
from polyladder.cli.main import app
model, output, *paths = sys.argv[1:]
for path in paths:
    sys.argv = ["polyladder", "predict", model, path, "-o", output]
    try:
        app()
    except SystemExit as stop:
        print(stop.code)
"""
    words = [tmp_path / name for name in ("m.ladder", "out.csv", *files)]
    result = subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True, text=True)
    assert result.stdout == "1\n" * len(files)
    for name, line in zip(files, result.stderr.splitlines(), strict=True):
        assert line.startswith(f"polyladder: {tmp_path / name} ")
    assert not (tmp_path / "out.csv").exists()


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    table = small_table()
    path = tmp_path / "t.csv"
    path.write_text(as_text(table).replace("a,b,y", "[bold]a,<script>,y", 1))
    run("fit", path, "-t", "y", "-o", tmp_path / "m.ladder", "--time-budget", 0)
    shown = run("explain", tmp_path / "m.ladder").stdout
    assert "[[bold]a]" in shown
    assert "<script>" in shown
    assert load(tmp_path / "m.ladder").feature_names_in_.tolist() == ["[bold]a", "<script>"]


def test_what_a_model_knows_of_its_cells_is_in_its_file(tmp_path: Path) -> None:
    """Units, towns in any case, a code for missing values and times of day, in training and in new rows."""
    rng = np.random.default_rng(3)
    table = small_table(60) | {
        "weight": [f"{w:.1f} kg" for w in rng.uniform(1, 9, 60)],
        "town": rng.choice(["Bern", "BERN", "Aue"], 60).tolist(),
        "heat": [*["-999"] * 3, *(f"{t:.1f}" for t in rng.uniform(10, 30, 57))],
        "at": [f"{h:02}:{m:02}" for h, m in zip(rng.integers(0, 24, 60), rng.integers(0, 60, 60), strict=True)],
    }
    path = write(tmp_path / "t.csv", table)
    card, said, expected = fit(path)
    written = {column["name"]: column["written"] for column in card["columns"]}
    assert written["weight"] == {"kind": "number", "style": {"suffix": " kg"}}
    assert written["town"]["spelled"]["bern"] in ("Bern", "BERN")
    assert written["heat"] == {"kind": "number", "missing": -999.0}
    assert written["at"] == {"kind": "date", "date_format": "%H:%M"}
    assert [column["unit"] for column in card["columns"] if column["name"] == "at"] == ["days since midnight"]
    assert "Column 'heat' holds -999 in 3 rows: read as missing." in said
    other = table | {
        "weight": [f"{float(cell.split()[0]) * 1000!r} g" for cell in table["weight"]],
        "town": [cell.lower() for cell in table["town"]],
        "heat": ["" if cell == "-999" else cell for cell in table["heat"]],
        "at": [f"{cell}:00" for cell in table["at"]],
    }
    lines = run("predict", tmp_path / "m.ladder", write(tmp_path / "u.csv", other)).stdout.splitlines()[1:]
    assert [float(line) for line in lines] == pytest.approx([float(line) for line in expected], rel=1e-9)


def test_a_workbook_and_json_lines_are_the_same_table(tmp_path: Path) -> None:
    table = small_table()
    rows = [dict(zip(table, map(float, cells), strict=True)) for cells in zip(*table.values(), strict=True)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    book = by_openpyxl(tmp_path / "t.xlsx", [list(table), *[list(row.values()) for row in rows]], "more")
    plain = read_training_table(write(tmp_path / "t.csv", table), "y")
    for path, sheet in ((tmp_path / "t.jsonl", None), (book, None), (book, "Data"), (book, "1")):
        found = read_training_table(path, "y", FitOptions(sheet=sheet))
        assert found.columns.equals(plain.columns)
        assert np.array_equal(found.target, plain.target)
    assert "--sheet must name a sheet of" in sentence("fit", book, "-t", "y", "--sheet", "none")
