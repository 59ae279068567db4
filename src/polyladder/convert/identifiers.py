"""Names that are valid in programming languages."""

from __future__ import annotations

import re
from collections.abc import Collection


def identifier(name: str) -> str:
    """A name that is valid in programming languages: letters, digits and underscores.

    >>> identifier("2nd price (USD)")
    '_2nd_price_USD_'
    """
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII)
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def check_identifier(name: str, language: str, taken: Collection[str] = ()) -> None:
    """Refuse a name that is not an identifier of a language, or is one of its own words."""
    if name != identifier(name):
        raise ValueError(f"name must be an identifier of {language}; got {name!r}. Use {identifier(name)!r}.")
    if name in taken:
        raise ValueError(f"name must not be a word that {language} uses itself; got {name!r}. Use {name + '_'!r}.")
