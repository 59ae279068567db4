"""Test set-up: code blocks of the Markdown pages are tests, torch keeps to one thread (pytest uses both cores)."""

import gc
import os
import tempfile
from collections.abc import Generator

import hypothesis
import pytest
import torch
from sybil import Sybil
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

torch.set_num_threads(1)
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("repeatable")


def in_a_folder_of_its_own(namespace: dict[str, object]) -> None:
    """Pages may write files; they land in a temporary folder."""
    namespace["_folder"] = tempfile.TemporaryDirectory()
    namespace["_before"] = os.getcwd()
    os.chdir(namespace["_folder"].name)  # type: ignore[attr-defined]


def back_again(namespace: dict[str, object]) -> None:
    """Leave the folder and remove it."""
    os.chdir(namespace["_before"])  # type: ignore[arg-type]
    namespace["_folder"].cleanup()  # type: ignore[attr-defined]


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(), SkipParser()],
    patterns=["*.md"],
    setup=in_a_folder_of_its_own,
    teardown=back_again,
).pytest()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end: nobody looks for garbage in it, neither while it grows nor between tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Libraries that watch for leaks find none at the end."""
    gc.unfreeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pages run first: their examples build on each other, and an idle worker takes tests from the end of the list."""
    items.sort(key=lambda item: not isinstance(item, SybilItem))
