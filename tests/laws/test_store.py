"""Law: load(save(p)) = p, bit for bit."""

import tempfile
from pathlib import Path

import torch
from hypothesis import given

from polyladder import LadderPolynomial, load
from tests.ladders import ladders


@given(ladders(dtypes=(torch.float64, torch.float32, torch.bfloat16)))
def test_store(p: LadderPolynomial) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.ladder"
        p.save(path)
        assert load(path) == p
