"""How much cheaper are exact output moments than 10,000 samples of the weights, and how far off is each?

Mean and variance of one output at 500 rows, five layers of 50 units, every weight random. The sampler draws whole
ladders, evaluates them on all rows as batched matrix products that stay in cache, and runs in float64 and in float32;
the closed form always runs in float64.

Errors are root mean squares over rows: of the mean, in standard deviations of the output; of the variance, relative.
The sampler's are measured against the closed form. The closed form's are measured against the raw second moments of
eq. (15) in 40-digit arithmetic (mpmath), which is slow, so on the first rows only.

Run: python benchmarks/moments_vs_sampling.py [--inputs 8] [--samples 10000]
"""

from __future__ import annotations

import argparse

import mpmath
import numpy as np
import torch
from timing import alternate
from torch import Tensor

from polyladder import LPNN, GaussianWeights, LadderPolynomial, merge, output_moments

HIDDEN = (50, 50, 50, 50, 50)
SAMPLE_CHUNK = 16  # The fastest of 4, 8, 16, 32, 64, 128 in float32 and within 5 % of the fastest in float64.


def sampled_outputs(weights: GaussianWeights, x: Tensor, samples: int) -> Tensor:
    """Outputs of sampled ladders, (samples, n): rows lie last, so that gates of a whole chunk are one product."""
    n, columns = len(x), x.mT.contiguous()
    outputs = torch.empty(samples, n, dtype=x.dtype)
    for start in range(0, samples, SAMPLE_CHUNK):
        size = min(SAMPLE_CHUNK, samples - start)
        ladders = weights.sample(size)
        h = columns
        for l, (W, b, V, c) in enumerate(ladders.layers()):
            g = torch.addmm(c.reshape(-1, 1), V.flatten(0, 1), columns).reshape(size, -1, n)
            if l == 0:
                u = torch.addmm(b.reshape(-1, 1), W.flatten(0, 1), columns).reshape(size, -1, n)
            else:
                u = torch.baddbmm(b.unsqueeze(-1), W, h)
            h = u.mul_(g)
        outputs[start : start + size] = torch.baddbmm(ladders.offset.unsqueeze(-1), ladders.readout, h)[:, 0]
    return outputs


def precise_moments(weights: GaussianWeights, row: Tensor) -> tuple[float, float]:
    """Mean and variance at one row from raw second moments, 40 digits."""

    def numbers(t: Tensor) -> np.ndarray:
        return np.vectorize(mpmath.mpf, otypes=[object])(t.numpy())

    def layers(p: LadderPolynomial) -> list[list[np.ndarray]]:
        return [[numbers(t) for t in layer] for layer in p.layers()]

    def affine_moments(
        h: np.ndarray, S: np.ndarray, W: np.ndarray, b: np.ndarray, var_W: np.ndarray, var_b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and raw second moment of W h + b."""
        Wh = W.dot(h)
        second = W.dot(S).dot(W.T) + np.outer(Wh, b) + np.outer(b, Wh) + np.outer(b, b)
        return Wh + b, second + np.diag(var_W.dot(np.diag(S)) + var_b)

    with mpmath.workdps(40):
        x = numbers(row)
        h, S = x, np.outer(x, x)
        for (W, b, V, c), (vW, vb, vV, vc) in zip(layers(weights.mean), layers(weights.variance), strict=True):
            u, U = affine_moments(h, S, W, b, vW, vb)
            g, G = affine_moments(x, np.outer(x, x), V, c, vV, vc)
            h, S = u * g, U * G
        (top, offset), (var_top, var_offset) = (
            (numbers(p.readout), numbers(p.offset)) for p in (weights.mean, weights.variance)
        )
        y, Y = affine_moments(h, S, top, offset, var_top, var_offset)
        return float(y[0]), float(Y[0, 0] - y[0] ** 2)


def errors(mean: Tensor, variance: Tensor, true_mean: Tensor, true_variance: Tensor) -> tuple[float, float]:
    """Root mean squares over rows: of the mean in standard deviations, of the variance relative."""
    of_mean = ((mean - true_mean).square() / true_variance).mean().sqrt()
    return float(of_mean), float((variance / true_variance - 1).square().mean().sqrt())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=8)
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--variance", type=float, default=1e-3)
    parser.add_argument("--precise-rows", type=int, default=2, help="rows to compute in 40-digit arithmetic")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    p = merge(LPNN(arguments.inputs, HIDDEN, 1, seed=0, dtype=torch.float64))
    x = torch.randn(arguments.rows, arguments.inputs, dtype=torch.float64)
    weights = GaussianWeights(p, arguments.variance)
    single, x_single = GaussianWeights(p.to(torch.float32), arguments.variance), x.to(torch.float32)
    found: dict[str, tuple[Tensor, Tensor]] = {}

    def closed() -> None:
        moments = output_moments(weights, x)
        found["closed form"] = moments.mean[:, 0], moments.variance[:, 0]

    def sampled(name: str, weights: GaussianWeights, x: Tensor) -> None:
        variance, mean = torch.var_mean(sampled_outputs(weights, x, arguments.samples), 0)
        found[name] = mean.double(), variance.double()

    rivals = {
        "sampling, float64": lambda: sampled("sampling, float64", weights, x),
        "sampling, float32": lambda: sampled("sampling, float32", single, x_single),
        "closed form": closed,
    }
    seconds = alternate(rivals, arguments.rounds)
    exact = found["closed form"]
    few = [precise_moments(weights, row) for row in x[: arguments.precise_rows]]
    precise = torch.tensor(few, dtype=torch.float64).mT
    error = {name: errors(*found[name], *exact) for name in rivals}
    error["closed form"] = errors(*(t[: arguments.precise_rows] for t in exact), *precise)
    print(f"{arguments.inputs} inputs, {HIDDEN}, {arguments.rows} rows, {arguments.samples} samples; ", end="")
    print(f"median sd of the output {exact[1].sqrt().median():.3f}, median |mean| {exact[0].abs().median():.3f}")
    print(f"{'':20s} {'seconds':>9s} {'ratio':>7s} {'error of mean':>14s} {'of variance':>12s}")
    for name, value in seconds.items():
        ratio = value / seconds["closed form"]
        print(f"{name:20s} {value:9.4f} {ratio:7.1f} {error[name][0]:14.1e} {error[name][1]:12.1e}")


if __name__ == "__main__":
    main()
