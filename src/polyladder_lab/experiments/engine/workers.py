"""Where groups run: on this machine, or on the workers of dask or ray, which joblib is told to use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

Engine = Literal["loky", "dask", "ray"]

KEPT_MEMORY = {"MALLOC_MMAP_THRESHOLD_": 2**25, "MALLOC_TRIM_THRESHOLD_": 2**27}
"""Settings of dask workers. By default they give freed memory back to the system at once. Block solves use the same few
megabytes again and again, and then take twice as long: most of it is spent on clearing pages."""


@contextmanager
def engine_of(engine: Engine | None, scheduler: str | None = None, jobs: int = 1) -> Iterator[int]:
    """Let joblib use an engine within the block; gives the number of tasks to keep running.

    Args:
        engine: None for whatever joblib is set to. "dask" and "ray" need those packages.
        scheduler: address of a running scheduler (dask), or of a cluster (ray). None starts workers on this machine.
        jobs: workers to start, where none are running.
    """
    if engine is None:
        if scheduler is not None:
            raise ValueError(
                f"scheduler must come with an engine; got {scheduler!r} alone. Add the engine dask or ray."
            )
        yield jobs
        return
    from joblib import parallel_config

    if engine == "loky":
        with parallel_config("loky", n_jobs=jobs):
            yield jobs
    elif engine == "dask":
        with dask_client(scheduler, jobs), parallel_config("dask"):
            yield -1
    else:
        register_ray(scheduler)
        with parallel_config("ray"):
            yield -1


@contextmanager
def dask_client(scheduler: str | None, jobs: int) -> Iterator[Any]:
    """A client of a running scheduler, or of workers of one thread each that end with the block."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ImportError(
            "The engine dask needs distributed. Install it with pip install 'polyladder[cluster]'."
        ) from error
    if scheduler is not None:
        with Client(scheduler) as client:  # type: ignore[no-untyped-call]
            yield client
        return
    from dask import config

    options: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    before = "distributed.nanny.pre-spawn-environ"
    with config.set({before: config.get(before) | KEPT_MEMORY}):
        cluster = LocalCluster(n_workers=jobs, **options)  # type: ignore[no-untyped-call]
    with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
        yield client


def register_ray(address: str | None) -> None:
    """Make ray known to joblib, and connect to a cluster or start one here."""
    try:
        import ray
        from ray.util.joblib import register_ray as register
    except ImportError as error:
        raise ImportError("The engine ray needs ray. Install it with pip install ray.") from error
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    register()
