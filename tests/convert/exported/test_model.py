import pytest

from polyladder.convert.exported.model import ExportedColumn, check_identifier, exported_ladder, identifier
from polyladder.export.read import exported
from tests.export.estimators import fitted
from tests.ladders import random_ladder


def test_answers_have_names():
    assert exported_ladder(random_ladder(m=2)).answer_names == ("prediction_1", "prediction_2")
    assert exported(fitted("posterior")[0]).answer_names == ("prediction", "prediction_std")
    assert exported(fitted("two classes")[0]).answer_names == ("probability_low", "probability_middle's")


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match="must be a single one"):
        exported_ladder(random_ladder(batch_shape=(2,)))


def test_identifiers():
    assert identifier("a b") == "a_b"
    assert identifier("") == "_"
    check_identifier("price_2", "C")
    with pytest.raises(ValueError, match=r"name must be an identifier of C; got '2nd'. Use '_2nd'"):
        check_identifier("2nd", "C")
    with pytest.raises(ValueError, match=r"must not be a word that JavaScript uses itself; got 'class'. Use 'class_'"):
        check_identifier("class", "JavaScript", ["class"])


def test_columns_know_how_their_cells_are_written():
    assert ExportedColumn("a", "number").cells.kind == "number"
    assert ExportedColumn("a", "category").cells.kind == "category"
    written = {"kind": "boolean", "words": ["N", "Y"]}
    assert ExportedColumn("a", "category", written=written).cells.words == ("N", "Y")
