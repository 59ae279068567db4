import math

import numpy as np
import pytest
import torch

from polyladder.training.solves.blocks import NormalEquations
from polyladder.training.solves.cholesky import cholesky, solve_ridge
from tests.ladders import rows


def test_cholesky_factorizes() -> None:
    h = rows(20, 4)
    gram, penalty = (h.T @ h).expand(2, 4, 4), rows(2, 4, seed=2).abs()
    factor = cholesky(gram, penalty)
    torch.testing.assert_close(factor @ factor.mT, gram + torch.diag_embed(penalty), rtol=1e-13, atol=1e-13)


def test_jitter_goes_only_to_the_models_that_need_it() -> None:
    h = rows(20, 4)
    duplicated = h.clone()
    duplicated[:, 3] = h[:, 0]
    empty = h.clone()
    empty[:, 2] = 0.0
    gram = torch.stack([a.T @ a for a in (h, duplicated, empty, 0 * h, 1e-9 * duplicated)])
    factor = cholesky(gram, torch.zeros(5, 4, dtype=torch.float64))
    product = factor @ factor.mT
    torch.testing.assert_close(factor[0], torch.linalg.cholesky(gram[0]), rtol=1e-14, atol=1e-14)
    scale = gram.diagonal(dim1=-2, dim2=-1).amax(-1)
    off = (product - gram).abs().amax((1, 2)) / torch.where(scale > 0, scale, 1.0)
    assert (off < 1.1e-11).all()
    added = (product - gram).diagonal(dim1=-2, dim2=-1)
    torch.testing.assert_close(added[1], 1e-12 * gram[1].diagonal(), rtol=0.05, atol=0)
    assert added[2, 2].item() == pytest.approx(1e-12 * gram[2].diagonal().mean().item(), rel=1e-6)
    torch.testing.assert_close(added[3], torch.full((4,), 1e-12, dtype=torch.float64))
    torch.testing.assert_close(added[4], 1e-12 * gram[4].diagonal(), rtol=0.05, atol=0)


def test_jitter_grows_until_the_factorization_succeeds() -> None:
    gram = torch.diag(torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)).unsqueeze(0)
    gram[0, 0, 1] = gram[0, 1, 0] = 1 + 1e-7  # not positive definite, by far more than rounding
    factor = cholesky(gram, torch.zeros(1, 3, dtype=torch.float64))
    torch.testing.assert_close((factor @ factor.mT - gram)[0].diagonal(), torch.full((3,), 1e-6, dtype=torch.float64))


def test_a_pivot_that_is_only_rounding_counts_as_a_failure() -> None:
    eps = torch.finfo(torch.float64).eps
    gram = torch.tensor([[[1.0, 1.0], [1.0, 1.0 + eps]]], dtype=torch.float64)
    assert not torch.linalg.cholesky_ex(gram).info
    factor = cholesky(gram, torch.zeros(1, 2, dtype=torch.float64))
    assert factor[0, 1, 1].square().item() == pytest.approx(2e-12, rel=1e-2)


def test_undetermined_directions_are_left_where_they_are() -> None:
    features = rows(20, 3)[:, [0, 1, 0]]
    old = 100 * rows(3, 1, seed=6)[None]
    left = rows(20, 1, seed=5) - features @ old[0]
    equations = NormalEquations((features.T @ features)[None] / 20, (features.T @ left)[None] / 20)
    new = old + solve_ridge(equations, torch.zeros(1, 3, dtype=torch.float64), old)[0]
    # Rounding over jitter, 1e-16 over 1e-12, is what can move them.
    torch.testing.assert_close(new[0, 0] - new[0, 2], old[0, 0] - old[0, 2], rtol=1e-3, atol=0)
    expected = np.linalg.lstsq(features[:, :2].numpy(), rows(20, 1, seed=5).numpy(), rcond=None)[0][:, 0]
    np.testing.assert_allclose([(new[0, 0] + new[0, 2]).item(), new[0, 1].item()], expected, atol=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0])
def test_what_no_jitter_helps_is_refused(bad: float) -> None:
    gram = torch.eye(2, dtype=torch.float64).unsqueeze(0) * bad
    with pytest.raises(ValueError, match="rows must be finite and of moderate size"):
        cholesky(gram, torch.zeros(1, 2, dtype=torch.float64))
