import numpy as np
import pytest
import torch

from polyladder import FactorizationMachineRegressor
from polyladder.estimators.rivals import factorization_machine
from polyladder.estimators.rivals.factorization_machine import mean_machine, outputs_joined, rescaled
from polyladder.models.factorization_machine import FactorizationMachine
from tests.estimators.rivals.test_rivals import product_rows
from tests.ladders import rows
from tests.models import contract


def machines(order: int, m: int) -> list[FactorizationMachine]:
    ranks = (1, 2, 3)
    return [contract.scrambled(lambda r=r, **options: FactorizationMachine(4, r, m, order, **options)) for r in ranks]


@pytest.mark.parametrize("order", [2, 3])
def test_the_mean_of_machines_is_one_machine(order: int) -> None:
    z, each = rows(6, 4), machines(order, 2)
    mean = mean_machine(each)
    assert (mean.rank, mean.order) == (6, order)
    torch.testing.assert_close(mean(z), torch.stack([machine(z) for machine in each]).mean(0).detach())
    assert not mean.training
    assert not mean.linear.requires_grad


@pytest.mark.parametrize("order", [2, 3])
def test_outputs_of_machines_one_after_another(order: int) -> None:
    z = rows(6, 4)
    each = [machines(order, 1)[1], machines(order, 2)[1]]
    torch.testing.assert_close(outputs_joined(each)(z), torch.cat([machine(z) for machine in each], 1).detach())


@pytest.mark.parametrize("order", [2, 3])
def test_outputs_in_other_units(order: int) -> None:
    z, machine = rows(6, 4), machines(order, 2)[2]
    scale, shift = torch.tensor([3.0, 0.1]).double(), torch.tensor([-1.0, 7.0]).double()
    torch.testing.assert_close(rescaled(machine, scale, shift)(z), (machine(z) * scale + shift).detach())


def test_a_machine_of_too_many_inputs_is_no_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FactorizationMachineRegressor(rank=1, max_iter=1, n_estimators=1, random_state=0).fit(*product_rows(20))
    assert model.polynomial_.in_features == 4
    monkeypatch.setattr(factorization_machine, "LADDER_NUMBERS", 10)
    with pytest.raises(
        ValueError, match=r"must have fewer inputs to be written as a ladder.*got 4\. Use machine_ itself"
    ):
        _ = model.polynomial_
    assert np.isfinite(model.predict(product_rows(5)[0])).all()


@pytest.mark.parametrize("order", [1, 4, 2.5, "auto"])
def test_an_order_that_is_none_is_refused(order: object) -> None:
    with pytest.raises(ValueError, match="'order' parameter of FactorizationMachineRegressor must be 2 or 3"):
        FactorizationMachineRegressor(order=order).fit(*product_rows(20))  # type: ignore[arg-type]
