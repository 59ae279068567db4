"""The weights of a third-order factorization machine as a ladder."""

from pathlib import Path

import matplotlib.pyplot as plt
import torch

from polyladder import from_factorization_machine

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "conversions"

D, RANK, RANK3 = 6, 3, 2
g = torch.Generator().manual_seed(0)
w, factors, factors3 = (0.7 * torch.randn(s, generator=g) for s in [(D,), (RANK, D), (RANK3, D)])
p = from_factorization_machine(0.0, w, factors, factors3)
first = [(r"$(s_f \cdot x)^2$", RANK), (r"$x_i^2$", D), (r"$w \cdot x$", 1), (r"$(t_f \cdot x)^2$", RANK3)]
second = [("order 2", 1), (r"$p_1^3 {-} 3 p_1 p_2$", RANK3), (r"$x_i^3$", D)]
panels = [
    ("$W^1$", p.W[0], first),
    ("$[V^1\\ c^1]$", torch.cat([p.V[0], p.c[0][:, None]], 1), None),
    ("$W^2$", p.W[1], second),
    ("$[V^2\\ c^2]$", torch.cat([p.V[1], p.c[1][:, None]], 1), None),
    ("readout", p.readout, [("$f(x)$", 1)]),
]

# One scale for all: rows of W and V side by side belong to one unit.
CELL, TOP = 0.2, 0.3
height = TOP + CELL * p.hidden[0] + 0.1
spaces = [1.0 if groups else 0.15 for _, _, groups in panels]
width = sum(spaces) + CELL * sum(matrix.shape[1] for _, matrix, _ in panels) + 0.1
figure = plt.figure(figsize=(width, height))
left = 0.0
for (title, matrix, groups), space in zip(panels, spaces, strict=True):
    rows, columns = matrix.shape
    left += space
    box = (left / width, 1 - (TOP + CELL * rows) / height, CELL * columns / width, CELL * rows / height)
    left += CELL * columns
    ax = figure.add_axes(box)
    ax.imshow(matrix, cmap="RdBu", vmin=-1.5, vmax=1.5)
    ax.set_title(title, fontsize=10)
    ax.set_xticks([])
    ax.set_yticks([])
    start = -0.5
    for name, size in groups or []:
        ax.text(-1.0, start + size / 2, name, ha="right", va="center", fontsize=9)
        start += size
        if start < rows - 1:
            ax.axhline(start, color="#888888", linewidth=0.6)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
