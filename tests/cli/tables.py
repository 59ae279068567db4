"""Small tables for the tests of the command line, and running it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from typer.testing import CliRunner, Result

from polyladder.cli.main import commands


@pytest.fixture
def small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `fit` compare with next to nothing: for tests of everything around the models."""
    dummies = {"regression": DummyRegressor(), "classification": DummyClassifier()}
    monkeypatch.setattr("polyladder.automatic.fit_table.baselines", lambda inputs, task: {"dummy": dummies[task]})


def small_table(rows: int = 40) -> dict[str, list[str]]:
    """Two columns and a target that follows them, as text."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, rows)).round(3)
    y = (3 * a + b**2).round(3)
    return {"a": [*map(str, a)], "b": [*map(str, b)], "y": [*map(str, y)]}


def as_text(table: dict[str, list[str]], separator: str = ",") -> str:
    rows = [list(table), *zip(*table.values(), strict=True)]
    return "".join(separator.join(row) + "\n" for row in rows)


def write(path: Path, table: dict[str, list[str]], separator: str = ",") -> Path:
    path.write_text(as_text(table, separator), encoding="utf-8")
    return path


def run(*arguments: object, code: int = 0, **options: object) -> Result:
    """Run a command; an error that the real command line would say on stderr is the result's exception."""
    result = CliRunner().invoke(commands, [str(a) for a in arguments], **options)
    if code == 0 and result.exception:
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def sentence(*arguments: object) -> str:
    """The sentence that a command ends with instead of a result."""
    result = run(*arguments, code=1)
    assert isinstance(result.exception, ValueError | OSError), result.exception
    said = str(result.exception)
    assert "\n" not in said
    assert said.endswith((".", "?"))
    return said


def shop(rows: int = 120) -> dict[str, list[str]]:
    """A table with money, dates, yes and no, codes and an id."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=rows)
    yes = rng.random(rows) < 0.4
    day = rng.integers(0, 700, rows)
    dates = (np.datetime64("2021-01-01") + day).astype(str)
    return {
        "customer_id": [str(90_000 + 7 * int(i)) for i in rng.permutation(rows)],
        "fee": [f"${1000 + 900 * v:,.2f}" for v in rng.random(rows)],
        "sold": [f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in dates],
        "garden": ["Yes" if v else "no" for v in yes],
        "zip": [f"{int(v):05}" for v in rng.choice([123, 2139, 94110], rows)],
        "a": [f"{v:.4f}" for v in a],
        "shop": [f"s{i % 9}" for i in range(rows)],
        "y": [f"{2 * u + v + 0.001 * t:.4f}" for u, v, t in zip(a, yes, day, strict=True)],
        "kind": ["high" if u + v > 0.4 else "low" for u, v in zip(a, yes, strict=True)],
    }


def write_quoted(path: Path, columns: dict[str, list[str]]) -> Path:
    pl.DataFrame(columns).write_csv(path)
    return path
