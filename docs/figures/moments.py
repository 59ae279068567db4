"""Sampled outputs against the Gaussian with their exact moments. Run: python docs/figures/moments.py"""

from pathlib import Path

import matplotlib as mpl
import torch

from polyladder import LPNN, GaussianWeights, merge, output_moments

VARIANCES = (1e-4, 1e-3, 1e-2, 1e-1)
SAMPLES, BINS = 10_000, 60


def kolmogorov_smirnov(y: torch.Tensor, mean: float, sd: float) -> float:
    """Largest distance between the distribution of the samples and that of the Gaussian."""
    gaussian = torch.special.ndtr((y.sort().values - mean) / sd)
    steps = torch.arange(len(y) + 1, dtype=y.dtype) / len(y)
    return float(torch.maximum(steps[1:] - gaussian, gaussian - steps[:-1]).max())


def main() -> None:
    """Draw four histograms, from nearly fixed to wild weights, each with its Gaussian."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "moments"
    from matplotlib import pyplot as plt

    p = merge(LPNN(8, (10,) * 5, 1, seed=2, dtype=torch.float64))
    x = torch.randn(1, 8, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    figure, axes = plt.subplots(1, len(VARIANCES), figsize=(11, 2.9), sharey=True, layout="constrained")
    for axis, variance in zip(axes, VARIANCES, strict=True):
        weights = GaussianWeights(p, variance)
        moments = output_moments(weights, x)
        mean, sd = float(moments.mean), float(moments.standard_deviation)
        y = weights.sample(SAMPLES, seed=1)(x).flatten()
        z = torch.linspace(-4, 4, 200)
        # Weighted by hand: `density=True` would leave the samples beyond four standard deviations out of the total.
        share = torch.full_like(y, BINS / 8 / SAMPLES)
        axis.hist(
            (y - mean) / sd,
            BINS,
            range=(-4, 4),
            weights=share,
            histtype="stepfilled",
            color="#9db8d2",
            label="sampled weights",
        )
        axis.plot(z, torch.exp(-z.square() / 2) / (2 * torch.pi) ** 0.5, color="#b3402a", label="exact moments")
        distance = kolmogorov_smirnov(y, mean, sd)
        skewness = float(((y - y.mean()) / y.std()).pow(3).mean())
        axis.set_title(f"variance {variance:g}: sd {sd:.3g}\nKS {distance:.3f}, skewness {skewness:+.2f}", fontsize=10)
        axis.set_xlabel("(output - mean) / sd")
        axis.spines[["top", "right"]].set_visible(False)
        print(f"variance {variance:g}: mean {mean:.3f}, sd {sd:.4f}, KS {distance:.4f}, skewness {skewness:.2f}")
    axes[0].set_ylabel("density")
    axes[0].legend(frameon=False, fontsize=8, loc="upper left")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
