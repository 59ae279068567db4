import pytest

from polyladder.convert.source.text import Source


def test_a_header_is_written_beside(tmp_path):
    Source("int x;\n", "extern int x;\n").write(tmp_path / "m.c")
    assert (tmp_path / "m.c").read_text() == "int x;\n"
    assert (tmp_path / "m.h").read_text() == "extern int x;\n"
    Source("x = 1\n").write(tmp_path / "n.py")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.c", "m.h", "n.py"]


def test_a_header_of_someone_else_stays(tmp_path):
    """The header's name is not given, so it is replaced only where it is polyladder's own."""
    source, beside = Source("int x;\n", "extern int x;\n"), tmp_path / "m.h"
    beside.write_text("mine")
    with pytest.raises(ValueError, match=r"The header must be a new file or a C header .*m\.h is neither"):
        source.write(tmp_path / "m.c")
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("m.h", "mine")]
    source.write(tmp_path / "m.c", force=True)
    source.write(tmp_path / "m.c")
    assert beside.read_text() == "extern int x;\n"
    with pytest.raises(ValueError, match=r"path must not end in \.h"):
        source.write(beside)
    assert beside.read_text() == "extern int x;\n"
