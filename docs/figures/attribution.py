"""Integrated gradients: what is missing of the sum with so many gradients; and the strengths of pairs."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import torch

from polyladder import LPNN, from_factorization_machine, integrated_gradients, interactions, jacobian, merge

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "attribution"

torch.set_num_threads(1)
p = merge(LPNN(8, (20,) * 5, 1, seed=0, dtype=torch.float64))
x = torch.randn(50, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
baseline = torch.zeros(8, dtype=torch.float64)
change = (p(x) - p(baseline[None]))[:, 0]


def missing(contributions: torch.Tensor) -> float:
    """The median part of f(x) - f(baseline) that the contributions leave out, at least the rounding of float64."""
    return max(((contributions.sum(-1)[:, 0] - change) / change).abs().median().item(), 1e-16)


def rule(nodes: np.ndarray, weights: np.ndarray) -> float:
    """What a quadrature rule on [0, 1] misses."""
    gradient = sum(w * jacobian(p, t * x) for t, w in zip(nodes.tolist(), weights.tolist(), strict=True))
    return missing(gradient * x.unsqueeze(-2))


def gauss(n: int) -> float:
    """Gauss-Legendre of n nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return rule((nodes + 1) / 2, weights / 2)


steps = [1, 2, 4, 8, 16, 32, 64, 128, 256]
left = [rule(np.arange(n) / n, np.full(n, 1 / n)) for n in steps]
middle = [rule((np.arange(n) + 0.5) / n, np.full(n, 1 / n)) for n in steps]
few = [1, 2, 3]

figure, (gap, heat) = plt.subplots(1, 2, figsize=(8.6, 3.4), layout="constrained", width_ratios=[1.5, 1])
gap.loglog(steps, left, "o-", color="#999999", markersize=4, label="left sums")
gap.loglog(steps, middle, "o-", color="#edae49", markersize=4, label="midpoints")
gap.loglog(few, [gauss(n) for n in few], "o-", color="#00798c", markersize=4, label="Gauss-Legendre")
gap.loglog([3], [missing(integrated_gradients(p, x, baseline))], "o", color="#d1495b", label="integrated_gradients")
gap.set_xlabel("gradients computed")
gap.set_ylabel("missing part of $f(x) - f(x')$")
gap.set_title("order 6, 50 rows, median", loc="left", fontsize=10)
gap.legend(frameon=False, loc="center right")
gap.spines[["top", "right"]].set_visible(False)

names = ["size", "age", "dose"]
w = torch.tensor([2.0, 0.0, 0.0], dtype=torch.float64)
factors = torch.tensor([[1.0, 1.0, 0.0], [0.0, -4.0, 1.0]], dtype=torch.float64)
data = torch.randn(500, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
pairs = interactions(from_factorization_machine(3.0, w, factors), data, names).pairs[0]
heat.imshow(pairs, cmap="Blues", vmin=0, vmax=5)
for i in range(3):
    for j in range(3):
        heat.text(j, i, f"{pairs[i, j]:.1f}", ha="center", va="center", color="white" if pairs[i, j] > 3 else "black")
heat.set_xticks(range(3), names)
heat.set_yticks(range(3), names)
heat.set_title("3 + 2 size + size·age - 4 age·dose", loc="left", fontsize=10)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
