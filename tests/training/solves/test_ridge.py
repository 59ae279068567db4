import math

import pytest
import torch

from polyladder.training.solves.ridge import START, Ridge, first_ridge


def ones(count: int) -> torch.Tensor:
    return torch.ones(count, dtype=torch.float64)


def test_a_given_ridge_is_one_number_or_one_per_model() -> None:
    rows = torch.tensor([100.0], dtype=torch.float64)
    one = first_ridge(0.5, 0.0, 3, rows, (2, 2))
    assert torch.equal(one.alpha, torch.full((3, 4), 0.5, dtype=torch.float64))
    each = first_ridge(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 0.0, 3, rows, (2, 2))
    assert torch.equal(each.alpha, torch.tensor([[1.0, 2.0, 3.0, 4.0]] * 3, dtype=torch.float64))
    kept = each.select(torch.tensor([True, False, False, True]))
    assert kept.alpha.tolist() == [[1.0, 4.0]] * 3
    assert kept.noise_inflation.shape == (2,)


def test_auto_starts_the_lower_the_more_rows_there_are() -> None:
    rows = torch.tensor([10.0, 1000.0], dtype=torch.float64)
    found = first_ridge("auto", 0.0, 2, rows, (2,)).alpha
    torch.testing.assert_close(found[0], torch.tensor([1e-3, START / 1000], dtype=torch.float64))
    assert torch.equal(found[0], found[1])


@pytest.mark.parametrize("alpha", [-1.0, math.nan, math.inf])
def test_numbers_that_are_no_ridge_are_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match=r"alpha must be in \[0, inf\); got"):
        first_ridge(alpha, 0.0, 1, ones(1), ())
    with pytest.raises(ValueError, match=r"noise_inflation must be in \[0, inf\); got"):
        first_ridge(0.1, alpha, 1, ones(1), ())


def test_words_that_are_no_ridge_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha must be a non-negative number, one per model, or 'auto'; got 'none'"):
        first_ridge("none", 0.0, 1, ones(1), ())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"alpha must be one number or have shape \(2,\)"):
        first_ridge(torch.ones(3), 0.0, 1, ones(1), (2,))


def test_the_estimate_is_where_the_evidence_of_a_regression_is_stationary() -> None:
    """One regression by its marginal likelihood, written out; its fixed point found by repeating the estimate."""
    g = torch.Generator().manual_seed(0)
    n, p, noise = 40, 3, 0.3
    X = torch.randn(n, p, generator=g, dtype=torch.float64)
    y = X @ torch.tensor([0.5, -0.2, 0.1], dtype=torch.float64)
    y = y + noise**0.5 * torch.randn(n, generator=g, dtype=torch.float64)
    s, rows = torch.tensor([noise], dtype=torch.float64), torch.tensor([float(n)], dtype=torch.float64)
    ridge = Ridge(torch.full((1, 1), 0.1, dtype=torch.float64), torch.zeros(1, dtype=torch.float64))
    G = X.T @ X / n
    for _ in range(200):
        inverse = torch.linalg.inv(G + ridge.alpha[0, 0] * torch.eye(p))
        theta = inverse @ (X.T @ y) / n
        determined = p - ridge.alpha[0, 0] * inverse.trace()
        ridge = ridge.estimated(theta.square().sum().reshape(1, 1), determined.reshape(1, 1), s, rows)

    def evidence(log_alpha: float) -> float:
        covariance = noise * torch.eye(n) + noise / (n * math.exp(log_alpha)) * X @ X.T
        return -0.5 * float(torch.logdet(covariance) + y @ torch.linalg.solve(covariance, y))

    at = math.log(ridge.alpha.item())
    assert abs(evidence(at + 1e-3) - evidence(at - 1e-3)) / 2e-3 < 1e-6
    assert evidence(at) > max(evidence(at - 0.5), evidence(at + 0.5))


def test_estimates_stay_within_bounds_and_grow_with_inflation() -> None:
    two = ones(2)
    calm = Ridge(ones(2).reshape(1, 2), torch.zeros(2, dtype=torch.float64))
    hard = calm.estimated(0 * two.reshape(1, 2), two.reshape(1, 2), two, two)
    assert hard.alpha.tolist() == [[1e2, 1e2]]
    soft = calm.estimated(1e9 * two.reshape(1, 2), two.reshape(1, 2), 0 * two, two)
    assert (soft.alpha == 1e-10).all()
    inflated = Ridge(calm.alpha, torch.tensor([0.0, 3.0], dtype=torch.float64))
    noisy = inflated.estimated(two.reshape(1, 2), two.reshape(1, 2), 0.5 * two, 10 * two)
    assert noisy.alpha[0].tolist() == pytest.approx([0.05, 0.05 * 2.5])
