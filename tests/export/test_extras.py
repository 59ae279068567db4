"""What is said where an extra is not installed."""

import sys

import pytest

from polyladder import encrypt, register_onnx_converters, to_onnx, to_sympy
from tests.export.estimators import fitted
from tests.ladders import random_ladder


def test_the_extra_is_named(monkeypatch, tmp_path):
    model = fitted("numbers")[0]
    for module in ("onnx", "skl2onnx", "sympy", "tenseal.sealapi"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[onnx\]'"):
        to_onnx(model, tmp_path / "m.onnx")
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[onnx\]'"):
        register_onnx_converters()
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[formula\]'"):
        to_sympy(model)
    made = encrypt(random_ladder(), ranges=[(-1.0, 1.0)] * 3)
    with pytest.raises(ImportError, match=r"pip install 'polyladder\[encrypted\]'"):
        made.recipe.make_keys()
