"""Where independent programs run: on threads of this machine, or on joblib's current backend.

``joblib.parallel_config(backend="dask")``, ``"ray"`` or ``"loky"`` around a fit sends its programs to the workers of
that engine. A program is a batch of models, so that a task is large enough to be worth sending.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from numpy.typing import NDArray

from polyladder.training.packing import pack, unpack

T = TypeVar("T")


def workers_elsewhere() -> int:
    """How many workers joblib has been given by ``parallel_config``, other than threads here; 0 for none."""
    from joblib.parallel import get_active_backend

    backend, jobs = get_active_backend()
    # Threads share their memory; joblib's own default is loky with one process.
    if getattr(backend, "supports_sharedmem", False):
        return 0
    workers = int(backend.effective_n_jobs(backend.default_n_jobs if jobs is None else jobs))
    return 0 if type(backend).__name__ == "LokyBackend" and workers < 2 else workers


def run_elsewhere(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """The results of tasks that can be pickled, in their order, one thread each."""
    from sklearn.utils.parallel import Parallel, delayed

    # Each large array is an argument of its own: engines send such an argument once, whatever the number of tasks.
    found: list[T] = Parallel()(delayed(run_packed)(each.task, *each.arrays) for each in pack(tasks))
    return found


def run_packed(task: bytes, *arrays: NDArray[Any]) -> Any:
    """Run a task on its worker."""
    return on_one_thread(unpack(task, arrays))


def on_one_thread(task: Callable[[], T]) -> T:
    """Run a task on one thread, so that several workers do not compete for all cores."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return task()
    finally:
        torch.set_num_threads(before)
