"""
Error bars in one run: Bayesian ladders, an exact Gaussian process (gpytorch), and laplace-torch on a ReLU network.

Test RMSE, log-likelihood of a row, share of rows in the central 90 % interval, processor seconds to fit, processor
microseconds a row predicted with its standard deviation; published splits, standardized inputs and targets, one thread.
One JSON line a fit goes to benchmarks/results/bayesian_rivals.jsonl; an interrupted run goes on.

- gp: Matern 5/2, a length scale for every input, noise; 60 steps of L-BFGS on the exact marginal likelihood. Only where
  there are at most 1,500 training rows: it costs their cube.
  Its log-likelihood on wine is an artifact: 51 of the 160 test rows of the first split repeat a training row, target
  and all. It interpolates those (3.58 a row, noise at its floor); on the others it reaches -0.96.
- laplace: 50 ReLU units, as is usual on these splits, Adam on mini-batches; then the Laplace posterior of all weights
  with the full Gauss-Newton matrix, prior precision and noise by marginal likelihood, linearized prediction.
- ladder: `BayesianLPNNRegressor` with its defaults.

The rivals have an environment of their own:
  pip install torch==2.13.0 && pip install -c constraints.txt gpytorch==1.15.2 laplace-torch==0.3 && pip install -e .

Run:  python benchmarks/bayesian_rivals.py run [--only DATA,DATA] [--models gp laplace ladder] [--splits 5]
      python benchmarks/bayesian_rivals.py show                    (POLYLADDER_DATA names the data folder)
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import time
from importlib.metadata import version
from statistics import NormalDist, median
from typing import Any, NamedTuple

import numpy as np
import torch
from published_splits import RESULTS, collected, read

from polyladder import load_dataset
from polyladder.estimators.bayesian import BayesianLPNNRegressor

STORE = RESULTS / "bayesian_rivals.jsonl"
SETS = {"boston-housing": 5, "concrete": 5, "energy": 5, "yacht": 5, "wine-quality-red": 5, "kin8nm": 1}
"""The first so many splits of each."""
GP_ROWS = 1500
Z90 = NormalDist().inv_cdf(0.95)
PACKAGES = {"gp": "gpytorch", "laplace": "laplace-torch", "ladder": "polyladder"}


class Prediction(NamedTuple):
    """At the test rows, in units of the target."""

    mean: np.ndarray
    log_density: np.ndarray
    covered: np.ndarray


class Standardized:
    """Inputs and target scaled by the training rows; rivals see tensors of float64."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Standardized:
        spread = X.std(0)
        self.center, self.scale = X.mean(0), np.where(spread > 0, spread, 1.0)
        self.middle, self.unit = float(y.mean()), float(y.std())
        self.learn(self.rows(X), torch.from_numpy((y - self.middle) / self.unit))
        return self

    def rows(self, X: np.ndarray) -> torch.Tensor:
        return torch.from_numpy((X - self.center) / self.scale)

    def gaussian(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of a new observation, in units of the target."""
        mean, variance = self.outputs(self.rows(X))
        return self.middle + self.unit * mean.numpy(), self.unit * variance.sqrt().numpy()

    def judge(self, X: np.ndarray, y: np.ndarray) -> Prediction:
        mean, sd = self.gaussian(X)
        log_density = -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
        return Prediction(mean, log_density, np.abs(y - mean) <= Z90 * sd)

    def learn(self, x: torch.Tensor, y: torch.Tensor) -> None:
        raise NotImplementedError

    def outputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError


class GaussianProcess(Standardized):
    """gpytorch's ExactGP."""

    def learn(self, x: torch.Tensor, y: torch.Tensor) -> None:
        import gpytorch

        class Model(gpytorch.models.ExactGP):
            def __init__(self, x: torch.Tensor, y: torch.Tensor, likelihood: Any) -> None:
                super().__init__(x, y, likelihood)
                self.mean_module = gpytorch.means.ConstantMean()
                self.covar_module = gpytorch.kernels.ScaleKernel(
                    gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[-1])
                )

            def forward(self, x: torch.Tensor) -> Any:
                return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

        self.likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
        self.model = Model(x, y, self.likelihood).double()
        evidence = gpytorch.mlls.ExactMarginalLogLikelihood(self.likelihood, self.model)
        optimizer = torch.optim.LBFGS(
            self.model.parameters(), max_iter=60, history_size=20, line_search_fn="strong_wolfe"
        )
        self.model.train()
        self.likelihood.train()

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = -evidence(self.model(x), y)
            loss.backward()
            return loss

        # Beyond 800 rows gpytorch would turn to stochastic estimates of the likelihood; exact was asked for.
        with gpytorch.settings.max_cholesky_size(GP_ROWS):
            optimizer.step(closure)
        self.model.eval()
        self.likelihood.eval()

    def outputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        import gpytorch

        with torch.no_grad(), gpytorch.settings.max_cholesky_size(2 * GP_ROWS):
            prediction = self.likelihood(self.model(x))
            return prediction.mean, prediction.variance


class LaplaceNetwork(Standardized):
    """laplace-torch on a ReLU network."""

    def learn(self, x: torch.Tensor, y: torch.Tensor) -> None:
        from laplace import Laplace
        from torch.utils.data import DataLoader, TensorDataset

        torch.manual_seed(0)
        network = torch.nn.Sequential(
            torch.nn.Linear(x.shape[1], 50),
            torch.nn.ReLU(),
            torch.nn.Linear(50, 1),
        ).double()
        rows = DataLoader(TensorDataset(x, y.unsqueeze(1)), batch_size=64, shuffle=True)
        epochs = 200 if len(x) < 2000 else 50
        optimizer = torch.optim.Adam(network.parameters(), lr=5e-3, weight_decay=1e-4)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
        for _ in range(epochs):
            for inputs, targets in rows:
                optimizer.zero_grad()
                torch.nn.functional.mse_loss(network(inputs), targets).backward()
                optimizer.step()
            schedule.step()
        network.eval()
        self.laplace = Laplace(network, "regression", subset_of_weights="all", hessian_structure="full")
        self.laplace.fit(rows)
        prior, noise = torch.zeros(1).double().requires_grad_(), torch.full((1,), -1.0).double().requires_grad_()
        tuner = torch.optim.Adam([prior, noise], lr=0.1)
        for _ in range(100):
            tuner.zero_grad()
            (-self.laplace.log_marginal_likelihood(prior.exp(), noise.exp())).backward()
            tuner.step()
        self.laplace.prior_precision, self.laplace.sigma_noise = prior.exp().detach(), noise.exp().detach()

    def outputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        mean, variance = self.laplace(x)
        return mean.detach().flatten(), variance.detach().flatten() + self.laplace.sigma_noise.item() ** 2


class Ladder:
    """The Bayesian ladder with its defaults, which scales rows and targets itself."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Ladder:
        self.model = BayesianLPNNRegressor(random_state=0).fit(X, y)
        return self

    def gaussian(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, sd = self.model.predict(X, return_std=True)
        return mean, sd

    def judge(self, X: np.ndarray, y: np.ndarray) -> Prediction:
        low, high = self.model.predict_interval(X, 0.9)
        return Prediction(self.model.predict(X), self.model.log_likelihood(X, y), (low <= y) & (y <= high))


MODELS: dict[str, Any] = {"gp": GaussianProcess, "laplace": LaplaceNetwork, "ladder": Ladder}


def measure(model: str, data: Any, split: int) -> dict[str, float]:
    """Fit one model on one split; time the prediction of all test rows, standard deviation included."""
    train, test = data.splits[split]
    X, y = np.asarray(data.features, dtype=float), np.asarray(data.target, dtype=float)
    clock, processor = time.perf_counter(), time.process_time()
    fitted = MODELS[model]().fit(X[train], y[train])
    seconds, used = time.perf_counter() - clock, time.process_time() - processor
    times = []
    for _ in range(5):
        began = time.process_time()
        fitted.gaussian(X[test])
        times.append(time.process_time() - began)
    mean, log_density, covered = fitted.judge(X[test], y[test])
    return {
        "rmse": float(np.sqrt(np.mean((mean - y[test]) ** 2))),
        "log_likelihood": float(np.mean(log_density)),
        "coverage_90": float(np.mean(covered)),
        "seconds": round(seconds, 4),
        "processor_seconds": round(used, 4),
        "microseconds_a_row": round(1e6 * median(times) / len(test), 3),
        "rows": len(train),
    }


def run(models: list[str], sets: list[str], splits: int | None) -> None:
    torch.set_num_threads(1)
    STORE.parent.mkdir(exist_ok=True)
    done = {(r["dataset"], r["split"], r["model"]) for r in read(STORE)}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    for name in sets:
        data = load_dataset(name)
        for split in range(splits or SETS[name]):
            for model in models:
                too_large = model == "gp" and len(data.splits[split][0]) > GP_ROWS
                if too_large or (name, split, model) in done:
                    continue
                row = {"dataset": name, "split": split, "model": model} | measure(model, data, split)
                versions = {p: version(p) for p in ("torch", PACKAGES[model])} | {"python": platform.python_version()}
                with STORE.open("a") as file:
                    file.write(json.dumps(row | {"commit": commit, "versions": versions}) + "\n")
                print(
                    f"{name:18s} {split:2d}  {model:8s} RMSE {row['rmse']:.4g}  log-likelihood "
                    f"{row['log_likelihood']:.3f}  90 %: {row['coverage_90']:.3f}  {row['seconds']:.1f} s",
                    flush=True,
                )


def table() -> str:
    """Markdown: the means over the splits of each data set and model."""
    lines = [
        "| data (splits) | model | RMSE | log-likelihood | 90 % covers | seconds a fit | microseconds a row |",
        "|---" * 7 + "|",
    ]
    for (name, model), rows in sorted(collected(STORE).items()):
        mean = {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if isinstance(rows[0][key], float)}
        lines.append(
            f"| {name} ({len(rows)}) | {model} | {mean['rmse']:.3g} | {mean['log_likelihood']:.3f} | "
            f"{mean['coverage_90']:.3f} | {mean['processor_seconds']:.2g} | {mean['microseconds_a_row']:.3g} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "show"])
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--splits", type=int, help="the first so many; by default " + str(SETS))
    arguments = parser.parse_args()
    if arguments.action == "run":
        run(arguments.models, arguments.only.split(",") if arguments.only else list(SETS), arguments.splits)
    print(table())


if __name__ == "__main__":
    main()
