"""A step that no language has words for is written by its own arithmetic, and run."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from polyladder.convert.onnx.model import onnx_model
from polyladder.convert.source.operations import TextOperations
from polyladder.export.source import to_source
from polyladder.fitted.answers import Numbers
from polyladder.fitted.column import Column
from polyladder.fitted.model import FittedModel
from polyladder.fitted.plan import Feature
from polyladder.fitted.steps import Fill, Step
from tests.convert.onnx.run import run, table
from tests.convert.source.compiled import call, library
from tests.convert.source.test_sql import run_duckdb
from tests.ladders import random_ladder


@dataclass(frozen=True)
class Wave(Step):
    """sin((x - shift) rate)."""

    shift: float
    rate: float

    def apply(self, x):
        return np.sin((x - self.shift) * self.rate)

    def written(self, x, language):
        return language.sine(language.times(language.minus(x, language.number(self.shift)), language.number(self.rate)))


def model():
    columns = (Column("hour", "number", main=0, inputs=(0, 1), fill=1.0), Column("b", "number", main=2, inputs=(2,)))
    steps = (Feature(0, (Fill(1.0), Wave(0.0, 0.26))), Feature(0, (Fill(1.0), Wave(6.0, 0.26))), Feature(1, ()))
    ladder = random_ladder(d=3, hidden=(4,), m=1).map(lambda t: t.unsqueeze(0))
    return FittedModel(columns, steps, ladder.to("cpu", torch.float64), Numbers(None))


def test_expressions():
    text = TextOperations(repr, "sin")
    assert Wave(1.5, 2.0).written("x", text) == "sin(((x - 1.5) * 2.0))"


def test_every_language_runs_it(tmp_path):
    rows = pd.DataFrame({"hour": [0.0, 5.5, np.nan, 23.0], "b": [1.0, -1.0, 0.5, 2.0]})
    wave = model()
    expected = wave.predict(rows)
    module = {}
    exec(str(to_source(wave, "numpy")), module)
    np.testing.assert_allclose(module["predict"](rows), expected, rtol=1e-12)
    query = str(to_source(wave, "sql", table="rows", key="id"))
    found = sorted(run_duckdb(query, rows.assign(id=range(4))))
    np.testing.assert_allclose([[row[-1]] for row in found], expected, rtol=1e-9)
    np.testing.assert_allclose(table(run(onnx_model(wave), rows)), expected, rtol=1e-12)
    built = library(to_source(wave, "c"), tmp_path)
    np.testing.assert_allclose(call(built, rows.to_numpy(), 1), expected, rtol=1e-12)
