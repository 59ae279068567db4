import pytest

from polyladder.convert.identifiers import check_identifier, identifier
from polyladder.fitted.column import Column
from polyladder.fitted.model import fitted_model, ladder_model
from polyladder.tables.columns import ColumnKind
from tests.export.estimators import fitted
from tests.ladders import random_ladder


def test_answers_have_names():
    assert ladder_model(random_ladder(m=2)).answer_names == ("prediction_1", "prediction_2")
    assert fitted_model(fitted("posterior")[0]).answer_names == ("prediction", "prediction_std")
    assert fitted_model(fitted("two classes")[0]).answer_names == ("probability_low", "probability_middle's")


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match="must be a single one"):
        ladder_model(random_ladder(batch_shape=(2,)))


def test_identifiers():
    assert identifier("a b") == "a_b"
    assert identifier("") == "_"
    check_identifier("price_2", "C")
    with pytest.raises(ValueError, match=r"name must be an identifier of C; got '2nd'. Use '_2nd'"):
        check_identifier("2nd", "C")
    with pytest.raises(ValueError, match=r"must not be a word that JavaScript uses itself; got 'class'. Use 'class_'"):
        check_identifier("class", "JavaScript", ["class"])


def test_columns_know_how_their_cells_are_written():
    assert Column("a", "number").reading.kind == "number"
    assert Column("a", "category").reading.kind == "category"
    cells = ColumnKind("a", "boolean", words=("N", "Y"))
    assert Column("a", "category", cells=cells).reading.words == ("N", "Y")
