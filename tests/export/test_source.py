import pytest

from polyladder import to_source
from polyladder.export.source import LANGUAGES
from tests.export.estimators import spread_model
from tests.ladders import random_ladder


def test_every_language_takes_a_ladder():
    p = random_ladder(d=2, m=1)
    for language in LANGUAGES:
        assert len(str(to_source(p, language))) > 100
    assert to_source(p, "c", numbers="float32", name="small").header.count("small_predict") == 1
    assert '"houses"' in str(to_source(p, "sql", table="houses", key="id"))


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="language must be one of numpy, c, sql"):
        to_source(random_ladder(), "cobol")


def test_files_are_told_apart_by_their_endings_and_first_lines():
    endings = " ".join(language.ending for language in LANGUAGES.values())
    assert endings == ".py .c .sql .js .rs .formulas.csv"
    p = random_ladder(d=2, m=1)
    for language in LANGUAGES.values():
        text = str(to_source(p, language.name))
        assert text.startswith(language.first_line)
        assert f"Written by polyladder: {language.title}." in text or not language.comment


def test_intervals_are_asked_of_every_language():
    """The names of all answers, and after the first line one that says what intervals hold and how errors lie."""
    model, _ = spread_model()
    for language in LANGUAGES.values():
        plain, text = (str(to_source(model, language.name, interval=percentage)) for percentage in (None, 90))
        assert str(to_source(model, language.name)) == plain
        assert ("prediction_2_scale" in text, "prediction_2_scale" in plain) == (True, False)
        if language.comment:
            assert text.startswith(f"{language.first_line}{language.comment.format(note(90))}\n")
    header = to_source(model, "c", interval=66.6).header
    assert header.splitlines()[1] == f"/* {note(66.6)} */"
    assert "#define LADDER_ANSWERS 8" in header


def note(percentage):
    shapes = "Student, 5 degrees of freedom; normal"
    said = f"Intervals, from low to high, are made to hold {percentage} % of new observations."
    return f"{said} Distribution of errors divided by the scale: {shapes}."


def test_integers_and_levels_of_one_are_refused():
    model, _ = spread_model()
    with pytest.raises(ValueError, match="Fixed point must be without intervals"):
        to_source(model, "c", interval=90, numbers="fixed")
    with pytest.raises(ValueError, match="interval must be a percentage"):
        to_source(model, "rust", interval=0.9)
