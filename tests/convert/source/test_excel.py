"""The formulas, computed by LibreOffice."""

import csv
import io
import re
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from polyladder.convert.source.excel import excel_source, quoted
from polyladder.fitted.model import fitted_model, ladder_model
from tests.export import cells
from tests.export.estimators import case, error
from tests.ladders import random_ladder

ROWS = 150


def computed(source, rows, folder):
    """What LibreOffice makes of the formulas, filled down beside rows. (header, lines)."""
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        warnings.warn("Spreadsheet exports were not tested: there is no LibreOffice.", stacklevel=2)
        pytest.skip("there is no LibreOffice: spreadsheet exports are not tested")
    header, cells = csv.reader(io.StringIO(str(source)))
    lines = []
    for at, row in enumerate(rows.itertuples(index=False, name=None), start=2):
        given = ["" if v is None or v != v else (v if isinstance(v, str) else repr(float(v))) for v in row]
        filled = [re.sub(r"\b([A-Z]{1,3})2\b", rf"\g<1>{at}", cell) for cell in cells[len(given) :]]
        lines.append([*given, *filled])
    with open(folder / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *lines])
    # 44, 34, UTF-8, first line, no column formats, English, no quoted fields as text, detect numbers, ... formulas on.
    read = "CSV:44,34,76,1,,1033,false,true,false,false,false,-1,true"
    command = [office, "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to", "fods"]
    command += [f"--infilter={read}", "--outdir", str(folder), str(folder / "in.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr
    return header, flat_cells((folder / "in.fods").read_text())


def flat_cells(text):
    """The values of a flat sheet, all digits of them."""
    import xml.etree.ElementTree as ET

    office, table = (f"{{urn:oasis:names:tc:opendocument:xmlns:{n}:1.0}}" for n in ("office", "table"))
    lines = []
    for row in ET.fromstring(text).iter(f"{table}table-row"):
        line = []
        for cell in row.iter(f"{table}table-cell"):
            count = int(cell.get(f"{table}number-columns-repeated", "1"))
            value = cell.get(f"{office}value")
            shown = float(value) if value is not None else "".join(cell.itertext()).strip()
            line += [shown] * min(count, 20_000)
        lines.append(line)
    return [line for line in lines if any(v != "" for v in line)][1:]


@pytest.mark.parametrize(
    "name",
    [
        "numbers",
        "yeo-johnson",
        "cyclic",
        "gaps and categories",
        "two outputs",
        "two classes",
        "one versus rest",
        "piecewise",
        "intervals",
    ],
)
def test_agrees_with_predict(name, tmp_path):
    model, rows, answers = case(name)
    description = fitted_model(model)
    header, lines = computed(excel_source(description), rows[:ROWS], tmp_path)
    at = [header.index(n) for n in description.answer_names]
    assert error([[line[i] for i in at] for line in lines], answers[:ROWS]) < 1e-9
    if hasattr(model, "classes_"):
        assert [line[header.index("prediction")] for line in lines] == model.predict(rows[:ROWS]).tolist()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="must have one ladder per cell"):
        excel_source(fitted_model(case("posterior")[0]))
    with pytest.raises(ValueError, match="too many pieces"):
        excel_source(fitted_model(case("quantile")[0]))
    with pytest.raises(ValueError, match="at most 8,192 characters"):
        excel_source(ladder_model(random_ladder(d=400, hidden=(2,))))


def test_cells_are_read_as_predict_reads_them(tmp_path):
    model = cells.models()["small"]
    plain = cells.BASE | {"sold": "2021-03-04 10:30", "price": 2000.0, "share": 12.0, "age": 30.0, "flag": 1.0}
    plain |= {"cold": -5.5, "weight": 5.1}
    same = [{}, {"sex": " Male "}, {"own": "yes"}, {"own": "TRUE"}, {"own": "1"}]
    others = [
        {"own": "Нет"},
        {"sex": "male"},
        {"sex": "NA"},
        {"sex": ""},
        {"age": None},
        {"own": "n/a"},
        {"flag": None},
    ]
    wrong = [{"own": "maybe"}, {"age": "abc"}, {"day": "yesterday"}, {"price": "$ 5 each"}]
    given = pd.DataFrame([plain | change for change in same + others + wrong]).astype(object)
    header, lines = computed(excel_source(fitted_model(model)), given, tmp_path)
    found = [line[header.index("prediction")] for line in lines]
    clean = [cells.BASE | {k: "" if v is None else v for k, v in change.items()} for change in same + others]
    rows = cells.as_numbers(pl.DataFrame(clean))
    read = {"yes": "Y", "TRUE": "Y", "1": "Y", "Нет": "N", "n/a": None, " Male ": "Male", "NA": None, "": None}
    rows = rows.with_columns(
        pl.Series(name, [read.get(v, v) for v in rows[name].to_list()], dtype=pl.String) for name in ("sex", "own")
    )
    expected = model.predict(rows)
    assert error(np.array(found[: len(clean)]), expected) < 1e-9
    assert len(set(expected.round(9))) > 4
    assert all(isinstance(value, str) and value.startswith("#") for value in found[len(clean) :]), found


def test_names_that_begin_like_formulas_and_long_texts():
    names = ["=1+1", "+a", "-b", "@c", "\t=1", "\r=2", "plain"]
    header, _ = csv.reader(io.StringIO(str(excel_source(ladder_model(random_ladder(d=7), names))), newline=""))
    assert header[:7] == [" =1+1", " +a", " -b", " @c", " \t=1", " \r=2", "plain"]
    with pytest.raises(ValueError, match=r"at most 255 characters; .* has 300"):
        quoted("x" * 300)
