"""What the rivals' distributions say of themselves, and how their absence is told."""

import importlib.util
import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from benchmarks.distributions import (
    CENTRAL,
    VERSIONS,
    ConformalQuantiles,
    NaturalBoosting,
    NoisyProcess,
    Normals,
    Quantiles,
    UncertainTrees,
    needed,
)

random = np.random.default_rng(0)
MEAN, STD, Y = random.normal(size=4), random.uniform(0.5, 3.0, 4), random.normal(size=4)


def integrated_crps(mean, std, y):
    """By its definition: the squared distance of the distribution function from a step."""
    below = quad(lambda t: norm.cdf(t, mean, std) ** 2, -np.inf, y)[0]
    return below + quad(lambda t: norm.sf(t, mean, std) ** 2, y, np.inf)[0]


def test_normals_are_scipys():
    rows = Normals(MEAN, STD)
    np.testing.assert_allclose(rows.logpdf(Y), norm.logpdf(Y, MEAN, STD))
    np.testing.assert_allclose(rows.interval(0.9), norm.interval(0.9, MEAN, STD))
    expected = [integrated_crps(*each) for each in zip(MEAN, STD, Y, strict=True)]
    np.testing.assert_allclose(rows.crps(Y), expected, rtol=1e-6)


def test_the_score_of_quantiles_comes_near_that_of_their_distribution():
    levels = np.sort([0.5, *((1 - c) / 2 for c in CENTRAL), *((1 + c) / 2 for c in CENTRAL)])
    rows = Quantiles(levels, norm.ppf(levels[:, None], MEAN, STD))
    targets = MEAN + STD * random.normal(size=(500, 4))
    found = np.mean([rows.crps(y) for y in targets])
    assert found == pytest.approx(np.mean(Normals(MEAN, STD).crps(targets)), rel=0.02)
    for level in (0.5, 0.8, 0.9, 0.95):
        np.testing.assert_allclose(rows.interval(level), norm.interval(level, MEAN, STD))


def test_an_interval_between_unknown_quantiles_is_refused():
    with pytest.raises(ValueError, match=r"level must be that of two known quantiles; got 0\.33"):
        Quantiles(np.array([0.05, 0.5, 0.95]), np.zeros((3, 2))).interval(0.33)


@pytest.mark.parametrize("package", VERSIONS)
def test_what_is_missing_is_said_with_the_way_to_install_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=f"{package} must be installed for this rival; got none. pip install"):
        needed(package)


def drawn(rows):
    X = random.uniform(-1, 1, size=(rows, 2))
    spread = 0.1 + 0.2 * (X[:, 0] > 0)
    return X, X[:, 0] + spread * random.normal(size=rows), spread


RIVALS = {
    "ngboost": lambda: NaturalBoosting(random_state=0),
    "ngboost, chosen": lambda: NaturalBoosting(random_state=0, choose_trees=True),
    "catboost": lambda: UncertainTrees(random_state=0),
    "catboost, chosen": lambda: UncertainTrees(random_state=0, choose_trees=True),
    "mapie": lambda: ConformalQuantiles(random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("rival", RIVALS)
def test_rivals_find_the_scale_of_the_noise_in_units_of_the_target(rival):
    package = rival.split(",")[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed: its rival was not run")
    X, y, spread = drawn(600)
    new = RIVALS[rival]().fit(X[:400], 1000 + 10 * y[:400]).predict_distribution(X[400:])
    low, high = new.interval(0.8)
    inside = (low < 1000 + 10 * y[400:]) & (1000 + 10 * y[400:] < high)
    assert 0.4 < inside.mean() < 0.95
    wide = spread[400:] > 0.2
    assert 1.3 < (high - low)[wide].mean() / (high - low)[~wide].mean() < 8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The optimal value found")
def test_the_gaussian_process_finds_the_noise_and_adds_it():
    X = random.uniform(-1, 1, size=(150, 2))
    y = 500 + 20 * (X[:, 0] + 0.1 * random.normal(size=150))
    rows = NoisyProcess(random_state=0).fit(X[:100], y[:100]).predict_distribution(X[100:])
    assert np.median(rows.std) == pytest.approx(2.0, rel=0.3)
    assert np.sqrt(np.mean((rows.mean - y[100:]) ** 2)) < 3.0
