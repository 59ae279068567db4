"""Test error of `LPNNClassifier` on letter, 30 % of the rows held out, with its defaults.

The paper reports 0.0729 for its ladders and 0.096 for ReLU networks.
Run: python benchmarks/letter.py [--seeds 3]   (POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.model_selection import train_test_split

from polyladder import LPNNClassifier
from polyladder_lab import load_dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    data = load_dataset("letter")
    errors = []
    for seed in range(arguments.seeds):
        X, X_test, y, y_test = train_test_split(data.features, data.target, test_size=0.3, random_state=seed)
        start = time.perf_counter()
        model = LPNNClassifier(order=4, random_state=seed).fit(X, y)
        seconds = time.perf_counter() - start
        errors.append(1 - model.score(X_test, y_test))
        print(f"seed {seed}: error {errors[-1]:.4f} in {seconds:.1f} s, {model.polynomial_}", flush=True)
    print(f"mean {np.mean(errors):.4f}")


if __name__ == "__main__":
    main()
