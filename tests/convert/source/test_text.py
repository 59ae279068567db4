from polyladder.convert.source.text import Source


def test_a_header_is_written_beside(tmp_path):
    Source("int x;\n", "extern int x;\n").write(tmp_path / "m.c")
    assert (tmp_path / "m.c").read_text() == "int x;\n"
    assert (tmp_path / "m.h").read_text() == "extern int x;\n"
    Source("x = 1\n").write(tmp_path / "n.py")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.c", "m.h", "n.py"]
