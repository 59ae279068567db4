"""Many models as few programs: models of one shape on one set of rows are solved together, within a memory budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Barrier, BrokenBarrierError, Event
from typing import Any

import torch
from torch import Tensor

from polyladder.estimators.batch.plans import Job
from polyladder.estimators.batch.progress import Progress
from polyladder.estimators.rows import TrainingRows
from polyladder.models.batched import BatchedModule, stack
from polyladder.models.merge import unmerge
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.gradient.train import Adam, train
from polyladder.training.interrupt import run_until
from polyladder.training.spread import run_elsewhere, workers_elsewhere
from polyladder.training.threads import torch_limited

SMALL_TABLE = 500
"""Rows up to which gradient training runs in float64."""

MEMORY_NUMBERS = 2**26
"""Most numbers that the states of one program hold: 512 MiB in float64. Larger groups are split."""

SMALL_STEP = 5e7
"""Most rows times weights of a gradient step that is computed on one thread: several threads would spend more time
waiting for each other than computing."""

L2 = 1e-6
"""What ``alpha="auto"`` means for Adam."""


@dataclass(frozen=True)
class Fitted:
    """One fitted model.

    Attributes:
        model: over the transformed features, in standardized target units: a `LadderPolynomial`, or a module in float64
            of another family.
        curve: its losses; of block solves with a given ridge weight, those after sweeps with that one.
        iterations: how many it made in all.
        diverged: whether it did.
    """

    model: Any
    curve: list[float]
    iterations: int
    diverged: bool = False


def fit_jobs(jobs: Sequence[Job], progress: Progress) -> list[Fitted]:
    """Fit every job; with dropout off, the result does not depend on which others it shared a program with."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, job in enumerate(jobs):
        # A program of block solves shares its rows; gradient training gathers rows by number and can mix tables.
        rows = id(job.rows) if job.plan.solver == "alternating" else kind_of_table(job.rows)
        same = (*job.plan.shape, rows, job.rows.outputs, job.rows.loss, job.start is None)
        groups.setdefault(same, []).append(i)
    fitted: dict[int, Fitted] = {}
    solves: list[tuple[list[int], Callable[[], list[Fitted]]]] = []
    silent = Progress(False, "")
    with progress.of(sum(job.plan.iterations for job in jobs)):
        # Threads take turns to start their operations, so few large programs beat many small ones: only the groups that
        # would leave a core idle are divided among the cores.
        elsewhere = workers_elsewhere()
        threads = elsewhere or torch.get_num_threads()
        whole = len(groups) - len(groups) % threads
        for g, members in enumerate(groups.values()):
            if jobs[members[0]].plan.solver == "alternating":
                # Those of one seed, which may begin as one, stay together where the group is divided.
                members.sort(key=lambda i: jobs[i].plan.seed)
            size = models_at_once([jobs[i] for i in members], 1 if g < whole else threads)
            for k in range(0, len(members), size):
                part = members[k : k + size]
                group = [jobs[i] for i in part]
                if group[0].plan.solver == "alternating" or elsewhere:
                    fit = solve_exactly if group[0].plan.solver == "alternating" else train_by_gradient
                    solves.append((part, partial(fit, group, silent if elsewhere else progress)))
                else:
                    fitted |= zip(part, train_by_gradient(group, progress), strict=True)
        if elsewhere:
            # The longest first: then no worker is left with a long one while the others have nothing to do.
            solves.sort(key=lambda solve: -work_of([jobs[i] for i in solve[0]]))
        tasks = [task for _, task in solves]
        for (part, _), results in zip(solves, run_elsewhere(tasks) if elsewhere else on_all_cores(tasks), strict=True):
            fitted |= zip(part, results, strict=True)
    return [fitted[i] for i in range(len(jobs))]


def work_of(group: Sequence[Job]) -> float:
    """How long a program takes, compared with others: rows, times what each of its steps computes with."""
    sizes = group[0].plan.family.sizes(group[0].rows.z.shape[1], group[0].rows.outputs)
    return float(sum(job.rows.z.shape[0] * job.plan.iterations for job in group) * sizes.solves**2)


def kind_of_table(rows: TrainingRows) -> tuple[object, ...]:
    """What tables must agree on to be laid one under the other: columns, precision and the meaning of weights."""
    weighted = not (rows.weight is None or rows.repeated)
    return rows.z.shape[1], is_sparse(rows.z), len(rows.z) <= SMALL_TABLE, weighted


AWAKE = 0.2
"""Seconds after which a waiting thread checks whether it was interrupted."""


def on_all_cores(tasks: list[Callable[[], list[Fitted]]]) -> list[list[Fitted]]:
    """Run programs of block solves on all cores, one thread each.

    A batch of small factorizations does not use more than one core, so two half batches take half the time. Should
    one fail, or Ctrl-C be pressed, the others end too.
    """
    threads = torch.get_num_threads()
    workers = min(threads, len(tasks))
    if workers < 2:
        return [task() for task in tasks]
    stop, started = Event(), Barrier(workers + 1)

    def start() -> None:
        # Torch keeps a count for every thread that has used it; a new thread begins with the one set last, anywhere.
        torch.set_num_threads(1)
        with suppress(BrokenBarrierError):
            started.wait()

    pool = ThreadPoolExecutor(workers, initializer=start)
    try:
        running = [pool.submit(run_until, stop, task) for task in tasks]
        started.wait()
        torch.set_num_threads(threads)  # for threads that others start while the workers run
        waiting = set(running)
        while waiting:
            # Not without end: once polars is imported, Ctrl-C no longer wakes a thread that waits for others.
            done, waiting = wait(waiting, AWAKE, FIRST_EXCEPTION)
            for future in done:
                future.result()
        return [future.result() for future in running]
    finally:
        stop.set()
        started.abort()
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


def models_at_once(group: Sequence[Job], parts: int = 1) -> int:
    """How many models of a group may share a program within the memory budget.

    Block solves come in at least ``parts`` programs.
    """
    plan, rows = group[0].plan, group[0].rows
    if is_sparse(rows.z):
        return 1
    sizes = plan.family.sizes(rows.z.shape[1], rows.outputs)
    if plan.solver == "adam":
        # Weights, their gradients, two moments and the best so far; what a step keeps for its gradient.
        numbers = 5 * sizes.weights + 6 * plan.batch_size * sizes.gradient
        return max(1, min(256, MEMORY_NUMBERS // numbers))
    within_memory = MEMORY_NUMBERS // (len(rows.z) * sizes.solves * torch.get_num_threads())
    return max(1, min(within_memory, math.ceil(len(group) / parts)))


def solve_exactly(group: Sequence[Job], progress: Progress) -> list[Fitted]:
    """One program of exact solves."""
    plans, rows = [job.plan for job in group], group[0].rows
    first, alphas = plans[0], [plan.alpha for plan in plans]
    starts = [job.start for job in group if job.start is not None]
    start = stack(starts) if starts else first.family.start(rows.z.shape[1], rows.outputs, [p.seed for p in plans])
    found = first.family.solve(
        start,
        rows.z,
        rows.y,
        first.iterations,
        loss=rows.loss,
        alpha="auto" if None in alphas else torch.tensor(alphas, dtype=torch.float64),
        sample_weight=rows.weight,
        tolerance=first.tolerance,
        progress=lambda _, objective: progress.step(len(plans), objective),
        **({"stages": first.stages} if first.stages else {}),
        **({"goes_on": True} if starts else {}),
    )
    each = zip(found.models, found.losses, found.iterations.tolist(), strict=True)
    return [Fitted(model, finite(curve), iterations) for model, curve, iterations in each]


def train_by_gradient(group: Sequence[Job], progress: Progress) -> list[Fitted]:
    """One program of gradient training; models may come from different tables, laid one under the other."""
    plans, table = [job.plan for job in group], joined_tables([job.rows for job in group])
    net = module_of(group, table)
    rows, held_out = zip(*(split_rows(job, table.first[id(job.rows)]) for job in group), strict=True)
    weights = plans[0].family.sizes(table.z.shape[1], group[0].rows.outputs).weights
    with torch_limited(1 if len(plans) * plans[0].batch_size * weights <= SMALL_STEP else None):
        history = train(
            net,
            table.z,
            table.y,
            loss=group[0].rows.loss,
            options=adam_options(group),
            rows=list(rows),
            validation=list(held_out) if plans[0].validation else None,
            sample_weight=table.weight,
            seed=[plan.seed for plan in plans],
            progress=lambda _, *losses: progress.step(len(plans), losses[0]),
        )
    models, diverged = plans[0].family.trained(net), history.diverged.tolist()
    each = zip(models, map(finite, history.training_loss), diverged, strict=True)
    return [Fitted(model, curve, len(curve), bad) for model, curve, bad in each]


@dataclass(frozen=True, eq=False)
class JoinedTables:
    """Tables laid one under the other, in the precision that they are trained in.

    Attributes:
        z, y, weight: as in `TrainingRows`; no weights where they only say how often a row is there.
        first: number of each table's first row, by the identity of its `TrainingRows`.
    """

    z: Tensor
    y: Tensor
    weight: Tensor | None
    first: dict[int, int]


def joined_tables(rows: Sequence[TrainingRows]) -> JoinedTables:
    """Every different table once."""
    tables = list({id(table): table for table in rows}.values())
    # Small tables train in float64: it costs nothing there, and repeating rows and weighting them agree closely.
    dtype = torch.float64 if len(tables[0].z) <= SMALL_TABLE else torch.float32
    ends = torch.tensor([0, *(len(table.z) for table in tables)]).cumsum(0).tolist()
    first = {id(table): start for table, start in zip(tables, ends, strict=False)}
    # Sparse tables cannot be laid under each other; their models come one by one.
    z = (tables[0].z if len(tables) == 1 else torch.cat([t.z for t in tables])).to(dtype)
    y = torch.cat([t.y for t in tables])
    # Whole weights are repetitions, exactly, also for batch norm: `split_rows` repeats the row numbers.
    weights = [t.weight for t in tables if t.weight is not None and not t.repeated]
    weight = torch.cat(weights).to(dtype) if weights else None
    return JoinedTables(z, y.to(dtype) if y.is_floating_point() else y, weight, first)


def module_of(group: Sequence[Job], table: JoinedTables) -> BatchedModule:
    """Random models, or those that the jobs start from."""
    plans, dtype = [job.plan for job in group], table.z.dtype
    starts = [job.start for job in group if job.start is not None]
    if starts:
        return unmerge(stack(starts)).to(dtype)
    dropout = torch.tensor([plan.dropout for plan in plans], dtype=torch.float64)
    seeds = [plan.seed for plan in plans]
    return plans[0].family.build(table.z.shape[1], group[0].rows.outputs, seeds, dropout, dtype)


def adam_options(group: Sequence[Job]) -> Adam:
    """Adam's settings; those that may differ from model to model as tensors."""
    plans = [job.plan for job in group]
    return Adam(
        epochs=plans[0].iterations,
        batch_size=plans[0].batch_size,
        learning_rate=torch.tensor([plan.learning_rate for plan in plans], dtype=torch.float64),
        l2=torch.tensor([L2 if plan.alpha is None else plan.alpha for plan in plans], dtype=torch.float64),
        schedule="cosine" if group[0].start is None else "constant",
        clip=10.0,
        patience=10 if plans[0].validation else None,
    )


def split_rows(job: Job, first: int) -> tuple[Tensor, Tensor]:
    """Row numbers, from ``first`` on, to train on and to validate on; chosen by the model's own seed."""
    rows, weight = first + torch.arange(len(job.rows.z)), job.rows.weight
    if weight is not None:
        rows = rows.repeat_interleave(weight.long()) if job.rows.repeated else rows[weight > 0]
    if not job.plan.validation:
        return rows, rows[:0]
    held = min(max(1, round(job.plan.validation * len(rows))), len(rows) - 1)
    order = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(job.plan.seed))]
    return order[held:], order[:held]


def finite(curve: Tensor) -> list[float]:
    """A loss curve without what came after its model had stopped."""
    return curve[curve.isfinite()].tolist()
