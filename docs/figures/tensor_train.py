"""Numbers needed to hold one polynomial: as a ladder, a tensor train, its monomials, the full tensor."""

import math
from pathlib import Path

import matplotlib.pyplot as plt

from polyladder import LPNN, merge, tensor_train

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "tensor_train"

INPUTS, WIDTH = 20, 10
orders = range(2, 11)
trains = [tensor_train(merge(LPNN(INPUTS, (WIDTH,) * (p - 1), 1))) for p in orders]
curves = {
    "full tensor, $(d + 1)^p$": [(INPUTS + 1) ** p for p in orders],
    "monomials, $C(d + p, p)$": [math.comb(INPUTS + p, p) for p in orders],
    "tensor train": [train.n_parameters for train in trains],
    "ladder": [train.n_ladder_weights for train in trains],
}

figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (label, counts), color in zip(curves.items(), ["#999999", "#d1495b", "#edae49", "#00798c"], strict=True):
    axes.semilogy(orders, counts, "o-", color=color, markersize=4)
    axes.annotate(label, (orders[-1], counts[-1]), xytext=(8, 0), textcoords="offset points", color=color, va="center")
axes.set_xlabel("order p")
axes.set_ylabel("numbers held")
axes.set_xlim(1.8, 13.4)
axes.set_xticks(list(orders))
axes.set_title(f"{INPUTS} inputs, width {WIDTH}, one output", loc="left", fontsize=10)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
