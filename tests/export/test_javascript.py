import json
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

from polyladder import LPNNRegressor
from polyladder.export.javascript import javascript_source
from tests.export.estimators import NAMES, case, each, error
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


@pytest.mark.parametrize("name", each(*NAMES, "selected"))
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
