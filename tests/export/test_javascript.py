import json
import re
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.export import javascript
from polyladder.export.javascript import javascript_source
from tests.export import cells
from tests.export.estimators import NAMES, case, each, error
from tests.ladders import random_ladder

ASK = """
const ladder = require("./ladder.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf-8"));
console.log(JSON.stringify({ found: rows.map(ladder.predict), label: ladder.label(rows[0]), columns: ladder.columns }));
"""


def node():
    found = shutil.which("node")
    if found is None:
        warnings.warn("JavaScript exports were not tested: there is no Node.", stacklevel=2)
        pytest.skip("there is no Node: JavaScript exports are not tested")
    return found


def run(source, rows, folder):
    source.write(folder / "ladder.js")
    (folder / "rows.json").write_text(json.dumps(rows))
    done = subprocess.run([node(), "-"], input=ASK, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", each(*NAMES, "selected", "intervals", "selected intervals"))
def test_agrees_with_predict(name, tmp_path):
    model, rows, answers = case(name)
    records = [
        {k: None if v is None or v != v else v for k, v in zip(rows.columns, row, strict=True)}
        for row in rows.itertuples(index=False, name=None)
    ]
    got = run(javascript_source(model), records, tmp_path)
    assert got["columns"] == list(rows.columns)
    # The page's own normal distribution and its quadrature are right to 1e-12, not beyond.
    assert error(got["found"], answers) < 1e-12
    if hasattr(model, "classes_"):
        assert got["label"] == model.predict(rows[:1])[0]


def test_names_cannot_leave_their_string(tmp_path):
    hostile = ["</script><script>", "\u2028*/ throw 1;"]
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=hostile)
    model = LPNNRegressor(order=2, width=2, n_estimators=1, max_iter=2, random_state=0).fit(rows, rows[hostile[0]])
    got = run(javascript_source(model), rows.to_numpy().tolist(), tmp_path)
    assert got["columns"] == hostile
    assert error(got["found"], model.predict(rows).reshape(-1, 1)) < 1e-12


def test_a_ladder_takes_arrays_and_gives_its_outputs(tmp_path):
    p = random_ladder(d=2, m=1)
    got = run(javascript_source(p), [[1.0, 2.0]], tmp_path)
    assert error(got["found"], p(torch.tensor([[1.0, 2.0]], dtype=torch.float64)).numpy()) < 1e-12


def test_a_missing_number_that_the_model_does_not_fill_is_no_number(tmp_path):
    got = run(javascript_source(random_ladder(d=2, m=1)), [[1.0, None]], tmp_path)
    assert got["found"] == [[None]]


def test_a_name_that_is_no_identifier_is_refused():
    with pytest.raises(ValueError, match="identifier"):
        javascript_source(random_ladder(), name="a-b")


NAMED = """
const Module = require("module"), vm = require("vm");
const { sources, row, expected } = JSON.parse(require("fs").readFileSync("sources.json", "utf-8"));
const wrong = Object.keys(sources).filter((name) => {
  const made = { exports: {} };
  try {
    vm.runInThisContext(Module.wrap(sources[name]))(made.exports, require, made, "", "");
    return Math.abs(made.exports.predict(row)[0] - expected) > 1e-9;
  } catch {
    return true;
  }
});
console.log(JSON.stringify({ wrong, known: Object.getOwnPropertyNames(globalThis) }));
"""


def broken_names(sources, expected, folder):
    """The names, of those that scripts were written for, whose scripts do not run; and all names that Node knows."""
    asked = {"sources": sources, "row": cells.BASE, "expected": expected}
    (folder / "sources.json").write_text(json.dumps(asked))
    done = subprocess.run([node(), "-"], input=NAMED, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return set(found["wrong"]), set(found["known"])


@pytest.mark.slow
def test_what_the_language_and_scripts_use_is_refused_and_any_other_name_runs(tmp_path):
    model, expected = cells.models()["small"], cells.predicted("small")[0, 0]
    text, refused = str(javascript_source(model)), set(f"{javascript.WORDS} {javascript.NAMES}".split())
    _, known = broken_names({"ladder": text}, expected, tmp_path)
    # Written as if nothing were refused: under every name that the language has, or that Node has and the script uses.
    names = refused | (known & set(re.findall(r"\w+", text)))
    sources = {
        name: text.replace("const ladder =", f"const {name} =").replace("exports = ladder;", f"exports = {name};")
        for name in names
    }
    broken, _ = broken_names(sources, expected, tmp_path)
    assert {"class", "module", "Math", "Number", "Date", "RegExp"} <= broken <= refused
    for name in ("class", "module", "Math", "window"):
        with pytest.raises(ValueError, match=f"must not be a word that JavaScript uses itself; got '{name}'"):
            javascript_source(model, name=name)


ASK_CELLS = """
const ladder = require("./ladder.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf-8"));
const answer = (row) => { try { return ladder.predict(row)[0]; } catch (error) { return String(error); } };
const base = rows[0];
const { age, ...lacking } = base;
console.log(JSON.stringify({
  found: rows.map(answer),
  dates: answer({ ...base, day: new Date("2021-03-04"), sold: new Date("2021-03-04T10:30Z") }),
  misspelt: answer({ ...lacking, aeg: age }),
  short: answer([1, 2]),
  infinite: answer({ ...base, age: Infinity }),
  object: answer({ ...base, age: {} }),
  others: answer({ id: 7, ...base }),
  array: answer(Object.values(base)),
}));
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "default"])
def test_cells_are_read_as_predict_reads_them_or_are_refused(name, tmp_path):
    given = cells.rows(fixed=False).to_dicts()
    wrong = cells.REFUSED + cells.REFUSED_STYLES
    javascript_source(cells.models()[name]).write(tmp_path / "ladder.js")
    rows = given + [cells.BASE | {column: cell} for column, cell in wrong]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    done = subprocess.run([node(), "-"], input=ASK_CELLS, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    found = np.array(got["found"][: len(given)]).reshape(-1, 1)
    assert error(found, cells.predicted(name, fixed=False)) < 1e-12
    for (column, cell), said in zip(wrong, got["found"][len(given) :], strict=True):
        assert said.startswith(f'TypeError: Column "{column}" must hold '), (column, cell, said)
    assert got["dates"] == got["others"] == got["array"] == found[0, 0]
    assert got["misspelt"].startswith('TypeError: A row must have the column "age"; got "sex", ')
    assert got["short"] == "TypeError: A row must have 12 cells; got 2."
    assert got["infinite"] == 'TypeError: Column "age" must hold finite numbers; got Infinity.'
    assert got["object"].startswith('TypeError: Column "age" must hold finite numbers')
