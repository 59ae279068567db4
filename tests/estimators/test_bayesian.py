import warnings
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_iris, make_friedman1, make_moons
from sklearn.exceptions import ConvergenceWarning

from polyladder.estimators import bayesian
from polyladder.estimators.bayesian import BayesianLPNNClassifier, BayesianLPNNRegressor
from polyladder.fitted.model import MEAN_DRAWS
from polyladder.training.bayes.moments import fit_moments
from polyladder.training.bayes.noise import TILT, noise_columns
from tests.estimators.batches import Batches

Fitted = tuple[BayesianLPNNRegressor, np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def friedman() -> Fitted:
    X, y = make_friedman1(500, n_features=5, noise=1.0, random_state=0)
    model = BayesianLPNNRegressor(order=4, width=6, chains=2, warmup=40, draws=40, random_state=0)
    return model.fit(X[:250], y[:250]), X[250:], y[250:]


@pytest.mark.slow
def test_intervals_hold_what_they_promise(friedman: Fitted) -> None:
    model, X, y = friedman
    for level in (0.5, 0.9):
        low, high = model.predict_interval(X, level)
        assert abs(((low < y) & (y < high)).mean() - level) < 0.09
    wide = model.predict_interval(X, 0.99)
    assert (wide[0] < low).all()
    assert (wide[1] > high).all()


@pytest.mark.slow
def test_predictions_are_good(friedman: Fitted) -> None:
    model, X, y = friedman
    assert model.score(X, y) > 0.9
    # N(0, 1) noise around the truth itself would have -1.42 a row.
    assert model.log_likelihood(X, y).mean() > -1.75


def test_log_likelihood_is_a_density(friedman: Fitted) -> None:
    """Over a fine grid of targets it integrates to one, in the target's own units."""
    model, X, _ = friedman

    def mass(low: float, high: float) -> float:
        grid = np.linspace(low, high, 6001)
        return float(np.trapezoid(np.exp(model.log_likelihood(np.repeat(X[:1], len(grid), 0), grid)), grid))

    assert mass(-60, 90) == pytest.approx(1, abs=1e-3)
    low, high = model.predict_interval(X[:1], 0.8)
    assert mass(low[0], high[0]) == pytest.approx(0.8, abs=1e-3)


def test_uncertainty_comes_in_two_parts(friedman: Fitted) -> None:
    model, X, _ = friedman
    y, std = model.predict(X, return_std=True)
    parts = model.predict_uncertainty(X)
    np.testing.assert_allclose(parts.weights**2 + parts.noise**2, std**2)
    assert 0.8 < parts.noise.mean() < 1.3
    same, covariance = model.predict(X, return_cov=True)
    np.testing.assert_array_equal(same, y)
    np.testing.assert_allclose(covariance[:, 0, 0], std**2)
    drawn = model.sample(X[:20], 4000)
    assert drawn.shape == (4000, 20)
    np.testing.assert_allclose(np.median(drawn, 0), y[:20], atol=0.5)
    np.testing.assert_allclose(drawn.std(0), std[:20], rtol=0.25)
    with pytest.raises(ValueError, match="must not both be True"):
        model.predict(X, return_std=True, return_cov=True)


@pytest.mark.slow
def test_all_that_is_predicted_comes_from_one_distribution(friedman: Fitted) -> None:
    model, X, y = friedman
    X, y = X[:30], y[:30]
    said = model.predict_distribution(X)
    mixture = model.predictive(X)
    np.testing.assert_array_equal(said.std, model.predict(X, return_std=True)[1])
    np.testing.assert_array_equal(said.interval(0.8), model.predict_interval(X, 0.8))
    np.testing.assert_array_equal(said.log_likelihood(y), model.log_likelihood(X, y))
    np.testing.assert_allclose(said.mean, mixture.center.mean(0)[:, 0], rtol=0.2, atol=1.0)
    assert np.abs(said.mean - model.predict(X)).max() > 0  # which is the median over the draws


@pytest.mark.slow
def test_a_draw_that_explodes_does_not_move_the_prediction(friedman: Fitted) -> None:
    model, X, _ = friedman
    before, (low, high) = model.predict(X), model.predict_interval(X)
    readout = model.posterior_.weights.readout
    kept = readout[3].clone()
    try:
        readout[3] *= 1e9
        after, (wider_low, wider_high) = model.predict(X), model.predict_interval(X)
        assert np.isfinite(model.log_likelihood(X, before)).all()
    finally:
        readout[3] = kept
    assert np.abs(after - before).max() < 0.5  # the targets span 25
    assert np.abs(wider_low - low).mean() < 0.5
    assert np.abs(wider_high - high).mean() < 0.5


def test_the_mean_function_is_one_ladder(friedman: Fitted) -> None:
    model, X, _ = friedman
    z = torch.from_numpy(model.features_.transform(X))
    some = torch.linspace(0, 79, MEAN_DRAWS).long()
    mean = model.posterior_.weights[some](z).mean(0) * model.target_.scale + model.target_.mean
    torch.testing.assert_close(model.polynomial_(z), mean)
    assert model.polynomial_.batch_shape == ()
    assert model.polynomial_.hidden == (6 * MEAN_DRAWS,) * 3
    assert np.corrcoef(model.polynomial_(z)[:, 0], model.predict(X))[0, 1] > 0.99


def test_posterior_and_diagnostics_have_their_shapes(friedman: Fitted) -> None:
    model, _, _ = friedman
    p = model.posterior_
    assert p.weights.batch_shape == (80,)
    assert p.noise.shape == p.degrees.shape == (80, 1)
    assert p.slopes.shape == (80, 1, 10)
    assert [t.shape for t in p.precision] == [(80, 1)] * 7
    d = model.diagnostics_
    assert d.rhat.shape == d.effective_draws.shape == (200, 1)
    assert 0.98 < np.median(d.rhat) < 1.3
    assert (d.effective_draws > 0).all()
    assert d.draws == 80


@pytest.mark.slow
def test_chains_that_disagree_are_warned_of_with_the_way_out() -> None:
    X, y = make_friedman1(60, n_features=5, random_state=0)
    short = BayesianLPNNRegressor(order=3, width=3, chains=2, warmup=2, draws=8, random_state=0)
    with pytest.warns(
        ConvergenceWarning, match=r"chains have not settled: R-hat is up to .* warmup=8, draws=32"
    ) as told:
        short.fit(X, y)
    assert short.diagnostics_.summary in str(told[0].message)
    assert told[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="starts ended in different places. Take a lower order"):
        clone(short).set_params(inference="variational", warmup="auto").fit(X, y)


@pytest.mark.slow
def test_chains_that_agree_are_not_warned_of() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    model = BayesianLPNNRegressor(order=2, width=1, chains=2, warmup=20, draws=40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, X[:, 0] + rng.normal(size=60))
    assert model.diagnostics_.settled


@pytest.mark.parametrize("classes", [2, 3])
def test_chains_of_classes_are_compared_by_probabilities_in_percents(classes: int) -> None:
    X, y = make_friedman1(60, n_features=5, random_state=0)
    labels = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    model = BayesianLPNNClassifier(order=2, width=2, chains=2, warmup=2, draws=6, random_state=0).fit(X, labels)
    d = model.diagnostics_
    assert d.rhat.shape == (60, 1 if classes == 2 else 3)
    # The same number added to all outputs of a draw changes no probability.
    shift = torch.arange(12.0, dtype=torch.float64).reshape(-1, 1, 1)
    f = torch.randn(12, 4, 3, dtype=torch.float64)
    torch.testing.assert_close(model._judged(f + shift), model._judged(f))
    sure = model._judged(torch.full((2, 4, 1), 4.0) + torch.tensor([[[0.0]], [[1.5]]]))
    assert sure.unique().tolist() == [1.0]


@pytest.mark.slow
def test_noise_that_depends_on_the_row() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (400, 2))
    y = X[:, 0] ** 2 + np.exp(X[:, 1] - 2) * rng.standard_normal(400)
    options = {"order": 2, "width": 3, "chains": 2, "warmup": 30, "draws": 30, "random_state": 0}
    model = BayesianLPNNRegressor(**options).fit(X, y)
    quiet, loud = np.array([[0.0, -0.9]]), np.array([[0.0, 0.9]])
    ratio = model.predict_uncertainty(loud).noise / model.predict_uncertainty(quiet).noise
    assert 3 < ratio < 10  # exp(1.8) is 6
    flat = BayesianLPNNRegressor(heteroscedastic=False, **options).fit(X, y)
    assert flat.predict_uncertainty(loud).noise == flat.predict_uncertainty(quiet).noise
    assert flat.posterior_.slopes.shape == (60, 1, 0)
    assert model.log_likelihood(X, y).mean() > flat.log_likelihood(X, y).mean() + 0.1
    # Far out the noise stays within its bounds.
    z = torch.tensor([[100.0, 100.0], [-100.0, -100.0]], dtype=torch.float64)
    ratio = model.posterior_.answer.noise_scale(z) / model.posterior_.noise.unsqueeze(1)
    assert (ratio.log().abs() <= TILT / 2).all()
    assert noise_columns(z).shape == (2, 4)


@pytest.mark.slow
def test_several_targets() -> None:
    X, y = make_friedman1(120, n_features=5, noise=0.5, random_state=0)
    Y = np.stack([y, 100 - 3 * y], 1)
    model = BayesianLPNNRegressor(order=3, width=4, chains=1, warmup=20, draws=20, random_state=0).fit(X, Y)
    mean, covariance = model.predict(X[:7], return_cov=True)
    assert mean.shape == (7, 2)
    assert covariance.shape == (7, 2, 2)
    np.testing.assert_allclose(covariance, covariance.transpose(0, 2, 1))
    assert (np.linalg.eigvalsh(covariance) > 0).all()
    assert model.score(X, Y) > 0.8
    assert model.log_likelihood(X, Y).shape == (120,)
    assert model.sample(X[:7], 3).shape == (3, 7, 2)
    assert model.predict_interval(X[:7])[0].shape == (7, 2)


@pytest.mark.parametrize("noise", ["student", "gaussian"])
def test_kinds_of_noise(noise: str) -> None:
    X, y = make_friedman1(100, n_features=5, noise=0.5, random_state=0)
    options = {"order": 2, "width": 3, "chains": 1, "warmup": 5, "draws": 5, "random_state": 0}
    model = BayesianLPNNRegressor(noise=noise, **options).fit(X, y)
    assert (model.posterior_.degrees == (4.0 if noise == "student" else torch.inf)).all()


@pytest.mark.slow
def test_the_order_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (100, 2))
    y = 3 * X[:, 0] * X[:, 1] + 4 * X[:, 0] ** 3 + 0.2 * rng.standard_normal(100)
    model = BayesianLPNNRegressor(order="auto", width=3, chains=2, warmup=10, draws=10, random_state=0).fit(X, y)
    assert model.growth_.orders[0] == 2
    assert model.order_ == model.polynomial_.order >= 3
    assert model.growth_.errors[0] > min(model.growth_.errors) + 0.5


@pytest.mark.slow
def test_variational_inference() -> None:
    X, y = make_friedman1(120, n_features=5, noise=1.0, random_state=0)
    model = BayesianLPNNRegressor(order=3, width=4, inference="variational", chains=2, draws=30, random_state=0).fit(
        X, y
    )
    assert model.posterior_.weights.batch_shape == (60,)
    assert [t.shape for t in model.posterior_.precision] == [(60, 1)] * 5
    assert model.score(X, y) > 0.8
    low, high = model.predict_interval(X)
    assert 0.8 < ((low < y) & (y < high)).mean() <= 1


@pytest.mark.slow
def test_variational_relevance_finds_the_inputs_that_matter() -> None:
    X, y = make_friedman1(400, n_features=8, noise=0.5, random_state=0)
    options = {"order": 3, "width": 5, "inference": "variational", "chains": 2, "draws": 10, "random_state": 0}
    model = BayesianLPNNRegressor(relevance=True, **options).fit(X, y)
    gates = model.posterior_.precision[2:4]
    assert [t.shape for t in gates] == [(20, 9)] * 2
    smallest = torch.stack([t[:, :-1] for t in gates]).amin(0).amin(0)
    assert smallest[:5].max() * 10 < smallest[5:].min()


@pytest.mark.slow
def test_moments_widen_error_bars_where_targets_scatter() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    y = X[:, 0] + X[:, 0] * X[:, 1] + 0.6 * np.abs(X[:, 1]) * rng.normal(size=300)
    options = {"order": 3, "width": 4, "chains": 2, "draws": 30, "random_state": 0}
    model = BayesianLPNNRegressor(inference="moments", **options).fit(X[:200], y[:200])
    assert model.posterior_.weights.batch_shape == (60,)
    assert [t.shape for t in model.posterior_.precision] == [(60, 1)] * 5
    std = model.predict(X[200:], return_std=True)[1]
    assert np.corrcoef(std, np.abs(X[200:, 1]))[0, 1] > 0.6
    one_noise = BayesianLPNNRegressor(inference="variational", **options).fit(X[:200], y[:200])
    assert model.log_likelihood(X[200:], y[200:]).mean() > one_noise.log_likelihood(X[200:], y[200:]).mean() + 0.1


@pytest.mark.slow
def test_moments_of_several_targets_and_of_a_choice_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_friedman1(200, n_features=5, noise=0.5, random_state=0)
    monkeypatch.setattr(bayesian, "MOMENT_ROWS", 150)
    read: list[Any] = []

    def watched(*arguments: Any, **options: Any) -> Any:
        read.append(options)
        return fit_moments(*arguments, **options)

    monkeypatch.setattr(bayesian, "fit_moments", watched)
    model = BayesianLPNNRegressor(order=3, width=4, inference="moments", chains=1, draws=20, random_state=0)
    model.fit(X, np.stack([y, -y], 1))
    assert model.score(X, np.stack([y, -y], 1)) > 0.7
    assert len(read[0]["rows"].unique()) == 150
    assert float(read[0]["sample_weight"][read[0]["rows"]].sum()) == pytest.approx(200)


@pytest.mark.slow
def test_moments_of_two_classes() -> None:
    X, y = make_moons(300, noise=0.25, random_state=0)
    model = BayesianLPNNClassifier(order=3, width=4, inference="moments", chains=2, draws=30, random_state=0)
    model.fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.8
    assert model.log_likelihood(X[200:], y[200:]).mean() > -0.45
    assert (model.posterior_.noise == 1).all()


def test_moments_of_several_classes_are_refused() -> None:
    model = BayesianLPNNClassifier(inference="moments", order=2, width=2)
    with pytest.raises(ValueError, match=r"y must have two classes for inference='moments'; got 3\."):
        model.fit(np.arange(24.0).reshape(12, 2), np.arange(12) % 3)
    with pytest.raises(ValueError, match="The 'inference' parameter of BayesianLPNNClassifier must be"):
        BayesianLPNNClassifier(inference="variational").fit(np.eye(4), np.arange(4) % 2)
    with pytest.raises(ValueError, match=r"The 'warmup' parameter .* inference='moments', which draws no chain"):
        BayesianLPNNClassifier(inference="moments", warmup=5).fit(np.eye(4), np.arange(4) % 2)


@pytest.mark.parametrize("inference", ["variational", "moments"])
@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"warmup": 100}, "must be left at 'auto' for inference='{}', which draws no chain. Got 100 instead."),
        ({"noise": "student"}, "must be 'auto' or 'gaussian' for inference='{}'"),
        ({"degrees": 7.0}, "must be left at 4 for inference='{}'"),
        ({"heteroscedastic": True}, "must be False or 'auto' for inference='{}'"),
    ],
)
def test_independent_weights_refuse_what_they_cannot_do(
    parameters: dict[str, Any], reason: str, inference: Any
) -> None:
    model = BayesianLPNNRegressor(inference=inference, **parameters)
    with pytest.raises(ValueError, match=f"The '{next(iter(parameters))}' parameter .* {reason.format(inference)}"):
        model.fit(np.eye(8), np.arange(8.0))


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter() -> None:
    X, y = make_friedman1(60, n_features=5, noise=0.5, random_state=0)
    model = BayesianLPNNRegressor(order=3, width=3, chains=1, warmup=10, draws=10, random_state=0)
    shuffled = np.random.default_rng(0).permutation(60)
    first = model.fit(X, y).predict(X)
    second = clone(model).fit(X[shuffled], y[shuffled]).predict(X)
    np.testing.assert_allclose(first, second, rtol=1e-6)


@pytest.mark.slow
def test_classes_with_a_curved_border() -> None:
    X, y = make_moons(300, noise=0.25, random_state=0)
    model = BayesianLPNNClassifier(order=4, width=4, chains=2, warmup=30, draws=30, random_state=0)
    model.fit(X[:200], np.array(["no", "yes"])[y[:200]])
    p = model.predict_proba(X[200:])
    assert model.score(X[200:], np.array(["no", "yes"])[y[200:]]) > 0.85
    assert -np.log(p[np.arange(100), y[200:]]).mean() < 0.35
    np.testing.assert_allclose(
        model.log_likelihood(X[200:], np.array(["no", "yes"])[y[200:]]), np.log(p[np.arange(100), y[200:]])
    )
    parts = model.predict_uncertainty(X[200:])
    entropy = -(p * np.log(p)).sum(1)
    np.testing.assert_allclose(parts.weights + parts.noise, entropy, atol=1e-9)
    assert (parts.weights >= 0).all()
    drawn = model.sample(X[200:], 500)
    np.testing.assert_allclose((drawn == "yes").mean(0), p[:, 1], atol=0.1)


@pytest.mark.slow
def test_three_classes() -> None:
    X, y = load_iris(return_X_y=True)
    model = BayesianLPNNClassifier(order=2, width=4, chains=2, warmup=30, draws=30, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert (model.decision_function(X).argmax(1) == model.predict_proba(X).argmax(1)).all()
    assert model.polynomial_.out_features == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 1}, "'order' parameter"),
        ({"inference": "laplace"}, "'inference' parameter"),
        ({"noise": "cauchy"}, "'noise' parameter"),
        ({"degrees": 2.0}, "'degrees' parameter"),
        ({"chains": 0}, "'chains' parameter"),
        ({"draws": 3}, "'draws' parameter"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BayesianLPNNRegressor(**options).fit(np.eye(4), np.arange(4.0))


def test_a_level_is_a_probability(friedman: Fitted) -> None:
    model, X, _ = friedman
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        model.predict_interval(X, level=90)


# Rows in parts


@pytest.mark.slow
def test_batches_give_the_posterior_of_all_rows_whatever_their_size() -> None:
    X, y = make_friedman1(900, n_features=5, noise=1.0, random_state=0)
    model = BayesianLPNNRegressor(order=3, width=4, chains=2, warmup=10, draws=10, random_state=0)
    small, large = (clone(model).fit_batches(Batches(X[:700], y[:700], size)) for size in (90, 700))
    np.testing.assert_allclose(small.predict(X), large.predict(X), rtol=1e-5, atol=1e-5)
    low, high = small.predict_interval(X[700:], level=0.9)
    assert 0.8 < ((low < y[700:]) & (y[700:] < high)).mean() < 0.98
    whole = clone(model).set_params(noise="gaussian", heteroscedastic=False).fit(X[:700], y[:700])
    apart = np.sqrt(np.mean((small.predict(X[700:]) - whole.predict(X[700:])) ** 2))
    assert apart < 0.35 * np.sqrt(np.mean((whole.predict(X[700:]) - y[700:]) ** 2))
    assert small.diagnostics_.draws == 20


@pytest.mark.slow
def test_two_classes_in_batches_and_in_a_dask_array() -> None:
    da = pytest.importorskip("dask.array")
    X, y = make_friedman1(600, n_features=5, random_state=0)
    labels = np.where(y > np.median(y), "high", "low")
    model = BayesianLPNNClassifier(order=2, width=3, chains=2, warmup=5, draws=8, random_state=0)
    small, large = (clone(model).fit_batches(Batches(X, labels, size)) for size in (100, 600))
    np.testing.assert_allclose(small.predict_proba(X), large.predict_proba(X), rtol=1e-5, atol=1e-5)
    numbers = (y > np.median(y)).astype(int)
    there = clone(model).fit(da.from_array(X, chunks=(200, 5)), da.from_array(numbers, chunks=200))
    assert small.score(X, labels) > 0.85
    assert there.score(X, numbers) > 0.85


def test_what_parts_cannot_do_is_refused() -> None:
    X, y = make_friedman1(60, n_features=5, random_state=0)
    unable = ({"inference": "variational"}, {"inference": "moments"})
    for wrong in ({"noise": "student"}, {"heteroscedastic": True}, *unable):
        with pytest.raises(ValueError, match="where rows lie in parts"):
            BayesianLPNNRegressor(**wrong).fit_batches([(X, y)])
    with pytest.raises(ValueError, match="where rows lie in parts"):
        BayesianLPNNClassifier(inference="moments").fit_batches([(X, y > y.mean())])
    with pytest.raises(ValueError, match="two classes where rows lie in parts; got 3"):
        BayesianLPNNClassifier().fit_batches([(X, np.arange(60) % 3)])
