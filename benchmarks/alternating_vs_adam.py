"""How much sooner do block solves reach the test RMSE at which Adam ends?

Concrete, split 0: Adam with the paper's recipe (50-50-50, batch norm, dropout, 200 epochs of mini-batches of 32); block
solves with the defaults of `LPNNRegressor`, sweep by sweep. Each test error is that of one ladder.
Run: python benchmarks/alternating_vs_adam.py [--splits 5]   (POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from polyladder import LPNN, Adam, fit_alternating, merge, random_start, train
from polyladder.fitted.features import Features
from polyladder_lab import load_dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=200)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    data = load_dataset("concrete")
    ratios = []
    for split in range(arguments.splits):
        rows, test = data.splits[split]
        features = Features().fit(data.features[rows])
        x, x_test = (torch.from_numpy(features.transform(data.features[part])) for part in (rows, test))
        mean, scale = data.target[rows].mean(), data.target[rows].std()
        y = torch.from_numpy((data.target[rows] - mean) / scale).unsqueeze(1)
        y_test = torch.from_numpy((data.target[test] - mean) / scale).unsqueeze(1)

        def rmse(p, x_test=x_test, y_test=y_test, scale=scale) -> float:  # type: ignore[no-untyped-def]
            return float((p(x_test) - y_test).square().mean().sqrt()) * scale

        start = time.perf_counter()
        net = LPNN(x.shape[1], (50, 50, 50), 1, batch_norm=True, dropout=0.05, seed=split)
        train(net, x.float(), y.float(), options=Adam(epochs=arguments.epochs, l2=1e-5), seed=split)
        adam_seconds, adam = time.perf_counter() - start, rmse(merge(net).to(torch.float64))

        # Sweep by sweep, each from where the last one ended; measuring does not count.
        start_ladder = random_start(x.shape[1], (10,) * 5, 1, [split], 1)
        seconds, reached = 0.0, float("inf")
        for sweeps in range(1, 41):
            start = time.perf_counter()
            fit = fit_alternating(start_ladder, x, y, sweeps=sweeps, tolerance=0.0)
            seconds = time.perf_counter() - start
            reached = rmse(fit.polynomial[0])
            if reached <= adam:
                break
        ratios.append(adam_seconds / seconds if reached <= adam else 0.0)
        print(
            f"split {split}: Adam {adam:.2f} after {adam_seconds:.1f} s; block solves {reached:.2f} after {sweeps} "
            f"sweeps, {seconds:.2f} s: {ratios[-1]:.0f} times sooner",
            flush=True,
        )
    print(f"median {np.median(ratios):.0f}, least {min(ratios):.0f}")


if __name__ == "__main__":
    main()
