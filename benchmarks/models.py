"""Models of the declarations beside this file: tuned on their training rows, or of libraries with an environment of
their own.

    PYTHONPATH=. polyladder reproduce benchmarks/regression.toml        (POLYLADDER_DATA names the data folder)
    pip install -c constraints.txt gpytorch==1.15.2 laplace-torch==0.3    (for bayesian_rivals.toml)
"""

from __future__ import annotations

import math
import time
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from scipy.special import eval_legendre
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV, lars_path
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from polyladder import BatchedGridSearchCV, LPNNRegressor

Grid = dict[str, list[Any]]
SEARCH = {"cv": KFold(5, shuffle=True, random_state=0), "scoring": "neg_root_mean_squared_error"}


class TunedLadder:
    """Grid search with smaller ensembles, then a fit with the default number of ladders and sweeps."""

    def __init__(self, search: Grid, members: int, sweeps: int, random_state: int) -> None:
        self.search, self.members, self.sweeps, self.random_state = search, members, sweeps, random_state

    def fit(self, X: Any, y: Any) -> TunedLadder:
        small = LPNNRegressor(n_estimators=self.members, max_iter=self.sweeps, random_state=self.random_state)
        found = BatchedGridSearchCV(small, self.search, refit=False, **SEARCH).fit(X, y)
        self.best_params_ = found.best_params_
        began = time.perf_counter()
        best = {"order": 6, "features": "standard", **found.best_params_}
        self.model_ = LPNNRegressor(**best, random_state=self.random_state).fit(X, y)
        self.refit_time_ = time.perf_counter() - began
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


def standardized(model: Any) -> TransformedTargetRegressor:
    """A network needs scaled targets, and boosting stops at an absolute tolerance."""
    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def linear_ridge() -> TransformedTargetRegressor:
    return standardized(make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 4, 15))))


def logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


def boosted_classes(random_state: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(random_state=random_state)


class SmoothProcess:
    """A Gaussian process with one length per input, on scaled inputs."""

    def __init__(self, random_state: int) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> SmoothProcess:
        kernel = ConstantKernel(1.0, (1e-3, 1e6)) * RBF(np.full(X.shape[1], 3.0), (1e-2, 1e4))
        kernel += WhiteKernel(1e-4, (1e-10, 10.0))
        process = GaussianProcessRegressor(
            kernel, normalize_y=True, n_restarts_optimizer=1, random_state=self.random_state
        )
        self.model_ = make_pipeline(StandardScaler(), process).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)


class SparseChaos:
    """Sparse polynomial chaos: Legendre polynomials picked by least angles, number and degree by leaving rows out.

    Inputs are uniform in a box, so these are the orthogonal polynomials. Each set along the path is fitted by plain
    least squares, whose errors of rows left out are known in closed form.
    """

    DEGREES = (1, 2, 3, 4, 5, 6, 8)
    MOST_TERMS = 3000

    def fit(self, X: Any, y: Any) -> SparseChaos:
        self.low_, self.high_ = X.min(0), X.max(0)
        level, scale = y.mean(), y.std()
        best = np.inf
        for degree in self.DEGREES:
            powers = self.powers(X.shape[1], degree)
            if len(powers) > self.MOST_TERMS:
                break
            basis = self.basis(X, powers)
            _, order, _ = lars_path(basis[:, 1:], (y - level) / scale, method="lar", max_iter=len(y) // 2)
            for count in range(1, len(order) + 1):
                kept = [0, *(j + 1 for j in order[:count])]
                q, r = np.linalg.qr(basis[:, kept])
                free = 1 - (q**2).sum(1)
                error = np.mean(((y - q @ (q.T @ y)) / np.maximum(free, 1e-9)) ** 2)
                if error < best:
                    best, self.powers_ = error, powers[kept]
                    self.weights_ = np.linalg.lstsq(r, q.T @ y, rcond=None)[0]
        return self

    def predict(self, X: Any) -> Any:
        return self.basis(X, self.powers_) @ self.weights_

    def powers(self, inputs: int, degree: int) -> Any:
        """Degrees of each input in each term, the constant first. Shape (terms, inputs)."""
        if math.comb(inputs + degree, degree) > self.MOST_TERMS:
            return np.zeros((self.MOST_TERMS + 1, inputs))
        return PolynomialFeatures(degree).fit(np.zeros((1, inputs))).powers_

    def basis(self, X: Any, powers: Any) -> Any:
        """All terms at all rows. Shape (n, terms)."""
        t = 2 * (X - self.low_) / (self.high_ - self.low_) - 1
        each = np.stack([np.sqrt(2 * p + 1) * eval_legendre(p, t) for p in range(powers.max() + 1)])
        return np.prod([each[powers[:, j], :, j] for j in range(X.shape[1])], 0).T


def boosting(random_state: int) -> TransformedTargetRegressor:
    return standardized(HistGradientBoostingRegressor(random_state=random_state))


def tuned_boosting(search: Grid, random_state: int) -> GridSearchCV:
    return searched(HistGradientBoostingRegressor(random_state=random_state), search)


def tuned_cubic_ridge(search: Grid) -> GridSearchCV:
    """Ridge on all monomials up to order 3."""
    monomials = PolynomialFeatures(3, include_bias=False)
    return searched(make_pipeline(StandardScaler(), monomials, StandardScaler(), Ridge()), search)


def tuned_mlp(search: Grid, early_stopping: bool, random_state: int) -> GridSearchCV:
    network = MLPRegressor(hidden_layer_sizes=(50, 50, 50), early_stopping=early_stopping, random_state=random_state)
    return searched(make_pipeline(StandardScaler(), network), search)


def searched(model: Any, search: Grid) -> GridSearchCV:
    return GridSearchCV(
        standardized(model), {f"regressor__{name}": values for name, values in search.items()}, **SEARCH
    )


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

    def predict(self, X: np.ndarray, return_std: bool = False) -> Any:
        """Mean, and standard deviation of a new observation, in units of the target."""
        mean, variance = self.outputs(self.rows(X))
        middle, deviation = self.middle + self.unit * mean.numpy(), self.unit * variance.sqrt().numpy()
        return (middle, deviation) if return_std else middle

    def predict_interval(self, X: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
        mean, sd = self.predict(X, return_std=True)
        half = NormalDist().inv_cdf((1 + level) / 2) * sd
        return mean - half, mean + half

    def log_likelihood(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        mean, sd = self.predict(X, return_std=True)
        return -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)

    def learn(self, x: torch.Tensor, y: torch.Tensor) -> None:
        raise NotImplementedError

    def outputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError


class GaussianProcess(Standardized):
    """gpytorch's ExactGP: Matern 5/2, a length scale for every input, 60 steps of L-BFGS on the marginal likelihood."""

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
        with gpytorch.settings.max_cholesky_size(len(x)):
            optimizer.step(closure)
        self.model.eval()
        self.likelihood.eval()

    def outputs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        import gpytorch

        with torch.no_grad(), gpytorch.settings.max_cholesky_size(10_000):
            prediction = self.likelihood(self.model(x))
            return prediction.mean, prediction.variance


class LaplaceNetwork(Standardized):
    """laplace-torch on a ReLU network of 50 units trained by Adam: the full Gauss-Newton matrix of all weights, prior
    precision and noise by marginal likelihood, linearized prediction."""

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
