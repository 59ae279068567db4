"""A trained ladder along one line: its exact extrema and crossings; and what its low-order coefficients alone give."""

from pathlib import Path

import matplotlib.pyplot as plt
import torch

from polyladder import LPNN, line_polynomial, merge

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "line"

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

point, direction = torch.tensor([[0.1, -0.2], [0.9, 0.55]], dtype=torch.float64)
line = line_polynomial(p, point, direction)
t = torch.linspace(-1, 1, 401, dtype=torch.float64)
f = line(t[:, None])[:, 0]
(low_t, low), (high_t, high) = line.minimize(-1, 1), line.maximize(-1, 1)
level = 0.25
crossings = line.roots(level)[0]
crossings = crossings[crossings.abs() <= 1]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.2), layout="constrained", sharey=True)
left.plot(t, f, color="#00798c")
left.axhline(level, color="#999999", linewidth=0.8, linestyle="--")
left.plot(low_t, low, "v", color="#d1495b", label=f"minimum {low.item():.2f}")
left.plot(high_t, high, "^", color="#d1495b", label=f"maximum {high.item():.2f}")
left.plot(crossings, torch.full_like(crossings, level), "o", color="#edae49", label=f"equal to {level}")
left.set_title("order 5, trained on 400 rows", loc="left", fontsize=10)
left.set_xlabel("$t$")
left.set_ylabel("$f(x_0 + t\\,g)$")
left.legend(frameon=False, loc="upper left")

right.plot(t, f, color="#00798c", label="all degrees")
for degree, shade in ((1, "#bbbbbb"), (2, "#888888"), (3, "#444444")):
    part = line_polynomial(p, point, direction, max_degree=degree)(t[:, None])[:, 0]
    right.plot(t, part, color=shade, linewidth=1, label=f"max_degree={degree}")
right.set_ylim(f.min().item() - 0.3, f.max().item() + 0.9)
right.set_title("low-order coefficients alone", loc="left", fontsize=10)
right.set_xlabel("$t$")
right.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
for axes in (left, right):
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
