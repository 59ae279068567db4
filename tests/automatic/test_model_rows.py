"""Rows of files as a model wants them."""

import polars as pl
import pytest

from polyladder.automatic.fit_table import fit_table, frame_file
from polyladder.automatic.model_rows import file_columns, model_columns, model_rows
from tests.cli.tables import shop, small_models

pytestmark = pytest.mark.usefixtures(small_models.__name__)


def test_cells_are_read_as_they_were_in_training_and_in_other_spellings() -> None:
    model = fit_table(pl.DataFrame(shop()), "y", seconds=0, drop=["kind"], compare=False)
    assert [kind.kind for kind in model_columns(model)] == [
        "number",
        "date",
        "boolean",
        "category",
        "number",
        "category",
    ]
    new = (
        pl.DataFrame(shop())
        .head(4)
        .with_columns(
            fee=pl.Series(["$1,500.00", "1500", "1,500", "$1500"]), garden=pl.Series(["y", "FALSE", "1", "Yes"])
        )
    )
    file = frame_file(new)
    rows = model_rows(new, file_columns(file, model), file, model)
    assert rows["fee"].to_list() == [1500.0] * 4
    assert rows["garden"].to_list() == ["Yes", "no", "Yes", "Yes"]
    assert rows["sold"].dtype == pl.Float64
