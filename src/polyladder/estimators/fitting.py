"""Many models as few programs: models of one shape on one set of rows are solved together, within a memory budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from polyladder.estimators.base import Rows
from polyladder.estimators.families import Family
from polyladder.estimators.progress import Progress
from polyladder.models.batched import BatchedModule
from polyladder.models.ladder import LPNN
from polyladder.models.merge import merge
from polyladder.polynomial.ladder import LadderPolynomial
from polyladder.polynomial.sparse import is_sparse
from polyladder.training.alternating import fit_alternating, random_start
from polyladder.training.gradient import Adam, train

SMALL_TABLE = 500
"""Rows up to which gradient training runs in float64."""

MEMORY_NUMBERS = 2**26
"""Numbers that the states of one program may hold: 512 MiB in float64. Larger groups are split."""


@dataclass(frozen=True)
class Plan:
    """How one model is to be fitted. Plans that differ only in alpha, dropout, learning rate and seed share a program.

    Attributes:
        solver: "alternating" or "adam".
        hidden: widths of a ladder.
        iterations: sweeps or epochs.
        tolerance: of the alternating solver.
        batch_size: of Adam.
        batch_norm: of the network that Adam trains.
        validation: fraction of the rows that Adam holds out to stop early; 0 for none.
        alpha: ridge weight or L2 weight; None to have it estimated.
        dropout: rate.
        learning_rate: of Adam.
        seed: of the model.
        family: of the ladder's rivals, if the model is one of them.
    """

    solver: str
    hidden: tuple[int, ...]
    iterations: int
    tolerance: float
    batch_size: int
    batch_norm: bool
    validation: float
    alpha: float | None
    dropout: float
    learning_rate: float
    seed: int
    family: Family | None = None

    @property
    def shape(self) -> tuple[object, ...]:
        """What plans must agree on to share a program."""
        common = (self.solver, self.family, self.hidden, self.iterations, self.alpha is None)
        if self.solver == "alternating":
            return (*common, self.tolerance)
        return (*common, self.batch_size, self.batch_norm, self.validation)


@dataclass(frozen=True)
class Fitted:
    """One fitted model: its ladder over the transformed features, in standardized target units, and its loss curve.

    In the place of the ladder, a model of a rival family is its module in float64.
    """

    polynomial: Any
    curve: list[float]
    diverged: bool = False


@dataclass(frozen=True)
class Job:
    """A plan, the rows to carry it out on and, optionally, a ladder to start from."""

    plan: Plan
    rows: Rows
    start: LadderPolynomial | None = None


def fit_jobs(jobs: Sequence[Job], loss: str, progress: Progress) -> list[Fitted]:
    """Fit every job; with dropout off, the result does not depend on which others it shared a program with."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, job in enumerate(jobs):
        # A program of block solves shares its rows; gradient training gathers rows by number and can mix tables.
        rows = id(job.rows) if job.plan.solver == "alternating" else kind_of_table(job.rows)
        groups.setdefault((*job.plan.shape, rows, job.rows.outputs, job.start is None), []).append(i)
    fitted: dict[int, Fitted] = {}
    total = sum(job.plan.iterations for job in jobs)
    solves: list[tuple[list[int], Callable[[], list[Fitted]]]] = []
    with progress.of(total):
        # Threads take turns to start their operations, so few large programs beat many small ones: only the groups that
        # would leave a core idle are divided among the cores.
        threads = torch.get_num_threads()
        whole = len(groups) - len(groups) % threads
        for g, members in enumerate(groups.values()):
            size = models_at_once([jobs[i] for i in members], 1 if g < whole else threads)
            for k in range(0, len(members), size):
                part = members[k : k + size]
                run = run_alternating if jobs[part[0]].plan.solver == "alternating" else run_adam
                task = partial(run, [jobs[i] for i in part], loss, progress)
                if run is run_alternating:
                    solves.append((part, task))
                else:
                    fitted |= zip(part, task(), strict=True)
        for (part, _), results in zip(solves, side_by_side([task for _, task in solves]), strict=True):
            fitted |= zip(part, results, strict=True)
    return [fitted[i] for i in range(len(jobs))]


def kind_of_table(rows: Rows) -> tuple[object, ...]:
    """What tables must agree on to be laid one under the other: columns, precision and the meaning of weights."""
    weighted = not (rows.weight is None or rows.repeated)
    return rows.z.shape[1], is_sparse(rows.z), len(rows.z) <= SMALL_TABLE, weighted


def side_by_side(tasks: list[Callable[[], list[Fitted]]]) -> list[list[Fitted]]:
    """Run programs of block solves on all cores, one thread each.

    A batch of small factorizations does not use more than one core, so two half batches take half the time.
    """
    threads = torch.get_num_threads()
    if threads == 1 or len(tasks) == 1:
        return [task() for task in tasks]
    torch.set_num_threads(1)
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(lambda task: task(), tasks))
    finally:
        torch.set_num_threads(threads)


def models_at_once(group: Sequence[Job], parts: int = 1) -> int:
    """How many models of a group may share a program within the memory budget.

    Block solves come in at least ``parts`` programs.
    """
    plan, rows = group[0].plan, group[0].rows
    if is_sparse(rows.z):
        return 1
    if plan.solver == "adam":
        inputs = (rows.z.shape[1], *plan.hidden)
        weights = sum(k * (q + inputs[0] + 2) for k, q in zip(plan.hidden, inputs, strict=False))
        states = sum(plan.hidden) + inputs[0] + rows.outputs
        if plan.family is not None:
            weights, states = plan.family.sizes(inputs[0], rows.outputs)
        # Weights, their gradients, two moments and the best so far; what a step keeps for its gradient.
        numbers = 5 * weights + 6 * plan.batch_size * states
        return max(1, min(256, MEMORY_NUMBERS // numbers))
    width = max((*plan.hidden, 1))
    states = sum(plan.hidden) + 4 * width * rows.outputs
    if plan.family is not None:
        states = plan.family.sizes(rows.z.shape[1], rows.outputs)[1]
    threads = torch.get_num_threads()
    within_memory = MEMORY_NUMBERS // (len(rows.z) * states * threads)
    return max(1, min(within_memory, math.ceil(len(group) / parts)))


def run_alternating(group: Sequence[Job], loss: str, progress: Progress) -> list[Fitted]:
    """One program of block solves."""
    plans, rows, seeds = [job.plan for job in group], group[0].rows, [job.plan.seed for job in group]
    y, name = rows.y, loss
    if loss == "logistic":
        y = 2.0 * rows.y.double() - 1.0
    elif loss == "cross_entropy":
        y, name = torch.nn.functional.one_hot(rows.y, rows.outputs).double(), "softmax"
    alphas = [plan.alpha for plan in plans]
    options: dict[str, Any] = {
        "loss": name,
        "alpha": "auto" if None in alphas else torch.tensor(alphas, dtype=torch.float64),
        "weight": rows.weight,
        "tolerance": plans[0].tolerance,
        "progress": lambda _, objective: progress.step(len(plans), objective),
    }
    family, iterations = plans[0].family, plans[0].iterations
    if family is not None:
        net = family.build(rows.z.shape[1], rows.outputs, seeds, torch.zeros(len(plans)), torch.float64)
        record = family.solve(net, rows.z, y, steps=iterations, **options)
        curves = [curve[curve.isfinite()].tolist() for curve in record.objective[1:].T]
        return [Fitted(net[i], curve) for i, curve in enumerate(curves)]
    if group[0].start is None:
        start = random_start(rows.z.shape[1], plans[0].hidden, rows.outputs, seeds, len(plans))
    else:
        from polyladder.models.batched import stack

        start = stack([job.start for job in group if job.start is not None])
    fit = fit_alternating(start, rows.z, y, sweeps=iterations, **options)
    # The first entry is the loss of the random start, before any sweep.
    curves = [curve[curve.isfinite()].tolist() for curve in fit.objective[1:].T]
    return [Fitted(p, curve) for p, curve in zip(fit.polynomial, curves, strict=True)]


def run_adam(group: Sequence[Job], loss: str, progress: Progress) -> list[Fitted]:
    """One program of gradient training; models may come from different tables, laid one under the other."""
    plans = [job.plan for job in group]
    tables = list({id(job.rows): job.rows for job in group}.values())
    first, offsets = 0, {}
    for table in tables:
        offsets[id(table)] = first
        first += len(table.z)
    # Small tables train in float64: it costs nothing there, and repeating rows and weighting them agree closely.
    dtype = torch.float64 if len(tables[0].z) <= SMALL_TABLE else torch.float32
    # Sparse tables cannot be laid under each other; their models come one by one.
    z = (tables[0].z if len(tables) == 1 else torch.cat([t.z for t in tables])).to(dtype)
    y = torch.cat([t.y for t in tables])
    # Whole weights are repetitions, exactly, also for batch norm: `split_rows` repeats the row numbers.
    weighted = not (tables[0].weight is None or tables[0].repeated)
    weight = torch.cat([t.weight for t in tables if t.weight is not None]) if weighted else None

    def column(name: str) -> Tensor:
        return torch.tensor([getattr(plan, name) for plan in plans], dtype=torch.float64)

    seeds, family = [plan.seed for plan in plans], plans[0].family
    net: BatchedModule
    if family is not None:
        net = family.build(z.shape[1], tables[0].outputs, seeds, column("dropout"), dtype)
    elif group[0].start is None:
        net = LPNN(
            z.shape[1],
            plans[0].hidden,
            tables[0].outputs,
            batch_norm=plans[0].batch_norm,
            dropout=column("dropout"),
            batch_shape=(len(plans),),
            seed=seeds,
            dtype=dtype,
        )
    else:
        from polyladder.models.batched import stack
        from polyladder.models.unmerge import unmerge

        net = unmerge(stack([job.start for job in group if job.start is not None])).to(dtype)
    rows, held = zip(*(split_rows(job, offsets[id(job.rows)]) for job in group), strict=True)
    validation = None if held[0] is None else [h for h in held if h is not None]
    options = Adam(
        epochs=plans[0].iterations,
        batch_size=plans[0].batch_size,
        learning_rate=column("learning_rate"),
        l2=torch.tensor([1e-6 if plan.alpha is None else plan.alpha for plan in plans], dtype=torch.float64),
        schedule="constant" if group[0].start is not None else "cosine",
        clip=10.0,
        patience=10 if validation else None,
    )
    history = train(
        net,
        z,
        y if loss == "cross_entropy" else y.to(dtype),
        loss=loss,  # type: ignore[arg-type]
        options=options,
        rows=list(rows),
        validation=validation,
        sample_weight=None if weight is None else weight.to(dtype),
        seed=seeds,
        progress=lambda _, *losses: progress.step(len(plans), losses[0]),
    )
    curves = [curve[curve.isfinite()].tolist() for curve in history.training_loss]
    if isinstance(net, LPNN):
        models: list[Any] = list(merge(net).to(torch.float64))
    else:
        models = [net[i].double() for i in range(len(plans))]
    return [Fitted(*each) for each in zip(models, curves, history.diverged.tolist(), strict=True)]


def split_rows(job: Job, offset: int) -> tuple[Tensor, Tensor | None]:
    """Row numbers to train on and, if the plan says so, to validate on; chosen by the model's own seed."""
    rows = offset + torch.arange(len(job.rows.z))
    weight = job.rows.weight
    if weight is not None:
        rows = rows.repeat_interleave(weight.long()) if job.rows.repeated else rows[weight > 0]
    if not job.plan.validation:
        return rows, None
    held = min(max(1, round(job.plan.validation * len(rows))), len(rows) - 1)
    order = rows[torch.randperm(len(rows), generator=torch.Generator().manual_seed(job.plan.seed))]
    return order[held:], order[:held]
