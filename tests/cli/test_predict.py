import csv
import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder import LPNNRegressor, load
from polyladder.cli.predict import prediction_lines
from polyladder.tables.table_file import open_table
from tests.cli.tables import as_text, run, sentence, small_table, write
from tests.tables.workbooks import by_openpyxl


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model of a and b, with a card."""
    from polyladder.automatic.card import make_card

    rows = pl.DataFrame({name: [*map(float, cells)] for name, cells in small_table().items()})
    X, y = rows.select("a", "b"), rows["y"].to_numpy()
    estimator = LPNNRegressor(order=3, width=3, n_estimators=2, max_iter=3, random_state=0).fit(X, y)
    held_out = {"observed": y.tolist(), "predicted": (y + np.linspace(-1, 1, 40)).tolist()}
    estimator.card_ = make_card(estimator, X, target="y", held_out=held_out)
    path = tmp_path_factory.mktemp("model") / "m.ladder"
    estimator.save(path)
    return path


def read(text: str) -> tuple[list[str], np.ndarray]:
    header, *rows = csv.reader(io.StringIO(text))
    return header, np.array(rows, dtype=float)


def test_one_line_a_row_under_a_header(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    header, values = read(run("predict", model, path).stdout)
    assert header == ["prediction"]
    rows = pl.read_csv(path)
    assert np.array_equal(values[:, 0], load(model).predict(rows.select("a", "b")))


def test_columns_are_found_by_name_and_others_ignored(model: Path, tmp_path: Path) -> None:
    table = small_table()
    expected = run("predict", model, write(tmp_path / "t.csv", table)).stdout
    shuffled = {"more": ["text"] * 40, "b": table["b"], "a": table["a"]}
    assert run("predict", model, write(tmp_path / "u.csv", shuffled)).stdout == expected
    said = sentence("predict", model, write(tmp_path / "v.csv", {"b": table["b"]}))
    assert said.endswith("must have the 2 columns that the model was fitted to; it lacks 'a'.")


def test_intervals_come_from_held_out_residuals(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    header, values = read(run("predict", model, path, "--interval", 90).stdout)
    assert header == ["prediction", "lower", "upper"]
    # The 37th of 40 residuals, ceil(0.9 * 41), between -1 and 1.
    half = np.sort(np.abs(np.linspace(-1, 1, 40)))[36]
    assert values[:, 2] - values[:, 0] == pytest.approx(np.full(40, half))
    assert values[:, 0] - values[:, 1] == pytest.approx(np.full(40, half))
    assert "must be a whole percentage from 1 to 97; got 99." in sentence("predict", model, path, "--interval", 99)
    run("predict", model, path, "--interval", 100, code=2)


@pytest.mark.slow
def test_a_model_with_a_spread_has_intervals_of_its_own_for_each_row(model: Path, tmp_path: Path) -> None:
    estimator = load(model)
    table = pl.DataFrame({name: [*map(float, cells)] for name, cells in small_table(120).items()})
    y = table["y"].to_numpy() + np.where(table["a"] > 0, 3.0, 0.1) * np.random.default_rng(0).normal(size=120)
    estimator.calibrate(table.select("a", "b"), y).save(tmp_path / "m.ladder")
    path = write(tmp_path / "t.csv", small_table())
    header, values = read(run("predict", tmp_path / "m.ladder", path, "--interval", 80).stdout)
    assert header == ["prediction", "lower", "upper"]
    rows = pl.read_csv(path).select("a", "b")
    assert np.array_equal(values[:, 0], estimator.predict(rows))
    assert np.array_equal(values[:, 1:], np.stack(estimator.predict_interval(rows, level=0.8), 1))
    widths = values[:, 2] - values[:, 1]
    assert widths.max() > 2 * widths.min()
    # Percentages that no card would have, and models without one.
    estimator.card_ = None
    estimator.save(tmp_path / "m.ladder")
    wide = read(run("predict", tmp_path / "m.ladder", path, "--interval", 99).stdout)[1]
    assert (wide[:, 2] - wide[:, 1] > widths).all()


def test_chunks_do_not_change_anything(model: Path, tmp_path: Path) -> None:
    table = small_table(500)
    table["note"] = ['"line\nbreak, and ""quotes"""', "plain"] * 250
    path = write(tmp_path / "t.csv", table)
    whole = run("predict", model, path).stdout
    parts = list(prediction_lines(load(model), open_table(path, block=1000)))
    assert len(parts) > 10
    # To rounding: a product of other shape may be summed in another order.
    again, once = read(b"".join(lines for lines, _ in parts).decode())[1], read(whole)[1]
    assert again == pytest.approx(once, rel=1e-12, abs=1e-12)
    assert sum(count for _, count in parts) == 500


def test_the_row_of_a_bad_cell_is_named_across_chunks(model: Path, tmp_path: Path) -> None:
    table = small_table(500)
    table["a"][399] = "many"
    path = write(tmp_path / "t.csv", table)
    assert sentence("predict", model, path) == "Column 'a' must hold numbers; got 'many' in row 400."
    with pytest.raises(ValueError, match="got 'many' in row 400"):
        list(prediction_lines(load(model), open_table(path, block=1000)))


def test_output_appears_whole_or_not_at_all(model: Path, tmp_path: Path) -> None:
    path, out = write(tmp_path / "t.csv", small_table()), tmp_path / "out.csv"
    result = run("predict", model, path, "-o", out)
    assert result.stdout == ""
    assert result.stderr == f"40 predictions of y in {out}.\n"
    assert out.read_text() == run("predict", model, path).stdout
    mask = os.umask(0)
    os.umask(mask)
    assert out.stat().st_mode & 0o777 == 0o666 & ~mask
    before = out.read_text()
    table = small_table()
    table["b"][20] = "x"
    sentence("predict", model, write(tmp_path / "t.csv", table), "-o", out)
    assert out.read_text() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.csv", "t.csv"]


def test_missing_cells_and_no_rows(model: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n,\nNA,1\n\n")
    _, values = read(run("predict", model, tmp_path / "t.csv").stdout)
    assert len(values) == 2
    assert np.isfinite(values).all()
    (tmp_path / "t.csv").write_text("a,b\n")
    assert run("predict", model, tmp_path / "t.csv").stdout == "prediction\n"


def test_new_categories_are_mentioned_once(tmp_path: Path) -> None:
    table = small_table(300)
    table["kind"] = ["x", "y"] * 150
    rows = pl.DataFrame({name: cells if name == "kind" else [*map(float, cells)] for name, cells in table.items()})
    estimator = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=1).fit(rows.drop("y"), rows["y"].to_numpy())
    estimator.save(tmp_path / "m.ladder")
    table["kind"] = ["z", "w", "x"] * 100
    path = write(tmp_path / "t.csv", table)
    said = run("predict", tmp_path / "m.ladder", path).stderr
    assert said.startswith("polyladder: note: Column 'kind' holds categories that training did not see")
    assert said.count("\n") == 1
    assert run("predict", tmp_path / "m.ladder", path, "-q").stderr == ""
    assert "no held-out rows of this model are known" in sentence(
        "predict", tmp_path / "m.ladder", path, "--interval", 90
    )


def test_a_model_of_arrays_takes_columns_as_they_come(tmp_path: Path) -> None:
    table = small_table()
    X = np.array([table["a"], table["b"]], dtype=float).T
    estimator = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(X, X.sum(1))
    estimator.save(tmp_path / "m.ladder")
    path = write(tmp_path / "t.csv", {"p": table["a"], "q": table["b"]})
    _, values = read(run("predict", tmp_path / "m.ladder", path).stdout)
    assert np.array_equal(values[:, 0], estimator.predict(X))
    assert "it lacks 'x0', 'x1'" in sentence("predict", tmp_path / "m.ladder", write(tmp_path / "u.csv", table))


def test_a_bare_polynomial_and_a_damaged_file_are_refused(model: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", small_table())
    load(model).polynomial_.save(tmp_path / "p.ladder")
    assert "it holds a polynomial without its preprocessing" in sentence("predict", tmp_path / "p.ladder", path)
    (tmp_path / "d.ladder").write_bytes(model.read_bytes()[:-7])
    assert "damaged" in sentence("predict", tmp_path / "d.ladder", path)
    assert "there is none" in sentence("predict", tmp_path / "absent.ladder", path)


def test_text_on_standard_input_may_be_compressed(model: Path) -> None:
    import gzip

    plain = run("predict", model, "-", input=as_text(small_table())).stdout
    assert run("predict", model, "-", input=gzip.compress(as_text(small_table()).encode())).stdout == plain


def with_unit(model: Path, place: Path, suffix: str) -> Path:
    """The model, as if its column a had come with a unit."""
    estimator = load(model)
    estimator.card_["columns"][0]["written"] = {"kind": "number", "style": {"suffix": suffix}}
    estimator.save(place)
    return place


def test_units_are_converted_or_refused(model: Path, tmp_path: Path) -> None:
    kilos = with_unit(model, tmp_path / "kg.ladder", " kg")
    table = small_table()
    expected = read(run("predict", kilos, write(tmp_path / "t.csv", table)).stdout)[1]
    pounds = table | {"a": [f"{float(cell) / 0.45359237!r} lb" for cell in table["a"]]}
    result = run("predict", kilos, write(tmp_path / "u.csv", pounds))
    assert read(result.stdout)[1] == pytest.approx(expected)
    assert result.stderr.startswith("polyladder: note: Column 'a' holds numbers in lb, which are converted: ")
    assert result.stderr.count("\n") == 1
    meters = table | {"a": [f"{cell} m" for cell in table["a"]]}
    said = sentence("predict", kilos, write(tmp_path / "v.csv", meters))
    assert said.startswith("Column 'a' must hold numbers in kg, as in training; got '")
    assert said.endswith("Convert it to kg first.")


def test_the_label_of_the_last_row_is_mentioned(model: Path, tmp_path: Path) -> None:
    table = small_table(12)
    table["name"] = ["x"] * 11 + ["Total"]
    result = run("predict", model, write(tmp_path / "t.csv", table))
    assert len(result.stdout.splitlines()) == 13
    assert result.stderr == "polyladder: note: The last row is labeled 'Total': it was predicted like any other.\n"


def test_rows_of_a_sheet(model: Path, tmp_path: Path) -> None:
    rows = [["a", "b"], *zip(*(map(float, small_table()[name]) for name in ("a", "b")), strict=True)]
    book = by_openpyxl(tmp_path / "b.xlsx", rows, "more")
    expected = run("predict", model, write(tmp_path / "t.csv", small_table())).stdout
    for options in ((), ("--sheet", "Data"), ("--sheet", 1)):
        assert run("predict", model, book, *options).stdout == expected
    assert "it lacks 'a', 'b'" in sentence("predict", model, book, "--sheet", "more")
