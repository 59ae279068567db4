import numpy as np
import pytest

from polyladder.convert.source.c import c_source
from polyladder.convert.source.c_codes import code_text
from polyladder.convert.source.c_words import has_codes
from polyladder.convert.source.fixed import fixed_source
from polyladder.fitted.model import fitted_model, ladder_model
from tests.convert.source.compiled import call, library
from tests.export.cells import BASE, TEXTS, as_numbers, error, models, predicted, rows
from tests.ladders import random_ladder


def coded(loaded, frame, name):
    """Rows of numbers, texts by the codes that the library has for them. Shape (n, columns)."""
    ready = as_numbers(frame, name)
    columns = [
        [loaded.ladder_code(i, cell.encode()) for cell in frame[c]]
        if c in TEXTS
        else ready[c].cast(float).fill_null(np.nan).to_numpy()
        for i, c in enumerate(frame.columns)
    ]
    return np.stack([np.array(column, dtype=float) for column in columns], 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "default"])
def test_cells_are_read_as_predict_reads_them(name, tmp_path):
    loaded = library(c_source(fitted_model(models()[name])), tmp_path)
    table = coded(loaded, rows(), name)
    assert error(call(loaded, table, 1), predicted(name)) < 1e-12
    # Neither yes nor no, codes that do not exist, and infinite numbers have no answer.
    assert loaded.ladder_code(1, b"maybe") == -2
    for column, value in ((1, -2.0), (0, 17.0), (0, np.nan), (6, np.inf), (6, -np.inf)):
        wrong = table[:1].copy()
        wrong[0, column] = value
        assert np.isnan(call(loaded, wrong, 1)).all()


@pytest.mark.slow
def test_texts_of_every_alphabet_have_codes(tmp_path):
    model = fitted_model(models()["small"])
    sex = model.columns[0].categories
    for source in (c_source(model), fixed_source(model)):
        loaded = library(source, tmp_path)
        assert [loaded.ladder_code(0, None if c is None else c.encode()) for c in sex] == list(range(len(sex)))
        assert loaded.ladder_code(0, "  Ümi\u2003".encode()) == sex.index("Ümi")
        assert loaded.ladder_code(0, "ümi".encode()) == loaded.ladder_code(0, b"") - sex.index(None) - 1 == -1
        assert loaded.ladder_code(1, "НЕТ".encode()) == loaded.ladder_code(1, b"No\r\n") == 0
        # The header lists what the codes are.
        assert '"Ümi"' in source.header
        assert 'code of a text (0: "N", 1: "Y", -1: none of these' in source.header


def test_models_of_numbers_have_no_codes():
    model = ladder_model(random_ladder())
    assert not has_codes(model)
    assert code_text(model, "ladder") == ""
    assert BASE.keys() == {c.name for c in fitted_model(models()["small"]).columns}
