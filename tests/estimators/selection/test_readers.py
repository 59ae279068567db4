"""What ladders read: the columns that matter most have their ramps, the others stay as they are."""

import numpy as np

from polyladder.estimators.selection import readers
from polyladder.estimators.selection.candidates.block import Block
from polyladder.estimators.selection.readers import PLAIN, RAMPED, plain_reader, ramp_reader
from polyladder.fitted.features import Features
from polyladder.tables.table import Table
from polyladder.training.kernels.directions import Directions
from polyladder.training.kernels.relevance import Relevance

RNG = np.random.default_rng(3)
ROWS, COLUMNS, RAMPS = 190, 4, 5
NOWHERE = Directions(np.zeros((1, 1)), np.zeros((1, 1)), 2)


def blocks(strengths: list[float]) -> tuple[Features, Block, Block, np.ndarray]:
    """Features with ramps, a kernel over the columns and one over their ramps with scales of such strengths."""
    X = RNG.normal(size=(ROWS, COLUMNS))
    table = Table(X, {}, tuple(range(COLUMNS)), tuple("abcd"))
    features = Features().fit_table(table).ramped(table, RAMPS)
    z = features.transform_table(table)
    plain = Block("standard", np.arange(COLUMNS), z[:, :COLUMNS], np.arange(COLUMNS), scales(np.ones(4)), NOWHERE, z)
    own = np.repeat(np.arange(COLUMNS), RAMPS)
    columns = np.arange(COLUMNS, z.shape[1])
    ramped = Block("piecewise", columns, z[:, COLUMNS:], own, scales(np.array(strengths)), NOWHERE, z)
    return features, plain, ramped, z


def scales(values: np.ndarray) -> Relevance:
    return Relevance(values, 0.1, 1.0, 2)


def test_columns_as_they_are() -> None:
    _, plain, _, z = blocks([1.0] * 4)
    reader = plain_reader(plain)
    assert (reader.features, reader.size) == ("standard", PLAIN)
    np.testing.assert_array_equal(reader.x, z[:, reader.columns])


def test_the_columns_that_matter_most_have_ramps() -> None:
    features, plain, ramped, z = blocks([0.1, 3.0, 0.2, 2.0])
    reader = ramp_reader(features, plain, ramped)
    assert reader is not None
    # 190 rows allow 19 inputs: three times 5 ramps and one column.
    assert reader.columns.tolist() == [0, *range(9, 24)]
    np.testing.assert_array_equal(reader.x, z[:, reader.columns])
    assert (reader.features, reader.size) == ("piecewise", RAMPED)
    assert (reader.scale == 1).all()


def test_no_ramps_where_there_is_no_room(monkeypatch) -> None:
    features, plain, ramped, _ = blocks([1.0] * 4)
    monkeypatch.setattr(readers, "MOST_INPUTS", COLUMNS + RAMPS - 2)
    assert ramp_reader(features, plain, ramped) is None
    monkeypatch.setattr(readers, "MOST_INPUTS", COLUMNS + RAMPS - 1)
    assert ramp_reader(features, plain, ramped) is not None
