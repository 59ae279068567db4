"""Many models as few programs: a model does not depend on those it shares a program with."""

from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
import torch

from polyladder.estimators.batch import fitting
from polyladder.estimators.batch.families import LadderFamily
from polyladder.estimators.batch.fitting import Fitted, fit_jobs, work_of
from polyladder.estimators.batch.plans import Job, ModelPlan
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.rows import TrainingRows
from polyladder.training.losses.squared import SQUARED


def rows(n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.from_numpy(np.random.default_rng(seed).uniform(-1, 1, size=(n, 3)))
    return x, 1.0 + 2.0 * x[:, :1] - x[:, 1:2] * x[:, 2:] + 0.5 * x[:, :1] ** 2 * x[:, 1:2]


def plan(solver: str = "alternating", seed: int = 0, **change: Any) -> ModelPlan:
    usual: dict[str, Any] = {"alpha": 1e-3, "learning_rate": 1e-2, "iterations": 4}
    return ModelPlan(LadderFamily((4, 4), batch_norm=False), solver, seed=seed, **(usual | change))


def job(plan: ModelPlan, n: int = 60, seed: int = 0, weight: torch.Tensor | None = None) -> Job:
    return Job(plan, TrainingRows(*rows(n, seed), weight, 1, SQUARED))


def assert_same(first: list[Fitted], second: list[Fitted], tolerance: float = 1e-8) -> None:
    x, _ = rows(20, 9)
    for a, b in zip(first, second, strict=True):
        torch.testing.assert_close(a.model(x), b.model(x), rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(a.curve, b.curve, rtol=1e3 * tolerance)


QUIET = Progress(False, "")


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["alternating", "adam"])
def test_jobs_do_not_depend_on_their_neighbors(solver: str) -> None:
    half = torch.from_numpy(np.random.default_rng(0).uniform(0.5, 2.0, 60))
    jobs = [
        job(plan(solver, seed=1)),
        job(plan(solver, seed=2, alpha=1.0)),
        job(plan(solver, seed=3), n=90, seed=1),
        job(plan(solver, seed=4, iterations=2)),
        job(plan(solver, seed=5, alpha=None)),
        job(plan(solver, seed=6), weight=half),
        job(plan(solver, seed=7), weight=half.round()),
        job(plan(solver, seed=8), n=501),  # beyond 500 rows gradient training is in float32
    ]
    assert_same(fit_jobs(jobs, QUIET), [fit_jobs([each], QUIET)[0] for each in jobs])


@pytest.mark.parametrize("solver", ["alternating", "adam"])
def test_little_memory_gives_the_same_models(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    first = job(plan(solver))
    jobs = [Job(plan(solver, seed=seed), first.rows) for seed in range(5)]
    together = fit_jobs(jobs, QUIET)
    assert fitting.models_at_once(jobs) == 5 or solver == "adam"
    monkeypatch.setattr(fitting, "MEMORY_NUMBERS", 1)
    assert fitting.models_at_once(jobs) == 1
    assert_same(together, fit_jobs(jobs, QUIET))


def test_threads_started_meanwhile_keep_all_cores() -> None:
    before, counts, slow = torch.get_num_threads(), [], Event()

    def fit_in_a_new_thread() -> list[Fitted]:
        other = Thread(target=lambda: counts.append(torch.get_num_threads()))
        other.start()
        other.join()
        slow.set()
        return []

    def fail() -> list[Fitted]:
        slow.wait()
        raise ValueError("no")

    try:
        torch.set_num_threads(2)
        with pytest.raises(ValueError, match="no"):
            fitting.on_all_cores([fit_in_a_new_thread, fail])
        assert torch.get_num_threads() == 2
        fit_in_a_new_thread()
    finally:
        torch.set_num_threads(before)
    assert counts == [2, 2]


def test_threads_give_the_same_models() -> None:
    before = torch.get_num_threads()
    first = job(plan())
    jobs = [Job(plan(seed=seed), first.rows) for seed in range(3)]
    try:
        torch.set_num_threads(2)
        fitted = fit_jobs(jobs, QUIET)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert_same(fitted, [fit_jobs([each], QUIET)[0] for each in jobs])


def test_memory_bounds_how_many_train_together() -> None:
    wide = ModelPlan(LadderFamily((128,) * 3, batch_norm=True), "adam", 1, batch_size=128)
    big = Job(wide, TrainingRows(torch.zeros(1000, 784), torch.zeros(1000, 1), None, 1, SQUARED))
    weights = 128 * (784 + 784 + 2) + 2 * 128 * (128 + 784 + 2)
    assert 1 < fitting.models_at_once([big]) < fitting.MEMORY_NUMBERS / (4 * weights)


def test_more_rows_sweeps_models_and_units_are_more_work() -> None:
    usual = work_of([job(plan())])
    wide = ModelPlan(LadderFamily((9, 9), batch_norm=False), "alternating", seed=0, alpha=1e-3, iterations=4)
    assert work_of([job(plan()), job(plan())]) == 2 * usual
    assert work_of([job(plan(), n=180)]) == 3 * usual
    assert work_of([job(plan(iterations=8))]) == 2 * usual
    assert work_of([job(wide)]) > 4 * usual
