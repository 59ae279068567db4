import pytest

from polyladder.convert.encrypted.parameters import Parameters, candidates
from polyladder.convert.encrypted.pieces import (
    answer_from,
    answer_json,
    columns_from,
    columns_json,
    features_from,
    features_json,
    numbers_from,
    parameters_from,
)
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Affine, Clip, Fill, IsCategory, IsMissing, Quantile, Ramp, YeoJohnson
from polyladder.tables.columns import ColumnKind

COLUMNS = (
    Column("a", "number", cells=ColumnKind("a", "number")),
    Column("t", "category", ("x", None), cells=ColumnKind("t", "category")),
)
FEATURES = (
    Feature(0, (Fill(0.5), Clip(0.0, 1.0), YeoJohnson(0.3), Affine(0.1, 2.0), Ramp(0.0, 0.5))),
    Feature(0, (Quantile((0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0)),)),
    Feature(0, (IsMissing(),)),
    Feature(1, (IsCategory("x"),)),
    Feature(1, (IsCategory(None),)),
)


def test_there_and_back():
    assert columns_from(columns_json(COLUMNS)) == COLUMNS
    assert features_from(features_json(FEATURES), COLUMNS) == FEATURES
    for answer, outputs in (
        (Numbers(None), 1),
        (Numbers(((0.0, 1.0), (2.0, 3.0))), 2),
        (Classes(("a", "b"), "softmax"), 1),
        (Classes((1, 2, 3), "one-versus-rest"), 3),
    ):
        assert answer_from(answer_json(answer), outputs) == answer
    for parameters in (candidate for depth in range(17) for candidate in candidates(depth)):
        assert parameters_from(vars(parameters)) == parameters
    assert numbers_from([1, 2.5]).tolist() == [1.0, 2.5]


@pytest.mark.parametrize(
    ("column", "steps"),
    [
        (2, []),
        (-1, []),
        (True, []),
        (0.0, []),
        (0, [{"kind": "IsCategory", "category": "x"}]),
        (1, [{"kind": "Clip", "low": 0, "high": 1}]),
        (1, []),
        (1, [{"kind": "IsCategory", "category": 3}]),
        (0, [{"kind": "IsMissing"}, {"kind": "Clip", "low": 0, "high": 1}]),
        (0, [{"kind": "Clip", "low": "0", "high": 1}]),
        (0, [{"kind": "Clip", "low": float("nan"), "high": 1}]),
        (0, [{"kind": "Clip", "low": True, "high": 1}]),
        (0, [{"kind": "Clip", "low": 0}]),
        (0, [{"kind": "Path", "low": 0}]),
        (0, [{"kind": "Quantile", "knots": [0], "before": [0], "at": [0], "after": [0]}]),
        (0, [{"kind": "Quantile", "knots": [0, 1], "before": [0], "at": [0, 1], "after": [0, 1]}]),
    ],
)
def test_forged_features_are_refused(column, steps):
    with pytest.raises((ValueError, KeyError, TypeError)):
        features_from([{"column": column, "steps": steps}], COLUMNS)


@pytest.mark.parametrize(
    "changed",
    [{"degree": 2**40}, {"degree": 4096}, {"bits": 60}, {"bits": 1}, {"levels": 0}, {"levels": 10**9}, {"bits": 40.0}],
)
def test_parameters_without_security_or_measure_are_refused(changed):
    good = Parameters(16384, 40, 4)
    with pytest.raises(ValueError, match="parameters must"):
        parameters_from(vars(good) | changed)


def test_forged_answers_and_numbers_are_refused():
    for content, outputs in (
        ({"kind": "Classes", "labels": ["a"], "link": "softmax"}, 1),
        ({"kind": "Classes", "labels": ["a", "b", "c"], "link": "softmax"}, 1),
        ({"kind": "Classes", "labels": ["a", "b"], "link": "other"}, 1),
        ({"kind": "Numbers", "guard": [[0.0], [1.0, 2.0]]}, 1),
        ({"kind": "Numbers", "guard": [["0"], [1.0]]}, 1),
    ):
        with pytest.raises(ValueError, match="must"):
            answer_from(content, outputs)
    for wrong in ([], [0.0], [1.0, float("inf")], ["1"]):
        with pytest.raises(ValueError, match="must"):
            numbers_from(wrong, 0.0)
    with pytest.raises(ValueError, match="a column must"):
        columns_from([{"kind": "date", "name": "a", "categories": []}])
