"""Reliability of a variational posterior and of class probabilities. Run: python docs/figures/calibration.py"""

from pathlib import Path

import matplotlib as mpl
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict
from variational import posterior_of_split

from polyladder import LPNNClassifier
from polyladder.predictive.calibration import (
    class_reliability,
    coverage,
    crps_gaussian,
    gaussian_levels,
    interval_reliability,
)
from polyladder.report.calibration import plot_calibration
from polyladder_lab import load_dataset

SPLITS = 5


def main() -> None:
    """Intervals for concrete on the left, classes of breast cancer on the right."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "calibration"
    from matplotlib import pyplot as plt

    torch.set_num_threads(1)
    data = load_dataset("concrete")
    targets, means, totals, noises = [], [], [], []
    for split in range(SPLITS):
        fit, x, scale = posterior_of_split(data, split, 10, 3)
        prediction = fit.weights[0].predictive(x, fit.noise[0])
        targets.append((torch.tensor(data.target[data.splits[split][1]]).double() - scale[0]) / scale[1])
        means.append(prediction.mean[:, 0])
        totals.append(prediction.standard_deviation[:, 0])
        noises.append(prediction.noise_variance[:, 0].sqrt())
    y, mean, total, noise = (torch.cat(t) for t in (targets, means, totals, noises))
    curves = {}
    for name, sd in (("weights and noise", total), ("noise alone", noise)):
        curves[name] = interval_reliability(gaussian_levels(y, mean, sd))
        covered = coverage(y, mean - 1.6449 * sd, mean + 1.6449 * sd)
        print(
            f"{name:18s} 90 % covers {covered.share:.3f}, width {covered.width:.3f} sd of the target, "
            f"CRPS {crps_gaussian(y, mean, sd).mean():.4f}, error {curves[name].error:.3f}"
        )
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    plot_calibration(curves, ax=axes[0])
    axes[0].set_title(f"central intervals, concrete, {len(y)} test rows", fontsize=10)
    X, label = load_breast_cancer(return_X_y=True)
    probability = cross_val_predict(
        LPNNClassifier(order=2, width=4, n_estimators=1, random_state=0), X, label, cv=5, method="predict_proba"
    )
    curve = class_reliability(probability, label, bins=10)
    plot_calibration(curve, ax=axes[1])
    axes[1].set_title(f"likeliest class, breast cancer, {len(label)} held-out rows", fontsize=10)
    print(f"breast cancer: expected calibration error {curve.error:.3f}")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
