"""A polynomial in an empty corner: what it says there, what the guard makes of it, and how far its rows reach.

Run: python docs/figures/estimators.py
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import torch

from polyladder import LPNNRegressor


def main() -> None:
    """Draw predictions along the diagonal and the map of trust."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "estimators"
    from matplotlib import pyplot as plt

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 2))
    X = X[~(X > 0).all(axis=1)][:200]
    y = np.sin(3 * X[:, 0]) + np.cos(3 * X[:, 1]) + 0.1 * rng.normal(size=200)
    wild = LPNNRegressor(order=10, alpha=1e-6, n_estimators=1, random_state=0)
    pure = LPNNRegressor(order=10, alpha=1e-6, n_estimators=1, random_state=0, guard=False).fit(X, y)
    held, usual = wild.fit(X, y), LPNNRegressor(order=6, random_state=0).fit(X, y)

    t = np.linspace(-1, 1, 401)
    diagonal = np.column_stack([t, t])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.7), layout="constrained", width_ratios=(1.45, 1))
    left.axvspan(0, 1, color="#f0f0f0", zorder=0)
    left.text(0.98, 4.65, "no rows here", ha="right", va="top", color="#777777", fontsize=9)
    left.plot(t, np.sin(3 * t) + np.cos(3 * t), color="#999999", linestyle="--", label="the truth")
    left.plot(t, pure.predict(diagonal), color="#d1495b", linewidth=1, label="order 10, ridge 1e-6, no guard")
    left.plot(t, held.predict(diagonal), color="#d1495b", linewidth=2.5, alpha=0.45, label="the same, guarded")
    left.plot(t, usual.predict(diagonal), color="#00798c", label="the defaults")
    at_corner = pure.predict([[1.0, 1.0]])[0]
    left.text(0.98, -4.7, f"to {at_corner:,.0f}", ha="right", color="#d1495b", fontsize=9)
    left.set_ylim(-5, 5)
    left.set_xlabel("$x_1 = x_2$")
    left.set_ylabel("prediction")
    left.legend(frameon=False, fontsize=8, loc="upper left")
    left.spines[["top", "right"]].set_visible(False)

    axis = np.linspace(-1, 1, 161)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    trust = held.trust(grid).reshape(len(axis), -1)
    levels = np.linspace(-4, 0, 9)
    contours = right.contourf(axis, axis, np.log10(trust).clip(-4, 0), levels, cmap="RdYlGn", alpha=0.8)
    right.plot(*X.T, ".", color="#333333", markersize=2.5)
    bar = figure.colorbar(contours, ax=right, ticks=range(-4, 1))
    bar.ax.set_yticklabels(["< 0.0001", "0.001", "0.01", "0.1", "1"])
    right.set_aspect("equal")
    right.set_title("trust of the red model, and its rows", loc="left", fontsize=10)
    right.set_xlabel("$x_1$")
    right.set_ylabel("$x_2$")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})

    corner = [[1.0, 1.0]]
    print(f"targets {y.min():.2f} to {y.max():.2f}; the truth at the corner {np.sin(3) + np.cos(3):.2f}")
    print(f"pure {at_corner:.1f}, guarded {held.predict(corner)[0]:.2f}, trust {held.trust(corner)[0]:.1e}")
    print(f"defaults {usual.predict(corner)[0]:.2f}, trust {usual.trust(corner)[0]:.2f}")


if __name__ == "__main__":
    main()
