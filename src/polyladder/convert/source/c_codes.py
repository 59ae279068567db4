"""The function of a C export that turns the texts of a table into codes, reading cells as `predict` does."""

from __future__ import annotations

from polyladder.convert.exported.cells import SPACES, refuse_nul, spelled, spellings_of, words_of
from polyladder.convert.source.c_words import c_string, has_codes
from polyladder.fitted.model import FittedModel
from polyladder.tables.columns import MISSING

CODE = """
static const char *const spaces[] = {{{spaces}}};
static const char *const gaps[] = {{{gaps}}};
static const struct {{ int column, code; const char *text; }} known[] = {{{known}}};
static const struct {{ int column, code; const char *text; }} words[] = {{{words}}};

/* Whether the text between two places is another one; folded, capitals count as small letters. */
static int same(const char *from, const char *to, const char *text, int folded)
{{
    for (; from < to && *text; from++, text++) {{
        char c = *from;
        if (folded && c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != *text) return 0;
    }}
    return from == to && !*text;
}}

/* The length of a space at one end of a text; 0 if there is none. */
static int space(const char *from, const char *to, int last)
{{
    int i, n;
    for (i = 0; i < {space_count}; i++) {{
        for (n = 0; spaces[i][n]; n++) ;
        if (n > to - from) continue;
        if (last ? same(to - n, to, spaces[i], 0) : same(from, from + n, spaces[i], 0)) return n;
    }}
    return 0;
}}

/* The code of a text in a column of texts, as listed above: -1 if the model does not know it, -2 if it is neither yes
   nor no in a column of these. The text is UTF-8; space around it does not count; a word for nothing, such as NA, is a
   missing value, as NULL is. */
int {name}_code(int column, const char *text)
{{
    const char *to = text;
    int i, n;
    if (text) while (*to) to++;
    for (i = 0; i < {count}; i++)
        if (known[i].column == column
            && (text && known[i].text ? same(text, to, known[i].text, 0) : text == known[i].text))
            return known[i].code;
    if (!text) return -1;
    while ((n = space(text, to, 0))) text += n;
    while ((n = space(text, to, 1))) to -= n;
    for (i = 0; i < {gap_count}; i++)
        if (same(text, to, gaps[i], 1)) return {name}_code(column, NULL);
    for (i = 0; i < {count}; i++)
        if (known[i].column == column && known[i].text && same(text, to, known[i].text, 0)) return known[i].code;
    for (i = n = 0; i < {word_count}; i++)
        if (words[i].column == column) {{
            if (same(text, to, words[i].text, 1)) return words[i].code;
            n = -1;
        }}
    return n - 1;
}}
"""


def code_text(model: FittedModel, name: str) -> str:
    """The function and its tables; empty for a model without texts."""
    if not has_codes(model):
        return ""
    refuse_nul(model, "C")
    known: list[tuple[int, int, str | None]] = []
    words: list[tuple[int, int, str | None]] = []
    for i, column in enumerate(model.columns):
        known += [(i, k, category) for k, category in enumerate(column.categories)]
        codes = {category: k for k, category in enumerate(column.categories)}
        known += [(i, codes[meant], other) for other, meant in spellings_of(column).items()]
        for word, category in words_of(column).items():
            words += [(i, codes.get(category, -1), each) for each in spelled(word)]
    # An array must not be empty, so it starts with an entry for a column that does not exist.
    words = words or [(-1, 0, "")]
    return CODE.format(
        name=name,
        spaces=", ".join(map(c_string, SPACES)),
        gaps=", ".join(map(c_string, MISSING)),
        known=rows_text(known),
        words=rows_text(words),
        space_count=len(SPACES),
        gap_count=len(MISSING),
        count=len(known),
        word_count=len(words),
    )


def rows_text(rows: list[tuple[int, int, str | None]]) -> str:
    """Rows of a table of texts."""
    return ", ".join(f"{{{i}, {k}, {c_string(text)}}}" for i, k, text in rows)
