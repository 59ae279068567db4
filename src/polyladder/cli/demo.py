"""`polyladder demo`: what the library does, in a minute and without any file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from polyladder.polynomial.ladder import LadderPolynomial


def demo(
    output: Annotated[Path, typer.Option(help="Folder for the saved model.")] = Path("demo"),
) -> None:
    """Fit two tables, compare with two rivals, read one fitted polynomial as a formula and save it.

    Example: polyladder demo --output /tmp/demo
    """
    from rich.console import Console
    from sklearn.datasets import load_diabetes, make_friedman1

    console = Console()
    diabetes = load_diabetes(scaled=False)
    friedman = make_friedman1(1000, noise=1.0, random_state=0)
    compare(console, "diabetes (442 x 10, shipped with scikit-learn)", diabetes.data, diabetes.target)
    model, X = compare(console, "Friedman #1 (1,000 x 10, noise 1, so no RMSE below 1)", *friedman)

    polynomial = model.polynomial_in_original_units()
    console.print(f"\nThe mean of {len(model.members_)} fitted ladders is one exact polynomial of the table's columns:")
    console.print(f"  {polynomial}")
    console.print("Along column x2, the others at their means (the truth is 20 (x2 - 0.5)^2 plus a constant):")
    show_curve(console, polynomial, X, column=2)
    output.mkdir(parents=True, exist_ok=True)
    path = output / "friedman.ladder"
    polynomial.save(path, feature_names=[f"x{i}" for i in range(X.shape[1])])
    console.print(f"\nSaved to {path} ({path.stat().st_size / 1024:.0f} kB, safetensors); polyladder.load reads it.")


def compare(console: Console, title: str, X: NDArray[Any], y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Print test RMSE and seconds of a ladder and its rivals; return the fitted ladder and its training rows."""
    from rich.table import Table
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics import root_mean_squared_error
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    from threadpoolctl import threadpool_limits

    from polyladder import LPNNRegressor

    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    cubic = make_pipeline(StandardScaler(), PolynomialFeatures(3), StandardScaler(), RidgeCV([0.1, 1, 10, 100, 1000]))
    ladder = LPNNRegressor(random_state=0)
    rivals = {
        "ladder (defaults)": ladder,
        "ridge on cubic features": cubic,
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=0),
    }
    console.print(title)
    table = Table("model", "test RMSE", "seconds")
    for name, model in rivals.items():
        start = time.perf_counter()
        # One thread each: threads of boosting that wait for each other on a busy machine take minutes.
        with threadpool_limits(1):
            model.fit(train, y_train)
        seconds = time.perf_counter() - start
        table.add_row(name, f"{root_mean_squared_error(y_test, model.predict(test)):.3f}", f"{seconds:.2f}")
    console.print(table)
    return ladder, train


def show_curve(console: Console, polynomial: LadderPolynomial, X: NDArray[Any], column: int) -> None:
    """Print the exact polynomial of one column, its minimum and maximum on the data's range, and its shape."""
    import torch

    from polyladder import line_polynomial

    low, high = float(X[:, column].min()), float(X[:, column].max())
    point = torch.from_numpy(X.mean(0))
    point[column] = 0.0
    direction = torch.zeros_like(point)
    direction[column] = 1.0
    line = line_polynomial(polynomial, point, direction)
    terms = [
        f"{c:+.4g}{'' if j == 0 else ' t' if j == 1 else f' t^{j}'}"
        for j, c in enumerate(line.coefficients[0].tolist())
    ]
    console.print(f"  f(t) = {' '.join(terms)}", highlight=False)
    (t_low, least), (t_high, most) = line.minimize(low, high), line.maximize(low, high)
    values = line(torch.linspace(low, high, 60, dtype=torch.float64).unsqueeze(-1))[..., 0]
    heights = ((values - least) / (most - least) * 7).round().clamp(0, 7).int().tolist()
    console.print("  " + "".join("▁▂▃▄▅▆▇█"[h] for h in heights), highlight=False)
    ends = f"minimum {least.item():.2f} at t = {t_low.item():.3f}, maximum {most.item():.2f} at t = {t_high.item():.3f}"
    console.print(f"  exact {ends}", highlight=False)
