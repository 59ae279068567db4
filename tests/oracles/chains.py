"""Slow, obvious chain diagnostics, and chains whose effective sample size is known."""

import numpy as np
from scipy import stats


def autoregressive(rho: float, chains: int, n: int, seed: int) -> np.ndarray:
    """Stationary AR(1) chains of variance 1 and correlation rho between neighbors. Shape (chains, n).

    Their autocorrelation at lag t is rho^t, so the mean of n draws has the variance of n (1 - rho) / (1 + rho)
    independent ones.
    """
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(chains, n))
    x = noise.copy()
    for t in range(1, n):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x


def halves_of(x: np.ndarray) -> np.ndarray:
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def normal_scores(x: np.ndarray) -> np.ndarray:
    rank = stats.rankdata(x, method="average").reshape(x.shape)
    return stats.norm.ppf((rank - 3 / 8) / (x.size + 1 / 4))


def rhat(x: np.ndarray) -> float:
    """Rank-normalized split R-hat of one quantity, from the formulas of Vehtari et al. (2021), section 2 to 4."""

    def ratio(z: np.ndarray) -> float:
        n = z.shape[1]
        within = np.mean([np.var(chain, ddof=1) for chain in z])
        between = n * np.var([np.mean(chain) for chain in z], ddof=1)
        return float(np.sqrt(((n - 1) / n * within + between / n) / within))

    z = halves_of(x)
    return max(ratio(normal_scores(z)), ratio(normal_scores(np.abs(z - np.median(z)))))


def ess(x: np.ndarray) -> float:
    """Bulk effective sample size of one quantity, sum by sum, one lag after the other."""
    z = normal_scores(halves_of(x))
    chains, n = z.shape
    centered = z - z.mean(1, keepdims=True)

    def covariance(lag: int) -> float:
        return float(np.mean([sum(c[t] * c[t + lag] for t in range(n - lag)) / n for c in centered]))

    within = covariance(0) * n / (n - 1)
    total = covariance(0) + float(np.var(z.mean(1), ddof=1))

    def rho(lag: int) -> float:
        return 1 - (within - covariance(lag)) / total if lag else 1.0

    tau, lag, before = -1.0, 0, np.inf
    while lag + 1 <= n - 4 and rho(lag) + rho(lag + 1) > 0:
        before = min(before, rho(lag) + rho(lag + 1))
        tau += 2 * before
        lag += 2
    tau += max(rho(lag), 0.0)
    return chains * n / max(tau, 1 / np.log10(chains * n))
