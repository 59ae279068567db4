"""Test set-up: code blocks of the Markdown pages are tests, torch keeps to one thread (pytest uses both cores)."""

import hypothesis
import torch
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

torch.set_num_threads(1)
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
hypothesis.settings.load_profile("repeatable")

pytest_collect_file = Sybil(parsers=[PythonCodeBlockParser(), SkipParser()], patterns=["*.md"]).pytest()
