"""Files read in chunks, again in every pass."""

from __future__ import annotations

import polars as pl
import pytest

from polyladder.tables.columns import ColumnKind
from polyladder.tables.file_parts import FileParts, sampled_file, table_files


def test_every_pass_gives_the_same_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a,t\n1,x\n2,y\n3,\n4,z\n")
    parts = FileParts(
        [tmp_path / "t.csv"],
        (ColumnKind("a", "number"),),
        ColumnKind("t", "category"),
        pl.Series(["x", "y"]).to_numpy(),
        lambda rows: None,
    )
    for _ in range(2):
        ((X, y),) = list(parts)
        assert X["a"].to_list() == [1.0, 2.0]
        assert y.tolist() == ["x", "y"]


def test_folders_without_tables_are_refused(tmp_path):
    with pytest.raises(ValueError, match="hold Parquet files"):
        table_files(tmp_path)


def test_an_empty_table_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="must hold rows"):
        sampled_file([tmp_path / "t.csv"], 5, 0, lambda rows: None)
