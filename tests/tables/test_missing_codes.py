"""Numbers that stand for nothing."""

import polars as pl
import pytest

from polyladder.tables.columns import column_kind, convert
from polyladder.tables.missing_codes import code_note, missing_code
from polyladder.tables.understand import understand

WARM = [20.5 + 0.1 * i for i in range(20)]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([*WARM, -999.0], -999.0),
        ([*WARM, None, -99.0, -99.0], -99.0),
        ([*range(0, 50_000, 1000), -9999], -9999.0),
        ([*WARM, -998.0], None),
        ([-1000.0, *range(0, 50_000, 1000), -999], None),
        ([*range(-5000, 5000, 100), -999], None),
        ([*range(0, 2000, 50), -99], None),
        ([-999.0] * 20, None),
        ([1.0, 2.0, -999.0], None),
    ],
)
def test_a_code_stands_apart(values: list[float], code: float | None) -> None:
    assert missing_code(pl.Series(values, dtype=pl.Float64)) == code


def test_large_codes_are_mentioned_alone() -> None:
    said = code_note(pl.Series([*WARM, 9999.0]), "t")
    assert said.startswith("Column 't' holds 9999 in 1 row, far from all others (20.5 to 22.4)")
    assert said.endswith('{ kind = "number", missing = 9999 }.')
    assert code_note(pl.Series([*WARM, 42.0]), "t") == ""
    assert code_note(pl.Series([9990.0 + i for i in range(10)]), "t") == ""


@pytest.mark.parametrize("cells", [[*map(str, WARM), "-999", "-999.0"], [*WARM, -999, -999]])
def test_training_and_prediction_read_them_as_missing(cells: list) -> None:
    (found,) = understand(pl.DataFrame({"t": cells}), "thousands", ["t"], {})
    assert found.values.to_list() == [pytest.approx(v) for v in WARM] + [None, None]
    assert found.note.startswith("Column 't' holds -999 in 2 rows: read as missing.")
    again = column_kind("t", found.kind.json())
    assert convert(pl.Series("t", ["21", "-999", "-9999"]), again, "thousands").to_list() == [21, None, -9999]


def test_a_schema_settles_it() -> None:
    from polyladder.tables.schema import read_schema

    frame = pl.DataFrame({"t": [*WARM, -999.0, 77.0]})
    (kept,) = understand(frame, "thousands", ["t"], read_schema({"t": "number"}))
    assert kept.values.min() == -999
    (other,) = understand(frame, "thousands", ["t"], read_schema({"t": {"kind": "number", "missing": 77}}))
    assert other.values.null_count() == 1
    assert other.values.max() < 77
