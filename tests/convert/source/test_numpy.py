import polars as pl
import pytest

from polyladder.convert.source.numpy import numpy_source
from polyladder.fitted.model import fitted_model
from tests.export.estimators import NAMES, case, each, error


@pytest.mark.parametrize("name", each(*NAMES, "selected", "piecewise", "intervals", "selected intervals"))
def test_agrees_with_predict(name):
    model, rows, answers = case(name)
    module = {}
    exec(compile(str(numpy_source(fitted_model(model))), "model.py", "exec"), module)
    assert error(module["predict"](rows), answers) < 1e-12
    cells = {name: [None if v is None or v != v else v for v in rows[name]] for name in rows.columns[::-1]}
    # All rows once are slow enough.
    shuffled = pl.DataFrame(cells)[:1000]
    assert error(module["predict"](shuffled), answers[:1000]) < 1e-12
    if name in ("numbers", "piecewise"):
        assert error(module["predict"](rows.to_numpy()), answers) < 1e-12


def test_texts_cannot_leave_their_strings():
    from polyladder.fitted.model import ladder_model
    from tests.ladders import random_ladder

    names = ['a""" \\\nraise SystemExit\n"""', "ends in \\", 'ends in "', "\0", "'''", "{braces}"]
    module = {}
    exec(str(numpy_source(ladder_model(random_ladder(d=len(names)), names))), module)
    assert module["COLUMNS"] == names
