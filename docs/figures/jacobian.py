"""The gradient field of a trained ladder; and what finite differences lose beside the closed forms."""

from pathlib import Path

import matplotlib.pyplot as plt
import torch

from polyladder import LPNN, hessian_vector_product, jacobian, line_polynomial, merge

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "jacobian"

torch.set_num_threads(1)
g = torch.Generator().manual_seed(0)
x = torch.rand(400, 2, generator=g, dtype=torch.float64) * 2 - 1
y = torch.sin(4 * x[:, :1]) * torch.cos(2 * x[:, 1:]) + x[:, 1:] ** 2
net = LPNN(2, (12, 12, 12, 12), 1, seed=0, dtype=torch.float64)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(1000):
    optimizer.zero_grad()
    (net(x) - y).square().mean().backward()
    optimizer.step()
p = merge(net)


def mesh(n: int, edge: float) -> torch.Tensor:
    """Rows on a square grid. Shape (n * n, 2)."""
    axis = torch.linspace(-edge, edge, n, dtype=torch.float64)
    return torch.cartesian_prod(axis, axis)


figure, (field, loss) = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained", width_ratios=[1, 1.25])
fine, coarse = mesh(81, 1.0), mesh(12, 0.92)
a, b, z = fine[:, 0].reshape(81, 81), fine[:, 1].reshape(81, 81), p(fine).reshape(81, 81)
field.contourf(a, b, z, levels=14, cmap="Blues", alpha=0.8)
gradient = jacobian(p, coarse)[:, 0]
field.quiver(*coarse.mT, *gradient.mT, color="#d1495b", width=0.005)
field.set_aspect("equal")
field.set_xlabel("$x_1$")
field.set_ylabel("$x_2$")
field.set_title("jacobian of an order-5 ladder", loc="left", fontsize=10)

# The derivatives along v are also coefficients of the line through x, from another recursion: the judge of both sides.
rows, v = x[:50], torch.tensor([0.6, 0.8], dtype=torch.float64)
coefficients = line_polynomial(p, rows, v, max_degree=2).coefficients
first, second = coefficients[..., 1], 2 * coefficients[..., 2]


def error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The median relative error over the rows."""
    return ((found - expected) / expected).abs().median().item()


steps = torch.logspace(-9, -0.5, 35, dtype=torch.float64).tolist()
slopes = [error((p(rows + h * v) - p(rows - h * v)) / (2 * h), first) for h in steps]
bends = [error((p(rows + h * v) - 2 * p(rows) + p(rows - h * v)) / h**2, second) for h in steps]
loss.loglog(steps, slopes, color="#edae49", label="central differences, first derivative")
loss.loglog(steps, bends, color="#999999", label="central differences, second derivative")
loss.axhline(error(jacobian(p, rows) @ v, first), color="#00798c", label="jacobian")
loss.axhline(error(hessian_vector_product(p, rows, v) @ v, second), color="#d1495b", label="hessian_vector_product")
loss.set_xlabel("step")
loss.set_ylabel("relative error, median of 50 rows")
loss.set_ylim(1e-17, 1e6)
loss.legend(frameon=False, loc="upper center", fontsize=8)
loss.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
