from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

from polyladder.estimators.batch.families import LadderFamily, Machines
from polyladder.estimators.batch.plans import ModelPlan, Usual, make_plans, usual_batch_size, usual_epochs
from polyladder.estimators.gradient_training import GradientTraining
from polyladder.estimators.parameters import seeds_from
from polyladder.estimators.rows import TrainingRows
from polyladder.polynomial.sparse import as_rows
from polyladder.training.losses.squared import SQUARED

FAMILY = LadderFamily((3,), batch_norm=False)
PARAMETERS: dict[str, Any] = {
    "max_iter": "auto",
    "n_estimators": "auto",
    "alpha": "auto",
    "random_state": 3,
}


def rows(n: int, thin: bool = False, weight: torch.Tensor | None = None) -> TrainingRows:
    z = as_rows(sparse.csr_matrix((n, 2))) if thin else torch.zeros(n, 2)
    return TrainingRows(z, torch.zeros(n, 1), weight, 1, SQUARED)


STEPS = GradientTraining(learning_rate=1e-2, dropout=0.0)


def plans(n: int = 100, solver: str = "alternating", steps: GradientTraining = STEPS, **change: Any) -> list[ModelPlan]:
    return make_plans({**PARAMETERS, **change}, steps, FAMILY, solver, rows(n), Usual(4, 20))


def test_auto_means_what_is_usual() -> None:
    found = plans()
    assert [plan.seed for plan in found] == seeds_from(3, 4)
    first = found[0]
    assert (first.family, first.solver, first.iterations, first.alpha, first.dropout) == (
        FAMILY,
        "alternating",
        20,
        None,
        0,
    )


def test_adam_has_one_model_and_epochs_by_the_rows() -> None:
    (plan,) = plans(solver="adam", steps=GradientTraining(dropout=0.25))
    assert plan.iterations == usual_epochs(32, rows(100))
    assert plan.batch_size == 32
    assert plan.dropout == 0.25
    assert plans(n=7, solver="adam")[0].batch_size == 7


def test_what_is_given_is_taken() -> None:
    steps = GradientTraining(learning_rate=2e-2, batch_size=np.int64(50), validation_fraction=0.2)  # type: ignore[arg-type]
    given = {"max_iter": np.int64(9), "n_estimators": 2, "alpha": 1}
    for solver in ("alternating", "adam"):
        found = plans(solver=solver, steps=steps, **given, tol=1e-3)
        assert len(found) == 2
        assert (found[0].iterations, found[0].batch_size, found[0].validation) == (9, 50, 0.2)
        assert (found[0].alpha, found[0].tolerance, found[0].learning_rate) == (1.0, 1e-3, 2e-2)
        assert type(found[0].iterations) is int


def test_plans_that_can_share_a_program_have_one_shape() -> None:
    base = ModelPlan(FAMILY, "adam", 5, alpha=0.1)
    for change in ({"alpha": 0.2}, {"dropout": 0.5}, {"learning_rate": 1.0}, {"seed": 9}, {"tolerance": 0.1}):
        assert ModelPlan(**{**vars(base), **change}).shape == base.shape
    for change in (
        {"alpha": None},
        {"iterations": 6},
        {"batch_size": 8},
        {"validation": 0.1},
        {"solver": "alternating"},
    ):
        assert ModelPlan(**{**vars(base), **change}).shape != base.shape
    assert ModelPlan(**{**vars(base), "family": Machines(2, 3)}).shape != base.shape
    exact = ModelPlan(FAMILY, "alternating", 5, alpha=0.1)
    assert ModelPlan(**{**vars(exact), "batch_size": 7}).shape == exact.shape
    assert ModelPlan(**{**vars(exact), "tolerance": 0.1}).shape != exact.shape


@pytest.mark.parametrize(
    ("n", "thin", "size"),
    [(999, False, 32), (1000, False, 128), (19_999, True, 128), (20_000, True, 1024), (20_000, False, 128)],
)
def test_more_rows_share_a_step_where_there_are_many(n: int, thin: bool, size: int) -> None:
    assert usual_batch_size(rows(n, thin)) == size


def test_repetitions_count_as_rows() -> None:
    assert usual_batch_size(rows(500, weight=torch.full((500,), 2.0))) == 128


@pytest.mark.parametrize("thin", [True, False])
@pytest.mark.parametrize("n", [10, 1000, 10**6])
def test_epochs_are_a_few_thousand_steps_within_bounds(n: int, thin: bool) -> None:
    table = TrainingRows(rows(10, thin).z, torch.zeros(10, 1), torch.full((10,), n / 10), 1, SQUARED)
    epochs = usual_epochs(128, table)
    least = 10 if thin else 40
    assert least <= epochs <= 400
    if least < epochs < 400:
        assert 4000 <= epochs * n / 128 < 4000 + n / 128
