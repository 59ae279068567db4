import json
import math
import re
from typing import Any

import numpy as np
import pytest

from polyladder_lab.experiments.engine.rows import count, distribution, number, parsed, score, unit
from polyladder_lab.experiments.engine.scores import packed

WRONG = packed(np.array([True, False, True]))
UNIT = {"unit": 1, "u": [1.0, 2.0], "h": [1.0, 2.0]}
DISTRIBUTION = {
    "input": 1,
    "variance": 0.1,
    "ks": 0.1,
    "skewness": 0.0,
    "kurtosis": 0.0,
    "outside": 3,
    "histogram": [1, 2],
}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"key":"x","value":"\xff"}', "must be UTF-8; got byte 0xff: character 21"),
        (b'{"key":"x","value":1', "must be JSON; got Expecting"),
        (b"[" * 100_000, "got brackets nested too deeply"),
        (b'{"key":"x","value":1,"setting":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001, "nested too deeply"),
        (b"[1]", "must be a JSON object; got list"),
        (b"null", "must be a JSON object; got NoneType"),
        (b'{"key":7,"value":1}', "must have a text 'key'"),
        (b'{"value":1}', "must have a text 'key'"),
        (b'{"key":"x"}', "must have either 'value' or 'folds'"),
        (b'{"key":"x","value":1,"folds":[1]}', "must have either 'value' or 'folds'"),
        (b'{"key":"x","value":"1"}', "must have a finite number or null in 'value'"),
        (b'{"key":"x","value":null,"undefined":1}', "must have a text in 'undefined'"),
        (b'{"key":"x","value":true}', "must have a finite number or null in 'value'"),
        (b'{"key":"x","value":1e999}', "must have a finite number or null in 'value'"),
        (b'{"key":"x","value":NaN}', "must hold finite numbers; got NaN"),
        (b'{"key":"x","value":' + b"9" * 400 + b"}", "must have a finite number or null in 'value'"),
        (b'{"key":"x","value":' + b"9" * 5000 + b"}", "limit"),
        (b'{"key":"x","folds":[]}', "must have a list of finite numbers or nulls in 'folds'"),
        (b'{"key":"x","folds":[1,"2"]}', "must have a list of finite numbers or nulls in 'folds'"),
        (b'{"key":"x","value":0.5,"rows":0}', "must have a number of rows in 'rows'"),
        (b'{"key":"x","value":1.5,"rows":10}', "must have a share of its 'rows' in 'value'"),
        (b'{"key":"x","value":0.5,"wrong":"abc"}', "must have 'rows' beside 'wrong'"),
        (b'{"key":"x","value":0.5,"rows":3,"wrong":"%%%"}', "must have packed bits in 'wrong'"),
        (b'{"key":"x","value":0.5,"rows":3,"wrong":"AAAA"}', "must have packed bits in 'wrong'"),
        (b'{"key":"x","value":0.5,"rows":300,"wrong":"' + WRONG.encode() + b'"}', "must hold 300 booleans"),
        (b'{"key":"x","value":1,"model":3}', "must have a text in 'model'"),
        (b'{"key":"x","value":1,"layers":[[{"unit":1,"u":[1],"h":[]}]]}', "must have units with their inputs"),
        (b'{"key":"x","value":1,"model":"m","distributions":[{"input":1}]}', "must have distributions with"),
    ],
)
def test_a_line_that_is_no_row_is_refused_with_its_reason(line: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parsed(line)


@pytest.mark.parametrize(
    "row",
    [
        {"key": "a", "value": None},
        {"key": "a", "value": -2},
        {"key": "b", "folds": [1.0, None]},
        {"key": "c", "value": 0.5, "rows": 3, "wrong": WRONG},
        {
            "key": "d",
            "value": 1.0,
            "model": "m",
            "layers": [[UNIT]],
            "distributions": [DISTRIBUTION],
            "more": {"x": []},
        },
    ],
)
def test_a_row_is_what_its_line_says(row: dict[str, Any]) -> None:
    assert parsed(json.dumps(row).encode()) == row


def test_distributions_need_their_model() -> None:
    with pytest.raises(ValueError, match="must have a text 'model' beside 'distributions'"):
        parsed(json.dumps({"key": "d", "value": 1.0, "distributions": [DISTRIBUTION]}).encode())


def test_numbers_counts_and_scores() -> None:
    assert all(map(number, [0, -1.5, 2**1000]))
    assert not any(map(number, [True, None, "1", math.nan, math.inf, -math.inf, 10**400]))
    assert score(None)
    assert not score("1")
    assert all(map(count, [1, 2**31 - 1]))
    assert not any(map(count, [0, -1, True, 1.0, 2**31]))


@pytest.mark.parametrize("change", [{"unit": "1"}, {"u": []}, {"h": [1.0]}, {"u": [1.0, math.nan]}, {"h": None}])
def test_a_unit_has_as_many_responses_as_inputs(change: dict[str, Any]) -> None:
    assert unit(UNIT)
    assert not unit({**UNIT, **change})
    assert not unit(None)


@pytest.mark.parametrize(
    "change", [{"ks": None}, {"histogram": []}, {"histogram": [0, 0]}, {"histogram": [1, -1]}, {"outside": -1}]
)
def test_a_distribution_has_a_histogram_of_something(change: dict[str, Any]) -> None:
    assert distribution(DISTRIBUTION)
    assert not distribution({**DISTRIBUTION, **change})
    assert not distribution([])
