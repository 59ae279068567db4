"""What is reported is what is stored: the error that a fit states is that of its file, in Python and by the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from polyladder import fit_table, load
from tests.cli.tables import run

RNG = np.random.default_rng(0)


def amounts(n: int) -> pd.DataFrame:
    """A target that is the sum of two columns."""
    x = RNG.gamma(2.0, 50.0, (n, 2)).round(2)
    return pd.DataFrame({"rent": x[:, 0], "costs": x[:, 1], "total": x.sum(1)})


def shop(n: int) -> pd.DataFrame:
    """Numbers, a category and a target with noise."""
    kind, size = RNG.choice(["book", "game"], n), RNG.normal(size=n)
    return pd.DataFrame(
        {"kind": kind, "size": size, "total": np.where(kind == "book", size, -size) + RNG.normal(size=n)}
    )


def classes(n: int) -> pd.DataFrame:
    """Two classes."""
    x = RNG.normal(size=(n, 2))
    return pd.DataFrame(x, columns=["a", "b"]).assign(total=np.where(x[:, 0] * x[:, 1] > 0, "yes", "no"))


def noise(n: int) -> pd.DataFrame:
    """Nothing to learn."""
    return pd.DataFrame(RNG.normal(size=(n, 3)), columns=["a", "b", "total"])


TABLES = {
    "amounts": amounts(300),
    "shop": shop(200),
    "classes": classes(150),
    "noise": noise(80),
}


def error(model: Any, table: pd.DataFrame) -> float:
    """Root mean square, or log loss, of a stored model."""
    rows, y = table.drop(columns="total"), table["total"].to_numpy()
    if y.dtype.kind == "f":
        return float(np.sqrt(np.mean((model.predict(rows) - y) ** 2)))
    return float(log_loss(y, model.predict_proba(rows), labels=model.classes_))


def stated(card: dict[str, Any]) -> float:
    """The error of the ladder in a card."""
    first = card["scores"][0]
    return float(first["rmse"] if "rmse" in first else first["log_loss"])


def spread(table: pd.DataFrame) -> float:
    return float(table["total"].std()) if table["total"].dtype.kind == "f" else 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_file_has_the_error_that_its_card_states(name: str, tmp_path: Path) -> None:
    """Most rows were fitted, so that they are predicted as well as the held-out ones, or better."""
    table = TABLES[name]
    model = fit_table(table, "total", compare=False)
    model.save(tmp_path / "m.ladder")
    stored = load(tmp_path / "m.ladder")
    assert stored.card_["scores"] == model.card_["scores"]
    assert error(stored, table) == error(model, table)
    assert error(stored, table) <= 1.25 * stated(stored.card_) + 1e-9 * spread(table)
    held = stored.card_["held_out"]
    if "probability" not in held:
        assert stated(stored.card_) == pytest.approx(
            np.sqrt(np.mean(np.subtract(held["predicted"], held["observed"]) ** 2))
        )


@pytest.mark.slow
def test_the_command_stores_what_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a line in 4,000 rows, each candidate's share is small."""
    monkeypatch.chdir(tmp_path)
    table = amounts(4000)
    table.to_csv("t.csv", index=False)
    done = run("fit", "t.csv", "--target", "total")
    assert "constant model" not in done.output
    stored = load("t.ladder")
    (printed,) = [line.split() for line in done.output.splitlines() if line.strip().startswith("ladder")]
    score = stored.card_["scores"][0]
    assert printed[1:3] == [f"{score['rmse']:.4g}", f"{score['r2']:.4g}"]
    assert error(stored, table) <= 1.25 * score["rmse"] + 1e-9 * spread(table)
    run("predict", "t.ladder", "t.csv", "--output", "p.csv")
    np.testing.assert_allclose(pd.read_csv("p.csv")["prediction"], table["total"], rtol=1e-6)
