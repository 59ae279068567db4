"""Is the output under a real posterior Gaussian? Run: python docs/figures/variational.py (POLYLADDER_DATA: the data)"""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import torch

from polyladder import GaussianWeights, fit_alternating, fit_variational, output_moments, random_start
from polyladder.fitted.features import Features
from polyladder.training.bayes.variational import VariationalFit
from polyladder_lab import load_dataset

SAMPLES, BINS = 10_000, 60
SETS = {"concrete": (10, 5), "boston-housing": (8, 3), "energy": (8, 3), "yacht": (8, 3)}
"""Width and number of layers."""


def posterior_of_split(
    data: Any, split: int, width: int, layers: int
) -> tuple[VariationalFit, torch.Tensor, tuple[float, float]]:
    """The fit on the training rows of a published split; the test rows; mean and scale of the target."""
    train, test = data.splits[split]
    features = Features(kind="quantile" if data.name == "concrete" else "standard").fit(data.features[train])
    x, test_x = (torch.tensor(features.transform(data.features[rows])).double() for rows in (train, test))
    y = torch.tensor(data.target[train]).double()
    mean, sd = float(y.mean()), float(y.std())
    y = (y - mean) / sd
    start = fit_alternating(random_start(x.shape[1], (width,) * layers, 1, [0], 1), x, y, sweeps=40)
    return fit_variational(start.polynomial, x, y, sweeps=60), test_x, (mean, sd)


def kolmogorov_smirnov(z: torch.Tensor) -> torch.Tensor:
    """Largest distance between the distribution of samples (samples, rows) and the standard Gaussian. Shape (rows,)."""
    gaussian = torch.special.ndtr(z.sort(0).values)
    steps = torch.arange(len(z) + 1, dtype=z.dtype).unsqueeze(1) / len(z)
    return torch.maximum(steps[1:] - gaussian, gaussian - steps[:-1]).amax(0)


def report(title: str, z: torch.Tensor) -> None:
    """How far the samples are from the Gaussian, over the test rows."""
    distance = kolmogorov_smirnov(z)
    skewness, kurtosis = z.pow(3).mean(0).abs(), z.pow(4).mean(0) - 3
    print(
        f"{title:40s} KS median {distance.median():.4f}, largest {distance.max():.4f}, "
        f"below .0136: {(distance < 0.0136).double().mean():.2f}; skewness {skewness.median():.3f}, "
        f"{skewness.max():.2f}; excess kurtosis {kurtosis.median():.3f}, {kurtosis.max():.2f}"
    )


def standardized(batch: GaussianWeights, x: torch.Tensor) -> torch.Tensor:
    """Sampled outputs less their exact mean, over their exact standard deviation. Shape (samples, rows)."""
    weights = batch[0]
    moments = output_moments(weights, x)
    parts = [weights.sample(SAMPLES // 10, seed=i)(x) for i in range(10)]
    return ((torch.cat(parts) - moments.mean) / moments.standard_deviation).squeeze(-1)


def main() -> None:
    """The bound, and the outputs at the rows of median and of largest distance."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "variational"
    from matplotlib import pyplot as plt

    torch.set_num_threads(1)
    found = {}
    for name, (width, layers) in SETS.items():
        fit, x, _ = posterior_of_split(load_dataset(name), 0, width, layers)
        z = standardized(fit.weights, x)
        distance = kolmogorov_smirnov(z)
        found[name] = (fit, z, distance)
        report(f"{name}, {layers} layers of {width}", z)
        for variance in (0.05, 0.1):
            report(
                f"  variance {variance} for every weight", standardized(GaussianWeights(fit.weights.mean, variance), x)
            )
    fit, z, distance = found["concrete"]
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    bound = fit.bound[0]
    axes[0].plot(range(1, len(bound) + 1), bound, color="#33658a")
    axes[0].set(xlabel="sweep", ylabel="bound of the log-evidence (nats)", title="concrete, five layers of ten units")
    order = distance.argsort()
    t = torch.linspace(-4, 4, 200)
    for axis, row, which in zip(axes[1:], (order[len(order) // 2], order[-1]), ("median", "largest"), strict=True):
        share = [BINS / 8 / SAMPLES] * SAMPLES
        axis.hist(z[:, row], BINS, range=(-4, 4), weights=share, color="#9db8d2", label="weights from the posterior")
        axis.plot(t, torch.exp(-t.square() / 2) / (2 * torch.pi) ** 0.5, color="#b3402a", label="exact moments")
        axis.set(xlabel="(output - mean) / sd", ylabel="density", ylim=(0, 0.56))
        axis.set_title(f"test row of {which} KS distance: {distance[row]:.3f}", fontsize=10)
    axes[1].legend(frameon=False, fontsize=8, loc="upper left")
    axes[0].title.set_fontsize(10)
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
