import re
import subprocess

import numpy as np
import pytest

from polyladder.convert.source.c import c_source
from polyladder.convert.source.fixed import fixed_source
from polyladder.fitted.model import fitted_model, ladder_model
from tests.convert.source.compiled import call, coded, compiler, library
from tests.export.estimators import NAMES, case, each, error, fitted
from tests.ladders import random_ladder


@pytest.mark.parametrize("name", each(*NAMES, "selected", "piecewise", "intervals", "selected intervals"))
def test_agrees_with_predict(name, tmp_path):
    model, rows, answers = case(name)
    description = fitted_model(model)
    loaded = library(c_source(description), tmp_path)
    numbers = coded(loaded, description, rows)
    assert error(call(loaded, numbers, answers.shape[1]), answers) < 1e-12


@pytest.mark.parametrize(
    "name", each("numbers", "yeo-johnson", "gaps and categories", "three classes", "piecewise", "intervals")
)
def test_single_precision(name, tmp_path):
    model, rows, answers = case(name)
    description = fitted_model(model)
    loaded = library(c_source(description, numbers="float32"), tmp_path)
    numbers = coded(loaded, description, rows)
    assert error(call(loaded, numbers, answers.shape[1], np.float32), answers) < 1e-4


def test_the_best_class_is_predicted(tmp_path):
    model, rows = fitted("three classes")
    description = fitted_model(model)
    loaded = library(c_source(description), tmp_path)
    probabilities = call(loaded, rows.to_numpy()[:300], 3)
    best = [loaded.ladder_class(p.ctypes.data_as(loaded.ladder_predict.argtypes[0])) for p in probabilities]
    assert [description.answer.labels[i] for i in best] == model.predict(rows[:300]).tolist()


def test_numbers_are_written_exactly_and_nothing_is_allocated():
    p = random_ladder(d=2, hidden=(3,), m=1)
    text = str(c_source(ladder_model(p)))
    written = {float.fromhex(h) for h in re.findall(r"-?0x[0-9a-f.]+p[+-]\d+", text)}
    assert set(p.readout.flatten().tolist()) <= written
    assert "alloc" not in text
    assert "tgmath" not in text


def test_names_cannot_leave_their_comment_and_the_header_serves_c_plus_plus(tmp_path):
    source = c_source(ladder_model(random_ladder(d=1), ["*/ int x = ; /*"]))
    (tmp_path / "m.h").write_text(source.header)
    (tmp_path / "m.cc").write_text('#include "m.h"\nint main() { double a[2], r[1] = {0}; ladder_predict(r, a); }\n')
    source.write(tmp_path / "ladder.c")
    made = subprocess.run([compiler(), "-c", "ladder.c", "-o", "l.o"], cwd=tmp_path, capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    linked = subprocess.run([compiler(), "m.cc", "l.o"], cwd=tmp_path, capture_output=True, check=False)
    assert linked.returncode == 0, linked.stderr


def test_the_header_of_integers_serves_c_plus_plus(tmp_path):
    fixed_source(ladder_model(random_ladder(d=1)), ranges=[(0.0, 1.0)]).write(tmp_path / "ladder.c")
    called = "int32_t a[1], r[1] = {0}; ladder_predict(r, a); return ladder_column_exponents[0] > 0;"
    (tmp_path / "m.cc").write_text(f'#include "ladder.h"\nint main() {{ {called} }}\n')
    for command in (["-c", "ladder.c", "-o", "l.o"], ["m.cc", "l.o"]):
        made = subprocess.run([compiler(), *command], cwd=tmp_path, capture_output=True, check=False)
        assert made.returncode == 0, made.stderr


def test_a_name_that_is_no_identifier_is_refused():
    with pytest.raises(ValueError, match="name must be an identifier"):
        c_source(ladder_model(random_ladder()), name="my model")
    with pytest.raises(ValueError, match="numbers must be"):
        c_source(ladder_model(random_ladder()), numbers="float16")


@pytest.mark.slow
def test_names_that_c_and_its_headers_use_are_prefixes_like_any_other(tmp_path):
    ladder = ladder_model(random_ladder(d=1))
    lines = ["#include <stdint.h>\n#include <stddef.h>"]
    for name in ("int", "class", "_stdint", "_stddef", "NULL", "errno"):
        c_source(ladder, name=name).write(tmp_path / f"{name}.c")
        fixed_source(ladder, name=f"{name}_fixed", ranges=[(0.0, 1.0)]).write(tmp_path / f"{name}_fixed.c")
        lines.append(f'#include "{name}.h"\n#include "{name}_fixed.h"')
        lines.append(f"void *use_{name}[] = {{(void *){name}_predict, (void *){name}_fixed_predict}};")
    (tmp_path / "main.c").write_text("\n".join(lines))
    files = [place.name for place in tmp_path.glob("*.c")]
    command = [compiler(), "-std=c99", "-Wall", "-Werror", "-Wno-unused-variable", "-O0", "-shared", "-fPIC", *files]
    made = subprocess.run([*command, "-o", "all.so"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
