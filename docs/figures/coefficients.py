"""The coefficients of a trained ladder beside those of the formula that its data came from."""

from pathlib import Path

import matplotlib.pyplot as plt
import torch

from polyladder import LPNN, coefficients, merge

plt.switch_backend("Agg")
plt.rcParams["svg.hashsalt"] = "coefficients"

torch.set_num_threads(1)
g = torch.Generator().manual_seed(0)
x = 2 * torch.rand(200, 3, generator=g, dtype=torch.float64) - 1
y = 1 - 2 * x[:, :1] * x[:, 1:2] + 3 * x[:, 2:] ** 3 + 0.01 * torch.randn(200, 1, generator=g, dtype=torch.float64)
net = LPNN(3, (6, 6), 1, seed=0, dtype=torch.float64)
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=150, line_search_fn="strong_wolfe")


def loss() -> torch.Tensor:
    """Mean squared error and its gradient."""
    optimizer.zero_grad()
    value = torch.nn.functional.mse_loss(net(x), y)
    value.backward()
    return value


optimizer.step(loss)
found = coefficients(merge(net))


def label(exponents: list[int]) -> str:
    """A monomial as mathematics."""
    powers = [f"x_{i}" + (f"^{e}" if e > 1 else "") for i, e in enumerate(exponents, start=1) if e]
    return f"${' '.join(powers) or 1}$"


true = {(0, 0, 0): 1.0, (1, 1, 0): -2.0, (0, 0, 3): 3.0}
exponents = found.exponents.tolist()
places = range(len(exponents))
figure, axes = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
axes.bar(places, found.values[:, 0].tolist(), color="#00798c", label="trained ladder")
axes.plot(places, [true.get(tuple(e), 0.0) for e in exponents], "o", color="#d1495b", mfc="none", label="the formula")
axes.set_xticks(places, [label(e) for e in exponents], fontsize=9, rotation=55)
axes.set_ylabel("coefficient")
axes.legend(frameon=False, loc="lower right")
axes.set_title("$y = 1 - 2 x_1 x_2 + 3 x_3^3$ + noise: 200 rows, 20 monomials", loc="left", fontsize=10)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
