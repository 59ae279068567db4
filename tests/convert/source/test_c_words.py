import subprocess

from polyladder.convert.source.c_words import c_string, column_words, commented
from polyladder.fitted.column import Column
from polyladder.tables.columns import ColumnKind, column_kind
from tests.convert.source.compiled import compiler

HOSTILE = [
    "a*\\\n/\nint injected(void) { return 1; }\n/*",
    "*/ int x = ; /*",
    "*??/\n/",
    "ends in a backslash\\",
    "*\\\r\n/",
    "\"quoted\" and 'so'",
    "é\u2028ü\x00\x1b[0m",
]


def test_literals_are_bytes_of_utf_8_and_comments_hold(tmp_path):
    lines = ['#include <stdio.h>\n#include <string.h>\nint main(void) { const char *t = ""; int i;']
    for text in (h.replace("\0", "") for h in HOSTILE):
        lines.append(f"    /* {commented(text)} {commented(text)}*/\n    t = {c_string(text)};")
        lines.append('    for (i = 0; t[i]; i++) printf("%02x", (unsigned char)t[i]);\n    puts("");')
    (tmp_path / "t.c").write_text("\n".join([*lines, "    return 0; }\n"]))
    command = [compiler(), "-std=c99", "-trigraphs", "-Wall", "-Werror", "-pedantic", "t.c", "-o", "t"]
    made = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    printed = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout.split()
    assert printed == [h.replace("\0", "").encode().hex() for h in HOSTILE]


def test_columns_in_words():
    assert column_words(Column("a", "number")) == "a number"
    assert "days since 1970-01-01" in column_words(Column("a", "number", cells=ColumnKind("a", "date")))
    assert column_words(Column("a", "category", ("x", None))) == (
        'code of a text (0: "x", 1: missing, -1: none of these)'
    )
    written = {"kind": "boolean", "words": ["N", "Y"]}
    assert "-2: neither yes nor no" in column_words(
        Column("a", "category", ("N", "Y"), cells=column_kind("a", written))
    )
    assert column_words(Column("a", "category")) == "not used"
