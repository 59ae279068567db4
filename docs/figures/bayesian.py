"""Left: a posterior in one dimension, noise and weights apart. Right: rows chosen by uncertainty, or by chance."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from polyladder.estimators.bayesian import BayesianLPNNRegressor

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "bayesian"

torch.set_num_threads(1)
START, STEP, ROUNDS, RUNS = 20, 10, 9, 10
BLUE, RED, GRAY = "#00798c", "#d1495b", "#555555"


def curve(x: np.ndarray) -> np.ndarray:
    return np.sin(3 * x) + 0.5 * x


def draw_posterior(axis: plt.Axes) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-2, -0.6, 45), rng.uniform(0.5, 2, 45)])
    y = curve(x) + (0.05 + 0.12 * (x + 2)) * rng.standard_normal(len(x))
    model = BayesianLPNNRegressor(order=7, width=6, random_state=0, draws=100).fit(x[:, None], y)
    grid = np.linspace(-2, 2, 300)[:, None]
    low, high = model.predict_interval(grid, 0.9)
    parts = model.predict_uncertainty(grid)
    center = model.predict(grid)
    axis.fill_between(grid[:, 0], low, high, color=BLUE, alpha=0.18, linewidth=0, label="90 % of new rows")
    sure = 1.645 * parts.weights
    axis.fill_between(
        grid[:, 0], center - sure, center + sure, color=BLUE, alpha=0.4, linewidth=0, label="weights alone"
    )
    axis.plot(grid[:, 0], center, color=BLUE, linewidth=1.4, label="median")
    axis.plot(grid[:, 0], curve(grid[:, 0]), color=GRAY, linewidth=1, linestyle="--", label="truth")
    axis.plot(x, y, ".", color=RED, markersize=4)
    axis.set(ylim=(-3, 3.2), xlabel="x")
    axis.set_title("noise that grows, and a gap", loc="left", fontsize=10)
    axis.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)


def friedman(x: np.ndarray) -> np.ndarray:
    return 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def learn(active: bool, seed: int) -> list[float]:
    """Test RMSE after each round; a round adds the rows of the pool that the weights disagree about most."""
    rng = np.random.default_rng(seed)
    pool, test = rng.uniform(0, 1, (400, 5)), rng.uniform(0, 1, (500, 5))
    target = friedman(pool) + 0.3 * rng.standard_normal(len(pool))
    model = BayesianLPNNRegressor(
        order=4,
        width=4,
        noise="gaussian",
        heteroscedastic=False,
        chains=2,
        warmup=30,
        draws=30,
        random_state=seed,
    )
    chosen = list(range(START))
    errors = []
    for _ in range(ROUNDS):
        model.fit(pool[chosen], target[chosen])
        errors.append(float(np.sqrt(np.mean((model.predict(test) - friedman(test)) ** 2))))
        rest = np.setdiff1d(np.arange(len(pool)), chosen)
        score = model.predict_uncertainty(pool[rest]).weights if active else rng.uniform(size=len(rest))
        chosen += rest[np.argsort(-score)[:STEP]].tolist()
    return errors


def main() -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9.8, 3.6), layout="constrained")
    draw_posterior(axes[0])
    counts = START + STEP * np.arange(ROUNDS)
    for active, shade, name in ((False, GRAY, "at random"), (True, BLUE, "where the weights disagree")):
        errors = np.array([learn(active, seed) for seed in range(RUNS)])
        low, middle, high = np.quantile(errors, [0.25, 0.5, 0.75], axis=0)
        axes[1].fill_between(counts, low, high, color=shade, alpha=0.2, linewidth=0)
        axes[1].plot(counts, middle, "o-", color=shade, markersize=3, linewidth=1.4, label=name)
        print(name, dict(zip(counts.tolist(), middle.round(3).tolist(), strict=True)))
    axes[1].set(xlabel="rows with a known target", yscale="log")
    axes[1].set_yticks([0.3, 0.5, 1, 2, 3], labels=["0.3", "0.5", "1", "2", "3"])
    axes[1].set_yticks([], minor=True)
    axes[1].set_title(f"test RMSE, median and quartiles of {RUNS} runs", loc="left", fontsize=10)
    axes[1].legend(frameon=False)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
