"""What the card of a fitted model knows: the error of each order, and held-out rows with their 90 % band.

Run: python docs/figures/cli.py
"""

import tempfile
from pathlib import Path

import matplotlib as mpl
from typer.testing import CliRunner

from polyladder import load
from polyladder.cli.demo import friedman
from polyladder.cli.main import commands


def main() -> None:
    """Fit Friedman's table from the command line and draw its card."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "cli"
    from matplotlib import pyplot as plt

    with tempfile.TemporaryDirectory() as name:
        table, model = Path(name) / "friedman.csv", Path(name) / "friedman.ladder"
        table.write_bytes(friedman())
        words = ["fit", str(table), "--target", "y", "--output", str(model), "--time-budget", "1000"]
        result = CliRunner().invoke(commands, words)
        assert result.exit_code == 0, result.exception
        card = load(model).card_
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    orders, errors = zip(*card["order_path"], strict=True)
    left.plot(orders, errors, "o-", color="#2a6f97")
    left.set(xlabel="order", ylabel="RMSE, 3-fold cross-validation", title="The order path", xticks=orders)
    half = card["residual_quantiles"]["90"]
    observed, predicted = card["held_out"]["observed"], card["held_out"]["predicted"]
    ends = [min(predicted), max(predicted)]
    right.fill_between(ends, [e - half for e in ends], [e + half for e in ends], color="#2a6f97", alpha=0.15, lw=0)
    right.plot(ends, ends, color="#2a6f97", lw=1)
    right.plot(predicted, observed, ".", color="#222222", ms=4)
    right.set(xlabel="predicted", ylabel="observed", title=f"{len(observed)} held-out rows, 90 % within {half:.2f}")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
