"""Which tables the command reads in parts, and what it then refuses; the fits are in tests/automatic."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polyladder.cli.fit_parts import in_parts, refuse_in_parts
from tests.cli.tables import run, sentence

RNG = np.random.default_rng(0)


def table(rows: int = 400) -> pl.DataFrame:
    X = RNG.normal(size=(rows, 3))
    return pl.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": X[:, 0] * X[:, 1] + 0.1 * RNG.normal(size=rows)}
    )


def test_a_table_is_read_in_parts_where_memory_is_short(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table().write_parquet(path)
    assert not in_parts(str(path), None)
    assert in_parts(str(path), 1e-5)
    assert in_parts(str(tmp_path), None)  # a folder always is
    assert not in_parts(str(tmp_path / "none.csv"), 1e-5)  # which the reader refuses in words


def test_what_needs_all_rows_is_refused_by_name() -> None:
    refuse_in_parts("t.csv", {"--test": None, "--balance": False})
    with pytest.raises(ValueError, match=r"--test, --balance must be left out for t.csv, which is read in parts"):
        refuse_in_parts("t.csv", {"--test": "u.csv", "--balance": True, "--group": None})


@pytest.mark.slow
def test_the_command_fits_a_folder_and_says_what_it_cannot(tmp_path: Path) -> None:
    folder = tmp_path / "rows"
    folder.mkdir()
    for i in range(2):
        table().write_parquet(folder / f"{i}.parquet")
    model = tmp_path / "m.ladder"
    run("fit", folder, "-t", "y", "-o", model, "--quiet", "--no-compare")
    assert model.is_file()
    assert not list(tmp_path.glob("*.part"))
    assert "--bayesian must be left out" in sentence("fit", folder, "-t", "y", "-o", model, "--bayesian")
