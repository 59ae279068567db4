from polyladder.fitted.column import Column, described
from polyladder.tables.columns import ColumnKind


def test_what_a_column_is_to_the_model():
    assert Column("a", "number", main=0, inputs=(0,)).role == "numeric"
    assert Column("a", "number", flag=0, inputs=(0,)).role == "constant"
    assert Column("a", "category", ("x", "y"), inputs=(0, 1)).role == "category"
    assert Column("a", "category").role == "constant"
    assert Column("a", "number", low=1.0, high=2.0).reach == (1.0, 2.0)
    assert Column("a", "number", low=1.0, high=2.0, held=(0.9, 2.1)).reach == (0.9, 2.1)
    assert Column("a", "number").reading == ColumnKind("a", "number")
    days = ColumnKind("a", "date", "%d.%m.%Y")
    assert Column("a", "number", cells=days).reading is days


def test_notes_describe_columns_that_are_read():
    note = {"median": 7.0, "unit": "kg", "density": {"edges": [0, 1, 2], "counts": [3, 4]}}
    number = described(Column("a", "number", low=0.0, high=2.0, typical=1.0, main=0, inputs=(0,)), note)
    assert (number.typical, number.unit, number.edges, number.counts) == (2.0, "kg", (0, 1, 2), (3.0, 4.0))
    words = {"categories": ["x", "y"], "missing": 2, "density": {"counts": [3, 9]}}
    text = described(Column("t", "category", ("x", None, "y"), inputs=(0, 1, 2)), words)
    assert (text.counts, text.typical) == ((3.0, 2.0, 9.0), "y")
    constant = Column("c", "number")
    assert described(constant, note) is constant
    assert described(text, {}) is text
