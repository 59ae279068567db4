"""R-hat and effective sample size against ArviZ, a slow reading of their definition, and chains of known behavior."""

import sys

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from polyladder.predictive.diagnostics import effective_sample_size, split_rhat, to_arviz
from tests.oracles import chains as oracle

# az.rhat and az.ess (ArviZ 0.23.4) of oracle.autoregressive(rho, 4, n, seed), computed in an environment of its own.
ARVIZ = [
    # rho, n, seed, rhat, ess
    (-0.5, 100, 1, 1.0035064192273135, 1040.823996531185),
    (0.0, 101, 2, 0.9991253162656388, 414.58547243075253),
    (0.5, 250, 3, 1.0071692818908915, 350.2065431973105),
    (0.9, 400, 4, 1.038219466107937, 100.01747576465118),
    (0.99, 60, 5, 3.025736778387872, 5.194040140601569),
]


def draws(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize(("rho", "n", "seed", "rhat", "ess"), ARVIZ)
def test_agrees_with_numbers_from_arviz(rho: float, n: int, seed: int, rhat: float, ess: float) -> None:
    x = torch.from_numpy(oracle.autoregressive(rho, 4, n, seed))
    assert float(split_rhat(x)) == pytest.approx(rhat, rel=1e-9)
    assert float(effective_sample_size(x)) == pytest.approx(ess, rel=1e-9)


def test_agrees_with_the_arviz_that_is_installed() -> None:
    az = pytest.importorskip("arviz")
    for seed, rho in enumerate((-0.6, 0.0, 0.6, 0.95)):
        x = oracle.autoregressive(rho, 3, 151, seed)
        assert float(split_rhat(torch.from_numpy(x))) == pytest.approx(float(az.rhat(x)), rel=1e-9)
        assert float(effective_sample_size(torch.from_numpy(x))) == pytest.approx(float(az.ess(x)), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    chains=st.integers(1, 4),
    n=st.integers(4, 45),
    rho=st.floats(-0.9, 0.95),
    ties=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_equals_the_definition(chains: int, n: int, rho: float, ties: bool, seed: int) -> None:
    x = oracle.autoregressive(rho, chains, n, seed)
    x = np.round(3 * x) if ties else x
    assume(np.ptp(oracle.halves_of(x)) > 0)
    with np.errstate(all="ignore"):
        rhat = oracle.rhat(x)
    assert float(effective_sample_size(torch.from_numpy(x))) == pytest.approx(oracle.ess(x), rel=1e-8)
    assert float(split_rhat(torch.from_numpy(x))) == pytest.approx(rhat, rel=1e-8, nan_ok=True)


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_autoregressive_chains(rho: float) -> None:
    x = oracle.autoregressive(rho, 64, 2000, seed=7)
    known = x.size * (1 - rho) / (1 + rho)
    assert float(effective_sample_size(torch.from_numpy(x))) == pytest.approx(known, rel=0.08)


def test_chains_that_disagree_are_found() -> None:
    x = draws(4, 200)
    assert float(split_rhat(x)) < 1.02
    shifted = x + torch.tensor([0.0, 0.0, 0.0, 1.5], dtype=x.dtype).unsqueeze(1)
    assert float(split_rhat(shifted)) > 1.2
    # Equal means and unequal spreads: only the folded version sees it.
    spread = x * torch.tensor([1.0, 1.0, 1.0, 5.0], dtype=x.dtype).unsqueeze(1)
    assert float(split_rhat(spread)) > 1.1
    # One chain that drifts: only splitting sees it.
    drift = x[:1] + torch.linspace(-2, 2, 200, dtype=x.dtype)
    assert float(split_rhat(drift)) > 1.2
    assert float(effective_sample_size(shifted)) < 20 < 400 < float(effective_sample_size(x))


def test_every_quantity_is_computed_alone() -> None:
    x = draws(3, 50, 2, 4)
    x[..., 1, 2] += 2 * torch.arange(3.0).unsqueeze(1)
    for function in (split_rhat, effective_sample_size):
        together = function(x)
        assert together.shape == (2, 4)
        alone = torch.stack([torch.stack([function(x[..., i, j]) for j in range(4)]) for i in range(2)])
        assert torch.allclose(together, alone, rtol=1e-12)


def test_ranks_make_them_blind_to_monotone_maps_and_heavy_tails() -> None:
    x = draws(4, 100)
    assert torch.equal(effective_sample_size(x), effective_sample_size(x.exp()))
    cauchy = torch.tan(torch.pi * (torch.special.ndtr(x) - 0.5))
    assert torch.allclose(effective_sample_size(cauchy), effective_sample_size(x))
    assert float(split_rhat(cauchy)) < 1.05


def test_what_is_not_finite_or_does_not_move() -> None:
    x = draws(2, 20, 3)
    x[1, 3, 0] = torch.inf
    x[..., 1] = 4.0
    assert split_rhat(x).isnan().tolist() == [True, True, False]
    ess = effective_sample_size(x)
    assert ess.isnan().tolist() == [True, False, False]
    assert float(ess[1]) == 40


def test_refuses_what_is_not_a_set_of_chains() -> None:
    with pytest.raises(ValueError, match=r"at least 4 draws; got shape \(2, 3\)"):
        split_rhat(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"got shape \(10,\)"):
        effective_sample_size(torch.zeros(10))
    with pytest.raises(TypeError, match=r"must be a torch\.Tensor; got list"):
        split_rhat([[1.0, 2.0]])  # type: ignore[arg-type]


def test_without_arviz_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[bayes\]'"):
        to_arviz({"noise": draws(2, 10)})


def test_hands_draws_to_arviz() -> None:
    pytest.importorskip("arviz")
    noise, outputs = draws(2, 10), draws(2, 10, 5)
    data = to_arviz({"noise": noise}, posterior_predictive={"y": outputs}, observed_data={"y": draws(5)})
    assert np.array_equal(data.posterior["noise"].values, noise.numpy())
    assert data.posterior_predictive["y"].shape == (2, 10, 5)
    assert data.observed_data["y"].shape == (5,)
