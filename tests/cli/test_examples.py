"""The examples in the help of the commands for tables are run as they stand there."""

import gzip
import inspect
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from skl2onnx import to_onnx
from sklearn.ensemble import GradientBoostingRegressor

from polyladder.cli.columns import columns
from polyladder.cli.distill import distill
from polyladder.cli.explain import explain
from polyladder.cli.fit import fit
from polyladder.cli.predict import predict
from polyladder.cli.report import report
from tests.cli.tables import run, small_models

COMMANDS: tuple[Callable[..., None], ...] = (fit, columns, predict, explain, report, distill)
EXAMPLES = [
    line.strip()
    for command in COMMANDS
    for line in (inspect.getdoc(command) or "").splitlines()
    if re.search(r"polyladder \w+ .", line)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name, and the models that some of them need."""
    place = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    area, garden = rng.uniform(30, 200, 60), rng.choice(["yes", "no"], 60)
    houses = pl.DataFrame({"area": area, "garden": garden, "price": 2000 * area + 9000 * (garden == "yes")})
    houses.write_csv(place / "houses.csv")
    houses.write_parquet(place / "houses.parquet")
    houses.drop("price").write_csv(place / "new.csv")
    boosted = GradientBoostingRegressor(n_estimators=10).fit(area[:, None], houses["price"])
    (place / "boosted.onnx").write_bytes(to_onnx(boosted, area[:1, None].astype(np.float32)).SerializeToString())
    (place / "new.csv.gz").write_bytes(gzip.compress((place / "new.csv").read_bytes()))
    label = np.where(area + rng.normal(0, 30, 60) > 110, 1, 0)
    rows = houses.drop("price").with_columns(label=pl.Series(label))
    (place / "rows.csv.gz").write_bytes(gzip.compress(rows.write_csv().encode()))
    visits = houses.drop("price").with_columns(
        patient=pl.Series([f"p{i % 12}" for i in range(60)]),
        notes=pl.Series([f"note {i}" for i in range(60)]),
        outcome=pl.Series(np.where(label == 1, "well", "ill")),
    )
    visits.write_csv(place / "visits.csv")
    return place


def test_there_are_examples_of_every_command() -> None:
    for command in COMMANDS:
        assert any(f"polyladder {command.__name__} " in line for line in EXAMPLES)


@pytest.mark.slow
@pytest.mark.usefixtures(small_models.__name__)
def test_the_examples_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert len(EXAMPLES) >= 15
    for line in EXAMPLES:
        before, _, command = line.rpartition("| ")
        words, _, output = command.partition(" > ")
        data = None
        if before:
            tool, name = before.split()
            data = Path(name).read_bytes()
            data = gzip.decompress(data) if tool == "zcat" else data
        arguments = shlex.split(words)[1:]
        if "visits.ladder" in line:
            # Patients are among the new visits as well.
            Path("visits.csv").replace("new.csv")
        result = run(*arguments, input=data)
        if output:
            Path(output).write_text(result.stdout)
            assert result.stdout
