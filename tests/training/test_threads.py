"""Threads are limited for a while."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

import pytest
import torch
from threadpoolctl import threadpool_info

from polyladder import BayesianLPNNRegressor, LPNNRegressor, attack, certify, certify_margins, minimize
from polyladder.training.threads import (
    FEW_ROWS,
    ONE_THREAD_ROWS,
    SMALL_LAYER,
    limited,
    rows_on_one_thread,
    small_on_one_thread,
    threads_for,
    torch_limited,
)
from tests.ladders import random_ladder, rows

BAYESIAN = partial(BayesianLPNNRegressor, order=2, width=2, chains=1, warmup="auto", draws=4, random_state=0)


def test_all_pools_have_one_thread_inside_and_as_many_as_before_afterwards() -> None:
    before = torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]
    with limited(1):
        assert torch.get_num_threads() == 1
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())
    assert (torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]) == before


def test_none_changes_nothing() -> None:
    before = torch.get_num_threads()
    with limited(None), torch_limited(None):
        assert torch.get_num_threads() == before


def test_torch_alone_is_limited_and_freed_after_an_error() -> None:
    before = torch.get_num_threads()
    try:
        with torch_limited(1):
            assert torch.get_num_threads() == 1
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert torch.get_num_threads() == before


def test_only_many_rows_are_worth_several_threads() -> None:
    assert threads_for(ONE_THREAD_ROWS) == 1
    assert threads_for(ONE_THREAD_ROWS + 1) is None


@pytest.fixture
def threads() -> Iterator[list[int]]:
    """Two threads, and what a patched function has seen of them."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield []
    torch.set_num_threads(before)


def watched(seen: list[int], function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        seen.append(torch.get_num_threads())
        return function(*args, **kwargs)

    return call


def test_large_layers_are_worth_several_threads(threads: list[int]) -> None:
    at = small_on_one_thread(watched(threads, lambda model, rows=0: rows))
    large = random_ladder(d=300, hidden=(SMALL_LAYER // 200,), m=1)
    assert [at(random_ladder(), rows=3), at(large, 4), at(model=large), at("an estimator")] == [3, 4, 0, 0]
    assert threads == [1, 2, 2, 1]
    assert torch.get_num_threads() == 2


def test_few_rows_are_predicted_on_one_thread(threads: list[int]) -> None:
    class Model:
        predict = rows_on_one_thread(watched(threads, lambda self, X, scale=1: scale))

    assert [Model().predict([1, 2]), Model().predict(X=range(FEW_ROWS + 1), scale=5), Model().predict(None)] == [
        1,
        5,
        1,
    ]
    assert threads == [1, 2, 1]


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("robustness.attack.strongest", lambda p, x, _: attack(p, x, x[:, 0], 0.1, rounds=1, certificate=False)),
        ("robustness.certify.certify_sums", lambda p, x, _: certify(p, x, 0.1)),
        ("robustness.margins.upper_bounds", lambda p, x, _: certify_margins(p, x, torch.tensor([0, 1]), 0.1)),
        ("robustness.optimize.largest", lambda p, x, _: minimize(p, -0.1, 0.1, max_seconds=0.01)),
        ("estimators.bayesian.fit_variational", lambda p, x, t: BAYESIAN(inference="variational").fit(*t)),
        ("estimators.bayesian.fit_moments", lambda p, x, t: BAYESIAN(inference="moments").fit(*t)),
        ("estimators.partitioned.fit_partitions", lambda p, x, t: LPNNRegressor(order=2, width=2).fit_batches([t])),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_many_small_steps_take_one_thread(
    place: str, call: Any, threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    module, name = place.rsplit(".", 1)
    found = import_module(f"polyladder.{module}")
    monkeypatch.setattr(found, name, watched(threads, vars(found)[name]))
    x = rows(30, 3)
    call(random_ladder(m=2 if "margins" in place else 1), x[:2], (x.numpy(), x[:, 0].numpy()))
    assert threads
    assert set(threads) == {1}
