import pytest

from polyladder import to_source
from polyladder.export.source import LANGUAGES
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
