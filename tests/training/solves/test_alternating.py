import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from polyladder import LadderPolynomial, fit_alternating, stack
from polyladder.training.solves import block_step, sweep
from polyladder.training.solves import blocks as blocks_module
from polyladder.training.solves.alternating import AlternatingFit, random_start
from polyladder.training.solves.blocks import Blocks, blocks_of
from polyladder.training.solves.descent import Objective
from polyladder.training.solves.quadratic_bound import quadratic_bound
from polyladder.training.solves.ridge import START, WARM_UP, Ridge
from tests.ladders import random_ladder, rows
from tests.oracles import alternating as oracle

Patch = pytest.MonkeyPatch


def targets(n: int, m: int, loss: str = "squared") -> torch.Tensor:
    y = rows(n, m, seed=3)
    if loss == "logistic":
        return (y[:, 0] > 0).double()
    return y.argmax(1) if loss == "softmax" else y


def mean_squares(p: LadderPolynomial, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (p(x) - y).square().mean((-1, -2))


def assert_same(p: LadderPolynomial, q: LadderPolynomial, rtol: float = 1e-9, atol: float = 1e-9) -> None:
    assert p.batch_shape == q.batch_shape
    for name, t in p.tensors().items():
        torch.testing.assert_close(t, q.tensors()[name], rtol=rtol, atol=atol)


def force_conjugate_gradients(monkeypatch: Patch, limit: int) -> None:
    """Conjugate gradients, to the end, for blocks of more weights than the limit."""
    monkeypatch.setattr(block_step, "DIRECT_LIMIT", limit)
    monkeypatch.setattr(block_step, "CONJUGATE_TOLERANCE", 1e-10)
    monkeypatch.setattr(block_step, "CONJUGATE_LIMIT", 1000)


# Exactness


@pytest.mark.parametrize(("loss", "m"), [("squared", 1), ("squared", 3), ("logistic", 1), ("softmax", 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("chunk", "limit"), [(2**22, 4000), (1, 4000), (2**22, 0)])
def test_every_block_of_a_sweep_is_the_oracles_minimizer(
    loss: str, m: int, weighted: bool, chunk: int, limit: int, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(blocks_module, "CHUNK_NUMBERS", chunk)
    force_conjugate_gradients(monkeypatch, limit)
    n, layers = 300, 2
    x, y = rows(n, 2), targets(n, m, loss)
    p = random_ladder(d=2, hidden=(3, 4), m=m, batch_shape=(2,))
    weight = rows(n, 2, seed=4).abs().T.contiguous() if weighted else torch.ones(1, n, dtype=torch.float64)
    names = [f"{kind}.{l}" for kind in "WV" for l in range(layers)] + ["readout"]
    alpha = 10.0 ** torch.arange(-5, 0, dtype=torch.float64)[:, None] * torch.tensor([1.0, 3.0], dtype=torch.float64)
    blocks, target = blocks_of(p, x), quadratic_bound(loss, y, x, m)
    solved = []

    def check(solve: Callable[..., Any], block: Callable[[tuple[Any, ...]], int]) -> Callable[..., Any]:
        def checked(blocks: Blocks, *rest: Any) -> Any:
            before = blocks.polynomial().map(torch.clone)
            response, curvature = target.quadratic(before(x).mT)
            result = solve(blocks, *rest)
            b = block(rest)
            for i in range(2):
                w = (weight[i % len(weight)] * curvature[i % len(curvature)]).numpy()
                total = weight[i % len(weight)].sum().item()
                best = oracle.minimizer(before[i], x, names[b], response[i].T.numpy(), w, total, alpha[b, i].item())
                found = oracle.get_block(blocks.polynomial()[i], names[b])
                torch.testing.assert_close(found, best, rtol=1e-6, atol=1e-7)
            solved.append(names[b])
            return result

        return checked

    monkeypatch.setattr(sweep, "solve_layer", check(sweep.solve_layer, lambda rest: rest[0]))
    monkeypatch.setattr(sweep, "solve_readout", check(sweep.solve_readout, lambda _: 2 * layers))
    sweep.one_sweep(blocks, Objective(target, weight, Ridge(alpha, torch.zeros_like(alpha[0]))), estimating=False)
    assert solved == oracle.block_names(layers)


@pytest.mark.parametrize("limit", [4000, 0])
@pytest.mark.parametrize("m", [1, 2])
def test_three_sweeps_equal_the_oracles(m: int, limit: int, monkeypatch: Patch) -> None:
    force_conjugate_gradients(monkeypatch, limit)
    x, y = rows(60, 3), targets(60, m)
    p = random_ladder(d=3, hidden=(3, 2), m=m)
    weight = rows(60, 1, seed=4).abs()[:, 0]
    fit = fit_alternating(p, x, y, alpha=1e-2, sample_weight=weight, sweeps=3, tolerance=0.0)
    alpha = dict.fromkeys(oracle.block_names(2), 1e-2)
    expected, history = oracle.fit(p, x, y.numpy(), weight.numpy(), alpha, 3)
    assert_same(fit.polynomial, expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fit.training_loss.numpy(), history[1:], rtol=1e-9)


def test_a_ladder_without_layers_is_ridge_regression() -> None:
    x, y = rows(30, 3), targets(30, 2)
    alpha = torch.tensor([0.0, 0.1, 2.0], dtype=torch.float64)
    fit = fit_alternating(random_ladder(d=3, hidden=(), m=2, batch_shape=(3,)), x, y, alpha=alpha, sweeps=2)
    centered, wanted = x - x.mean(0), y - y.mean(0)
    for p, a in zip(fit.polynomial, alpha, strict=True):
        matrix = centered.T @ centered / 30 + a * torch.eye(3)
        slope = torch.linalg.solve(matrix, centered.T @ wanted / 30)
        torch.testing.assert_close(p.readout, slope.T)
        torch.testing.assert_close(p.offset, y.mean(0) - x.mean(0) @ slope)


def test_a_known_ladder_is_found_again() -> None:
    truth = random_ladder(d=2, hidden=(2, 2), m=1, seed=5)
    x = rows(300, 2)
    fit = fit_alternating(random_start(2, (4, 4), 1, 0, 4), x, truth(x), alpha=1e-9, sweeps=60, tolerance=0.0)
    assert mean_squares(fit.polynomial, x, truth(x)).min() < 1e-5 * truth(x).var()


def test_single_precision_comes_in_and_float64_goes_out() -> None:
    p = random_ladder(dtype=torch.float32)
    x, y = rows(30, 3), targets(30, 2)
    fit = fit_alternating(p, x.float(), y.float(), alpha=1e-2, sweeps=2)
    assert fit.polynomial.dtype == torch.float64
    assert_same(fit.polynomial, fit_alternating(p.to(torch.float64), x, y, alpha=1e-2, sweeps=2).polynomial, 1e-3, 1e-3)
    assert p.dtype == torch.float32


def test_the_start_is_left_as_it_was() -> None:
    p = random_ladder()
    before = p.map(torch.clone)
    fit_alternating(p, rows(30, 3), targets(30, 2), alpha=1e-2, sweeps=2)
    assert p == before


def test_the_starts_readout_does_not_matter_for_the_squared_loss() -> None:
    p, x, y = random_ladder(), rows(40, 3), targets(40, 2)
    other = oracle.with_block(p, "readout", 5 * oracle.get_block(p, "readout") - 1)
    fits = [fit_alternating(start, x, y, alpha=1e-2, sweeps=3).polynomial for start in (p, other)]
    assert_same(*fits, rtol=1e-7, atol=1e-8)


# Degenerate rows


def test_a_model_whose_objective_overflows_keeps_its_last_finite_weights() -> None:
    p, x = random_ladder(d=3, hidden=(), m=1, batch_shape=(2,)), rows(30, 3)
    fit = fit_alternating(p, x, 1e160 * targets(30, 1), alpha=1e-3, sweeps=3, tolerance=0.0)
    assert fit.diverged.all()
    assert not fit.stopped.any()
    assert fit.steps.tolist() == [0, 0]
    assert fit.polynomial == p


@pytest.mark.parametrize("column", ["duplicated", "zero"])
def test_singular_blocks_without_a_ridge(column: str) -> None:
    x = rows(60, 3)
    wide = torch.cat([x, x[:, :1] if column == "duplicated" else 0 * x[:, :1]], 1)
    y = targets(60, 1)
    fit = fit_alternating(random_start(4, (3, 2), 1, 0, 4), wide, y, alpha=0.0, sweeps=20, tolerance=0.0)
    # Undetermined directions are left where they are: nothing blows up, and only rounding can raise the objective.
    assert all(t.abs().max() < 1e3 for t in fit.polynomial.tensors().values())
    rise = fit.training_loss.diff().nan_to_num(nan=0.0)
    assert rise.max() < 1e-6
    assert (mean_squares(fit.polynomial, wide, y) < 0.95 * y.var()).all()


def test_a_constant_target_gives_its_constant() -> None:
    fit = fit_alternating(random_start(3, (4, 4), 1, 0, 2), rows(20, 3), torch.full((20, 1), 2.5), alpha=1e-3)
    torch.testing.assert_close(fit.polynomial(rows(5, 3, seed=9)), torch.full((2, 5, 1), 2.5, dtype=torch.float64))
    fit = fit_alternating(random_start(3, (4, 4), 1, 0, 2), rows(20, 3), torch.zeros(20), alpha="auto")
    assert (fit.polynomial(rows(5, 3, seed=9)).abs() < 1e-6).all()


# Rows


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_weight_zero_removes_a_row_and_weight_two_repeats_it(loss: Any, alpha: Any) -> None:
    m = 1 if loss == "logistic" else 2
    x, y = rows(40, 3), targets(40, m, loss)
    p = random_ladder(d=3, hidden=(3, 3), m=m)
    times = torch.arange(40) % 3  # 0, 1, 2, 0, 1, 2, ...
    weighted = fit_alternating(p, x, y, loss=loss, alpha=alpha, sample_weight=times, sweeps=6)
    index = torch.arange(40).repeat_interleave(times)
    repeated = fit_alternating(p, x[index], y[index], loss=loss, alpha=alpha, sweeps=6)
    assert_same(weighted.polynomial, repeated.polynomial, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(weighted.training_loss, repeated.training_loss, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(weighted.noise, repeated.noise, rtol=1e-6, atol=0)
    numbered = fit_alternating(p, x, y, loss=loss, alpha=alpha, rows=index, sweeps=6)
    assert_same(numbered.polynomial, weighted.polynomial)


def test_equal_weights_of_any_size_change_nothing() -> None:
    p, x, y = random_ladder(), rows(40, 3), targets(40, 2)
    fits = [fit_alternating(p, x, y, alpha=1e-2, sample_weight=torch.full((40,), w), sweeps=3) for w in (1.0, 1e-3)]
    assert_same(fits[0].polynomial, fits[1].polynomial)


# The batch


@pytest.mark.parametrize(
    ("loss", "alpha", "limit"),
    [
        ("squared", "given", 4000),
        ("squared", "auto", 4000),
        ("squared", "auto", 0),
        ("logistic", "auto", 4000),
        ("softmax", "given", 4000),
        ("softmax", "given", 0),
    ],
)
def test_a_model_of_a_batch_is_fitted_as_if_it_were_alone(
    loss: Any, alpha: str, limit: int, monkeypatch: Patch
) -> None:
    force_conjugate_gradients(monkeypatch, limit)
    m = 3 if loss == "softmax" else 1
    n, x = 60, rows(60, 3)
    y = random_ladder(d=3, hidden=(2,), m=m, seed=3)(x) + 0.3 * targets(n, m)
    y = (y[:, 0] > 0).double() if loss == "logistic" else y
    y = y.argmax(1) if loss == "softmax" else y
    start = random_start(3, (3, 3), m, [5, 6, 7, 8, 9, 10], 6).map(lambda t: t.reshape(2, 3, *t.shape[1:]))
    alphas = torch.tensor([[1e-4, 1e-2, 1.0], [1e-3, 1e-3, 1e-1]], dtype=torch.float64)
    folds = [(torch.arange(n) % 7 != k).nonzero().squeeze(-1) for k in range(6)]  # of different lengths
    options = {"loss": loss, "sweeps": 13 if limit else 8, "tolerance": 5e-2}
    grid = fit_alternating(start, x, y, alpha=alphas if alpha == "given" else "auto", rows=folds, **options)
    assert len(set(grid.steps.flatten().tolist())) > 1  # some stop before others
    for i, j in ((0, 0), (0, 2), (1, 1)):
        one = alphas[i, j] if alpha == "given" else "auto"
        alone = fit_alternating(start[i, j], x, y, alpha=one, rows=folds[3 * i + j], **options)
        assert_same(grid.polynomial[i, j], alone.polynomial, rtol=1e-5, atol=1e-6)
        assert grid.steps[i, j] == grid.best[i, j] == alone.steps
        assert grid.stopped[i, j] == alone.stopped
        steps = int(alone.steps)
        torch.testing.assert_close(grid.training_loss[i, j, :steps], alone.training_loss, rtol=1e-6, atol=1e-8)
        assert grid.training_loss[i, j, steps:].isnan().all()
        torch.testing.assert_close(grid.alpha[:, i, j], alone.alpha, rtol=1e-5, atol=1e-12)
        torch.testing.assert_close(grid.noise[i, j], alone.noise, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("batch_shape", [(), (3,), (2, 3)])
def test_shapes(batch_shape: tuple[int, ...]) -> None:
    p, x, y = random_ladder(batch_shape=batch_shape), rows(40, 3), targets(40, 2)
    calls: list[tuple[int, torch.Size]] = []
    fit = fit_alternating(
        p, x, y, alpha=0.1, sweeps=3, tolerance=0.0, progress=lambda i, objective: calls.append((i, objective.shape))
    )
    assert fit.polynomial.batch_shape == batch_shape
    assert fit.training_loss.shape == (*batch_shape, 3)
    assert fit.alpha.shape == (5, *batch_shape)
    assert (fit.alpha == 0.1).all()
    for name in ("noise", "steps", "best", "diverged", "stopped"):
        assert getattr(fit, name).shape == batch_shape
    assert fit.validation_loss is None
    assert not fit.diverged.any()
    assert not fit.interrupted
    assert fit.seconds > 0
    assert calls == [(i, torch.Size(batch_shape)) for i in (1, 2, 3)]
    # With a given ridge weight the noise is the mean squared residual.
    torch.testing.assert_close(fit.noise, mean_squares(fit.polynomial, x, y))
    held = fit_alternating(p, x, y, alpha=0.1, validation=torch.arange(20), sweeps=2)
    assert held.validation_loss is not None
    assert held.validation_loss.shape == (*batch_shape, 2)


# Stopping


def test_each_model_stops_by_its_own_tolerance() -> None:
    x, y = rows(80, 3), targets(80, 1)
    alpha = torch.tensor([10.0, 1e-5], dtype=torch.float64)
    fit = fit_alternating(random_start(3, (4, 4), 1, 0, 2), x, y, alpha=alpha, sweeps=100, tolerance=1e-3)
    for curve, last in zip(fit.training_loss, fit.steps.tolist(), strict=True):
        falls = (-curve[:last].diff() / curve[1:last]).tolist()
        assert falls[-1] <= 1e-3
        assert all(fall > 1e-3 for fall in falls[:-1])
    assert fit.steps[0] < fit.steps[1] < 100
    assert fit.stopped.all()


def overfitting(patience: int, sweeps: int = 60) -> tuple[AlternatingFit, torch.Tensor, torch.Tensor, torch.Tensor]:
    x = rows(60, 3)
    y = x[:, :1] * x[:, 1:2] + 0.5 * rows(60, 1, seed=3)
    held = torch.arange(1, 60, 2)
    fit = fit_alternating(
        random_start(3, (3, 3), 1, 0, 4),
        x,
        y,
        alpha=1e-4,
        validation=held,
        sweeps=sweeps,
        patience=patience,
    )
    return fit, x, y, held


@pytest.mark.parametrize("patience", [1, 4])
def test_validation_keeps_the_weights_of_the_best_sweep(patience: int) -> None:
    fit, x, y, held = overfitting(patience)
    assert fit.validation_loss is not None
    assert fit.validation_loss.shape == fit.training_loss.shape
    assert fit.stopped.any()
    for i in range(4):
        curve = fit.validation_loss[i, : int(fit.steps[i])]
        best = int(curve.argmin())
        assert fit.best[i] == best + 1
        if fit.stopped[i]:
            assert len(curve) == best + 1 + patience
        error = (fit.polynomial[i](x) - y).square()[held, 0]
        assert error.mean().item() == pytest.approx(curve.min().item(), rel=1e-9)
        # A fit that is cut off right there ends with the same weights.
        short = overfitting(patience, sweeps=best + 1)[0]
        assert_same(fit.polynomial[i], short.polynomial[i], rtol=1e-12, atol=1e-12)


def test_each_model_has_its_own_validation_rows_and_end() -> None:
    n, x = 60, rows(60, 3)
    y = x[:, :1] * x[:, 1:2] + 0.5 * rows(60, 1, seed=3)
    start = random_start(3, (3, 3), 1, 0, 4)
    held = torch.arange(n).reshape(-1, 4).T
    options = {"alpha": 1e-4, "sweeps": 40, "patience": 2}
    grid = fit_alternating(start, x, y, validation=held, **options)
    assert len(set(grid.steps.tolist())) > 1
    for i in range(4):
        alone = fit_alternating(start[i], x, y, validation=held[i], **options)
        assert grid.steps[i] == alone.steps
        assert grid.validation_loss is not None
        curve = grid.validation_loss[i, : int(alone.steps)]
        torch.testing.assert_close(curve, alone.validation_loss, rtol=1e-6, atol=1e-9)
        assert_same(grid.polynomial[i], alone.polynomial, rtol=1e-5, atol=1e-6)


# Empirical Bayes


def test_auto_starts_by_the_models_own_number_of_rows() -> None:
    numbers = [torch.arange(n) for n in (600, 400, 20)]
    fit = fit_alternating(random_start(3, (2,), 1, 0, 3), rows(600, 3), targets(600, 1), rows=numbers, sweeps=1)
    start = torch.tensor([START / 600, START / 400, 1e-3], dtype=torch.float64)
    torch.testing.assert_close(fit.alpha, start.expand(3, 3))


def noisy_ladder(noise: float) -> tuple[torch.Tensor, torch.Tensor, Callable[[LadderPolynomial], float]]:
    """Rows and noisy targets of a known ladder, signal variance 1, and how far an ensemble's mean is from the truth."""
    truth = random_ladder(d=4, hidden=(2, 2), m=1, seed=3)
    x, fresh = rows(400, 4), rows(2000, 4, seed=8)
    scale = truth(x).std()

    def error(p: LadderPolynomial) -> float:
        return (p(fresh).mean(0) - truth(fresh) / scale).square().mean().item()

    return x, truth(x) / scale + noise * rows(400, 1, seed=2), error


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.1, 0.4])
def test_auto_estimates_the_noise_and_is_near_the_best_of_a_grid(noise: float) -> None:
    x, y, error = noisy_ladder(noise)
    start = random_start(4, (5, 5), 1, range(4), 4)
    auto = fit_alternating(start, x, y, sweeps=30)
    assert noise**2 / 1.5 < auto.noise.mean().item() < 1.5 * noise**2
    grid = [error(fit_alternating(start, x, y, alpha=10.0**e, sweeps=30).polynomial) for e in range(-7, 1)]
    assert error(auto.polynomial) < 1.5 * min(grid)
    assert error(auto.polynomial) < 0.25 * max(grid)


@pytest.mark.slow
def test_auto_with_conjugate_gradients_estimates_what_the_direct_solver_does(monkeypatch: Patch) -> None:
    x, y, error = noisy_ladder(0.4)
    start = random_start(4, (5, 5), 1, range(4), 4)
    direct = fit_alternating(start, x, y, sweeps=7)
    force_conjugate_gradients(monkeypatch, 0)
    iterative = fit_alternating(start, x, y, sweeps=7)
    assert 0.4**2 / 1.5 < iterative.noise.mean().item() < 1.5 * 0.4**2
    # Layers and gates; 25 or 30 weights a block, of which signs count all but a quarter right.
    ratio = (iterative.alpha / direct.alpha).log().mean(1).exp()
    assert ((ratio > 0.5) & (ratio < 2.0)).all()
    assert error(iterative.polynomial) < 1.2 * error(direct.polynomial)


@pytest.mark.parametrize("limit", [4000, 0])
def test_auto_on_pure_noise_ends_near_a_constant(limit: int, monkeypatch: Patch) -> None:
    force_conjugate_gradients(monkeypatch, limit)
    x, y = rows(60, 3), targets(60, 1)
    fit = fit_alternating(random_start(3, (3, 3), 1, 0, 4), x, y)
    assert all(t.isfinite().all() for t in fit.polynomial.tensors().values())
    assert fit.polynomial(x).std(-2).max() < 0.5 * y.std()


def test_at_its_fixed_point_the_evidence_of_each_block_is_stationary() -> None:
    """The marginal likelihood of one block's regression, written out, has no slope in that block's log ridge weight."""
    n, m = 100, 2
    x = rows(n, 2)
    y = random_ladder(d=2, hidden=(2,), m=m, seed=3)(x) + 0.3 * rows(n, m, seed=2)
    fit = fit_alternating(random_ladder(d=2, hidden=(2,), m=m), x, y, noise_inflation=0.0, sweeps=200, tolerance=0.0)
    p, s = fit.polynomial, fit.noise.item()
    determined = 0.0
    for b, name in enumerate(("W.0", "V.0", "readout")):
        rest, columns = (torch.from_numpy(t) for t in oracle.features(p, x, name))
        design, wanted = columns.flatten(0, 1), (y - rest).flatten()
        free = torch.from_numpy(oracle.penalties(p, name, 1.0) == 0)

        def evidence(log_alpha: float, design=design, wanted=wanted, free=free) -> float:
            variance = torch.where(free, 1e6, s / (n * math.exp(log_alpha))).double()
            covariance = s * torch.eye(len(wanted)) + (design * variance) @ design.T
            return -0.5 * float(torch.logdet(covariance) + wanted @ torch.linalg.solve(covariance, wanted))

        at = math.log(fit.alpha[b].item())
        slope = (evidence(at + 1e-3) - evidence(at - 1e-3)) / 2e-3
        curvature = (evidence(at + 0.5) + evidence(at - 0.5) - 2 * evidence(at)) / 0.25
        assert curvature < 0
        assert abs(slope / curvature) < 0.02
        ridge = n * torch.where(free, 0.0, fit.alpha[b])
        hat = torch.linalg.solve(design.T @ design + torch.diag(ridge), design.T)
        determined += torch.trace(design @ hat).item()
    # The residuals have lost one degree of freedom for each weight that the data determine.
    assert s == pytest.approx((p(x) - y).square().sum().item() / (n * m - determined), rel=1e-3)


def test_noise_inflation_multiplies_the_estimates() -> None:
    x = rows(200, 3)
    y = x[:, :1] * x[:, 1:2] + 0.5 * rows(200, 1, seed=3)
    start = random_start(3, (3,), 1, [0, 0], 2)
    fit = fit_alternating(start, x, y, noise_inflation=torch.tensor([0.0, 5.0]), sweeps=WARM_UP + 1)
    torch.testing.assert_close(fit.alpha[:, 1], (1 + 5 * fit.noise[1]) * fit.alpha[:, 0], rtol=1e-9, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "m"), [("logistic", 1), ("softmax", 3)])
def test_auto_for_classes(loss: Any, m: int) -> None:
    x, fresh = rows(300, 4), rows(2000, 4, seed=8)
    truth = random_ladder(d=4, hidden=(2,), m=m, seed=3)

    def classes(x: torch.Tensor, seed: int) -> torch.Tensor:
        f = 2 * truth(x)
        chances = torch.cat([0 * f, f], 1).softmax(1) if m == 1 else f.softmax(1)
        return torch.multinomial(chances, 1, generator=torch.Generator().manual_seed(seed))[:, 0]

    def error(p: LadderPolynomial) -> float:
        f = p(fresh).mean(0)
        both = torch.cat([0 * f, f], 1) if m == 1 else f
        return torch.nn.functional.cross_entropy(both, classes(fresh, 1)).item()

    y = classes(x, 0)
    start = random_start(4, (4, 4), m, range(3), 3)
    auto = fit_alternating(start, x, y, loss=loss, sweeps=30)
    assert (auto.noise == 0.5).all()
    grid = [error(fit_alternating(start, x, y, loss=loss, alpha=10.0**e, sweeps=30).polynomial) for e in range(-6, 0)]
    assert error(auto.polynomial) < min(grid) + 0.03
    assert error(auto.polynomial) < max(grid) - 0.05


# Bad input


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"alpha": -1.0}, r"alpha must be in \[0, inf\); got -1"),
        ({"alpha": math.nan}, r"alpha must be in \[0, inf\); got nan"),
        ({"alpha": torch.ones(3)}, r"alpha must be one number or have shape \(2,\), one per model; got shape \(3,\)"),
        ({"alpha": "best"}, "alpha must be a non-negative number, one per model, or 'auto'; got 'best'"),
        ({"noise_inflation": -1.0}, r"noise_inflation must be in \[0, inf\); got -1"),
        ({"loss": "hinge"}, "loss must be one of 'squared', 'logistic', 'softmax', 'huber'; got 'hinge'"),
        ({"loss": "logistic"}, "must have 1 output for the loss 'logistic'; got 3"),
        ({"loss": "softmax"}, "y must hold one whole number per row"),
        ({"loss": "softmax", "y": torch.full((10,), 3)}, "y must be in 0, ..., 2, one class per output; got 3 to 3"),
        ({"y": torch.zeros(10, 2)}, r"y must have shape \(10, 3\); got shape \(10, 2\)"),
        ({"y": torch.zeros(10)}, r"y must have shape \(10, 3\); got shape \(10,\)"),
        ({"y": torch.full((10, 3), math.nan)}, "y must be finite"),
        ({"x": torch.full((10, 4), math.inf)}, "x must be finite"),
        ({"x": torch.zeros(10, 5)}, r"x must have shape \(n, 4\), n > 0; got shape \(10, 5\)"),
        ({"x": torch.zeros(10, 4).to_sparse()}, "x must be dense for exact solves"),
        ({"x": torch.zeros(2, 10, 4)}, r"x must have shape \(n, 4\), n > 0; got shape \(2, 10, 4\)"),
        ({"x": torch.zeros(0, 4), "y": torch.zeros(0, 3)}, r"x must have shape \(n, 4\), n > 0; got shape \(0, 4\)"),
        ({"sample_weight": torch.ones(9)}, r"sample_weight must have shape \(10,\); got shape \(9,\)"),
        ({"sample_weight": torch.ones(2, 10)}, r"sample_weight must have shape \(10,\); got shape \(2, 10\)"),
        ({"sample_weight": -torch.ones(10)}, "sample_weight must be finite and not negative"),
        ({"sample_weight": torch.full((10,), math.nan)}, "sample_weight must be finite and not negative"),
        ({"sample_weight": torch.zeros(10)}, "sample_weight must be positive for some row of every model"),
        ({"rows": torch.ones(10)}, "rows must be vectors of row numbers"),
        ({"rows": torch.arange(11)}, "rows must be in 0, ..., 9, the rows of x; got 0 to 10"),
        ({"validation": torch.arange(10)}, "validation must leave rows to train on; got all 10"),
        ({"sweeps": 0}, "sweeps must be a positive integer; got 0"),
        ({"patience": 0}, "patience must be a positive integer; got 0"),
    ],
)
def test_refusals(change: dict[str, Any], words: str) -> None:
    arguments = {"x": rows(10, 4), "y": rows(10, 3), "alpha": 1e-3} | change
    x, y = arguments.pop("x"), arguments.pop("y")
    with pytest.raises(ValueError, match=words):
        fit_alternating(random_ladder(d=4, m=3, batch_shape=(2,)), x, y, **arguments)


def test_two_classes_must_be_0_and_1() -> None:
    with pytest.raises(ValueError, match="y must hold only 0 and 1 for the loss 'logistic'; got -1 to 1"):
        fit_alternating(random_ladder(m=1), rows(4, 3), torch.tensor([-1.0, 1.0, 1.0, -1.0]), loss="logistic")


def test_random_starts_belong_to_their_seeds() -> None:
    batch = random_start(3, (4, 5), 2, [3, 1, 4], 3)
    assert (batch.dtype, tuple(batch.batch_shape)) == (torch.float64, (3,))
    assert stack([random_start(3, (4, 5), 2, [seed], 1)[0] for seed in (3, 1, 4)]) == batch
