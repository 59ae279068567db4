import json
import shutil
import subprocess
import warnings

import pytest

from polyladder.convert.exported.model import exported_ladder
from polyladder.export.javascript import javascript_source
from polyladder.export.read import exported
from tests.export.estimators import NAMES, case, error
from tests.ladders import random_ladder

ASK = """
const ladder = require("./ladder.js");
const rows = JSON.parse(require("fs").readFileSync("rows.json", "utf-8"));
console.log(JSON.stringify({ found: rows.map(ladder.predict), label: ladder.label(rows[0]), columns: ladder.columns }));
"""


def run(source, rows, folder):
    node = shutil.which("node")
    if node is None:
        warnings.warn("JavaScript exports were not tested: there is no Node.", stacklevel=2)
        pytest.skip("there is no Node: JavaScript exports are not tested")
    source.write(folder / "ladder.js")
    (folder / "rows.json").write_text(json.dumps(rows))
    done = subprocess.run([node, "-"], input=ASK, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [*NAMES, "piecewise"])
def test_agrees_with_predict(name, tmp_path):
    model, rows, answers = case(name)
    records = [
        {k: None if v is None or v != v else v for k, v in zip(rows.columns, row, strict=True)}
        for row in rows.itertuples(index=False, name=None)
    ]
    got = run(javascript_source(exported(model)), records, tmp_path)
    assert got["columns"] == list(rows.columns)
    # The page's own normal distribution and its quadrature are right to 1e-12, not beyond.
    assert error(got["found"], answers) < 1e-12
    if hasattr(model, "classes_"):
        assert got["label"] == model.predict(rows[:1])[0]


def test_arrays_are_rows_and_names_cannot_leave_their_string(tmp_path):
    p = random_ladder(d=2, m=1)
    hostile = ["</script><script>", "\u2028*/ throw 1;"]
    got = run(javascript_source(exported_ladder(p, hostile)), [[1.0, 2.0]], tmp_path)
    import torch

    assert got["columns"] == hostile
    assert error(got["found"], p(torch.tensor([[1.0, 2.0]], dtype=torch.float64)).numpy()) < 1e-12


def test_a_name_that_is_no_identifier_is_refused():
    with pytest.raises(ValueError, match="identifier"):
        javascript_source(exported_ladder(random_ladder()), name="a-b")
