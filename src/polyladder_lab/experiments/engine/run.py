"""Run what a declaration still lacks: groups go through joblib, rows come back and are stored one group at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from polyladder_lab.experiments.engine.cost import pace
from polyladder_lab.experiments.engine.declare import Declaration
from polyladder_lab.experiments.engine.plan import Group, final_groups, selection_groups
from polyladder_lab.experiments.engine.rows import Row
from polyladder_lab.experiments.engine.store import Store, provenance
from polyladder_lab.experiments.runners.activations import run_activations
from polyladder_lab.experiments.runners.bounds import run_bounds
from polyladder_lab.experiments.runners.estimators import run_estimators
from polyladder_lab.experiments.runners.nesting import run_nesting
from polyladder_lab.experiments.runners.networks import run_networks
from polyladder_lab.experiments.runners.norms import run_norms
from polyladder_lab.experiments.runners.sampling import run_sampling

RUN: dict[str, Callable[[Group], Any]] = {
    "network": run_networks,
    "estimator": run_estimators,
    "activations": run_activations,
    "sampling": run_sampling,
    "nesting": run_nesting,
    "bounds": run_bounds,
    "norms": run_norms,
}

Watch = Callable[[Group, float], object]
"""Called with a finished group and its rough cost in seconds."""


def run(d: Declaration, store: Store, *, jobs: int = 1, threads: int = 1, watch: Watch | None = None) -> list[str]:
    """Run every group that is missing in the store.

    Groups are given to `joblib.Parallel` without a backend, so that the one of ``joblib.parallel_config`` is used.

    Args:
        d: what to run.
        store: where rows are looked up and appended. A run that is killed loses only the groups that were running.
        jobs: groups at a time.
        threads: of torch in each group.
        watch: told of every finished group.

    Returns:
        Labels of the columns whose data are not available.
    """
    lacking = []
    paces = {model.name: pace(d, model, store.rows(d.name)) for model in d.models}
    for column in d.columns:
        try:
            rounds: list[Callable[..., Iterator[Group]]] = [
                partial(selection_groups, rung=rung) for rung in range(len(column.rungs))
            ]
            for groups in (*rounds, final_groups):
                for group, rows in executed(groups(d, column, store.rows(d.name)), jobs, threads):
                    store.append(d.name, rows)
                    if watch is not None:
                        watch(group, paces[group[0].model] * sum(measurement.cost for measurement in group))
        except OSError:
            if not column.unavailable:
                raise
            lacking.append(column.label)
    return lacking


def executed(groups: Iterable[Group], jobs: int, threads: int) -> Iterator[tuple[Group, list[Row]]]:
    """Groups and their rows, as they are finished."""
    # joblib's, with scikit-learn's settings carried over to the workers.
    from joblib import effective_n_jobs
    from sklearn.utils.parallel import Parallel, delayed

    # A list, so that rows that are stored while groups run do not change which groups there are.
    waiting = list(groups)
    if not waiting:
        return
    if hands_over_one_by_one():
        yield from Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(run_group)(group, threads) for group in waiting
        )
        return
    # Finished groups are stored after a whole round, which has as many groups as there are workers.
    with Parallel(n_jobs=jobs) as parallel:
        size = effective_n_jobs(jobs)
        for first in range(0, len(waiting), size):
            yield from parallel(delayed(run_group)(group, threads) for group in waiting[first : first + size])


def hands_over_one_by_one() -> bool:
    """Whether joblib's present backend gives results as they come; that of ray does not."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend()
    return bool(backend.supports_return_generator)


def run_group(group: Group, threads: int = 1) -> tuple[Group, list[Row]]:
    """Fit one group, and write down one row per measurement."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        start = time.perf_counter()
        results = RUN[group[0].runner](group)
        seconds = time.perf_counter() - start
    finally:
        torch.set_num_threads(before)
    rows = []
    for measurement, fits in zip(group, results, strict=True):
        row: Row = {
            "key": measurement.key,
            "table": measurement.table,
            "column": measurement.column,
            "data": measurement.data,
            "model": measurement.model,
            "setting": measurement.setting,
            "split": measurement.split,
        }
        if measurement.selection is None:
            row |= {"value": fits[0].value, **fits[0].more}
        else:
            row["folds"] = [fit.value if fit.value is None else float(f"{fit.value:.6g}") for fit in fits]
            if failed := sum(bool(fit.more.get("diverged") or fit.more.get("failed")) for fit in fits):
                row["diverged"] = failed
        # A group is one program: the time of a measurement is its share.
        row |= {"seconds": round(seconds / len(group), 3), "seed": measurement.seed, **provenance()}
        rows.append(row)
    return group, rows
