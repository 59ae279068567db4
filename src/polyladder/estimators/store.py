"""One file for one fitted estimator: arrays and weights as tensors, the rest as JSON. Loading runs no code from it.

An estimator is written as what `vars` shows of it, parameters and learned attributes alike, so that a new one needs
nothing here but its name in `polyladder.estimators.registry`. Values may be numbers, text, lists, tuples, dictionaries,
arrays, tensors and objects of registered classes, by their own attributes. Anything else is refused when saving.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from polyladder.estimators.reader import ValueReader
from polyladder.estimators.registry import UnknownClassError
from polyladder.estimators.restored import check_restored
from polyladder.estimators.table_estimator import TableEstimator
from polyladder.estimators.writer import Writer
from polyladder.files.versions import versions
from polyladder.polynomial.store import write_tensors


def save(estimator: TableEstimator, path: str | PathLike[str]) -> None:
    """Write a fitted estimator with its preprocessing to ``path``, atomically.

    Args:
        estimator: any fitted estimator of this library.
        path: where to; an existing file is replaced.
    """
    check_is_fitted(estimator)
    writer = Writer()
    state = writer.node(estimator, type(estimator).__name__)
    header = {"kind": "estimator", "class": type(estimator).__name__, "versions": versions(), "estimator": state}
    write_tensors(writer.tensors, header, path)


def read(tensors: Mapping[str, Tensor], header: Mapping[str, Any], path: object) -> Any:
    """Assemble an estimator from the content of its file; `polyladder.load` calls this."""
    try:
        reader = ValueReader(tensors)
        estimator = reader.value(header["estimator"])
        check_restored(estimator)
        unused = set(tensors) - set(reader.used)
        if unused:
            raise ValueError(f"nothing refers to {min(unused)[:40]!r}")
    except UnknownClassError as error:
        raise ValueError(
            f"{path} needs {error}, which polyladder {version('polyladder')} does not have; it was written by "
            f"polyladder {version_in(header, 'polyladder')}. Upgrade polyladder."
        ) from error
    except MemoryError:
        raise
    # A file can hold anything, and so can go wrong in any way.
    except Exception as error:
        said = str(error)[:300] or type(error).__name__
        raise ValueError(f"{path} is damaged: it does not form an estimator ({said}).") from error
    here, there = versions()["scikit-learn"], version_in(header, "scikit-learn")
    # Attributes of transformers may change between minor releases of scikit-learn, not within one.
    if here.split(".")[:2] != there.split(".")[:2]:
        warnings.warn(
            f"{path} was written with scikit-learn {there} and is read with {here}; "
            "check a prediction, and fit again if it differs.",
            UserWarning,
            stacklevel=3,
        )
    return estimator


def version_in(header: Mapping[str, Any], name: str) -> str:
    """The version of a package that a header tells, if it does."""
    written = header.get("versions")
    found = written.get(name) if isinstance(written, dict) else None
    return found[:40] if isinstance(found, str) else "of unknown version"
