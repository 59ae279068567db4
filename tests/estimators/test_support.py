import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder.estimators.rows import TrainingRows
from polyladder.estimators.support import states, support
from polyladder.polynomial.sparse import as_rows
from polyladder.training.losses.squared import SQUARED
from tests import ladders

MEMBERS = ladders.random_ladder(2, (3, 2), 1, (3,), seed=1)


def rows(z: torch.Tensor, weight: torch.Tensor | None = None) -> TrainingRows:
    return TrainingRows(z, torch.zeros(len(z), 1), weight, 1, SQUARED)


def leverages(z: np.ndarray, at: np.ndarray, member: int) -> np.ndarray:
    """Of rows in the regression on a member's last states: n h' (H' H)^-1 h, by the pseudoinverse."""

    def last(x: np.ndarray) -> np.ndarray:
        return np.column_stack([MEMBERS[member].hidden_states(torch.from_numpy(x))[-1].numpy(), np.ones(len(x))])

    H, h = last(z), last(at)
    return len(z) * np.einsum("ni,ij,nj->n", h, np.linalg.pinv(H.T @ H), h)


def test_leverages_are_those_of_the_readout_regression() -> None:
    z, far = ladders.rows(30, 2), 3 * ladders.rows(5, 2, seed=2)
    found = support(MEMBERS, rows(z), None)
    assert found.count == 30
    new = found.leverages(MEMBERS, far)
    assert new.shape == (3, 5)
    for i in range(3):
        np.testing.assert_allclose(new[i], leverages(z.numpy(), far.numpy(), i), rtol=1e-6)
        assert found.largest[i].item() == np.float64(found.leverages(MEMBERS, z)[i].max())
    # The mean over the training rows is the number of weights of the readout.
    torch.testing.assert_close(found.leverages(MEMBERS, z).mean(1), torch.full((3,), 3.0).double(), rtol=1e-6, atol=0)


def test_rows_of_weight_zero_support_nothing() -> None:
    z = ladders.rows(30, 2)
    weight = torch.ones(30, dtype=torch.float64)
    weight[10:] = 0.0
    weight[0] = 7.0  # how often a row counts says nothing about where there are rows
    found, expected = support(MEMBERS, rows(z, weight), None), support(MEMBERS, rows(z[:10]), None)
    assert found.count == 10
    torch.testing.assert_close(found.gram, expected.gram)
    torch.testing.assert_close(found.largest, expected.largest)


def test_earlier_rows_are_remembered() -> None:
    z = ladders.rows(30, 2)
    first = support(MEMBERS, rows(z[:20]), None)
    both, whole = support(MEMBERS, rows(z[20:]), first), support(MEMBERS, rows(z), None)
    assert both.count == 30
    torch.testing.assert_close(both.gram, whole.gram)
    torch.testing.assert_close(both.factor, whole.factor)
    assert (both.largest >= first.largest).all()
    assert first.count == 20


def test_a_unit_that_is_switched_off_is_no_obstacle() -> None:
    dead = MEMBERS.map(torch.clone)
    dead.W[1][:, 0], dead.b[1][:, 0] = 0.0, 0.0
    z = ladders.rows(30, 2)
    found = support(dead, rows(z), None).leverages(dead, z)
    assert found.isfinite().all()
    torch.testing.assert_close(found.mean(1), torch.full((3,), 2.0).double(), rtol=1e-6, atol=0)


def test_some_of_the_members() -> None:
    z = ladders.rows(30, 2)
    found = support(MEMBERS, rows(z), None)
    part = found.select([2, 0])
    chosen = MEMBERS[torch.tensor([2, 0])]
    torch.testing.assert_close(part.leverages(chosen, z), found.leverages(MEMBERS, z)[[2, 0]])
    assert part.largest.shape == (2,)


def test_sparse_rows_and_ladders_without_layers() -> None:
    z = ladders.rows(30, 2)
    thin = as_rows(sparse.csr_matrix(z.numpy()))
    torch.testing.assert_close(support(MEMBERS, rows(thin), None).gram, support(MEMBERS, rows(z), None).gram)
    affine = ladders.random_ladder(2, (), 1, (3,))
    assert states(affine, z).shape == (3, 30, 3)
    torch.testing.assert_close(states(affine, z)[1, :, :2], z)


def test_of_many_rows_some_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    z = ladders.rows(3000, 2)
    whole = support(MEMBERS, rows(z), None)
    monkeypatch.setattr("polyladder.estimators.support.MOST_ROWS", 1000)
    some = support(MEMBERS, rows(z), None)
    assert (whole.count, some.count) == (3000, 1000)
    at = ladders.rows(20, 2, seed=2)
    ratio = some.leverages(MEMBERS, at) / whole.leverages(MEMBERS, at)
    assert (ratio > 0.5).all()
    assert (ratio < 2).all()
