import pytest
import torch

from polyladder import PolynomialKernelRegressor
from polyladder.estimators.rivals.polynomial_kernel import mean_network, outputs_joined
from polyladder.models.polynomial_kernel import PolynomialKernel
from tests.estimators.rivals.test_rivals import product_rows
from tests.ladders import rows


def networks(m: int) -> list[PolynomialKernel]:
    return [PolynomialKernel(4, 2 + i, m, 3, seed=i, dtype=torch.float64) for i in range(3)]


def test_the_mean_of_networks_is_one_network() -> None:
    z, each = rows(6, 4), networks(2)
    mean = mean_network(each)
    assert mean.rank == 2 + 3 + 4
    torch.testing.assert_close(mean(z), torch.stack([net(z) for net in each]).mean(0).detach())
    assert not mean.weights.requires_grad


def test_outputs_of_networks_one_after_another() -> None:
    z, each = rows(6, 4), networks(1)
    joined = outputs_joined(each)
    torch.testing.assert_close(joined(z), torch.cat([net(z) for net in each], 1).detach())


@pytest.mark.parametrize(
    ("rows", "degree", "networks", "directions"), [(50, 2, 4, 16), (50, 3, 4, 10), (4000, 4, 2, 16)]
)
def test_kernels_have_as_many_factors_at_every_degree(rows: int, degree: int, networks: int, directions: int) -> None:
    X, y = product_rows(rows)
    model = PolynomialKernelRegressor(degree=degree, max_iter=1, random_state=0).fit(X, y)
    assert model.kernel_.rank == networks * directions
    assert PolynomialKernelRegressor(degree, rank=3, n_estimators=2, max_iter=1).fit(X, y).kernel_.rank == 6


def test_a_rank_that_is_none_is_refused() -> None:
    X, y = product_rows(20)
    with pytest.raises(ValueError, match=r"'rank' parameter of PolynomialKernelRegressor must be an int .* or 'auto'"):
        PolynomialKernelRegressor(rank="many").fit(X, y)
