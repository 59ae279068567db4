"""The examples that a command's help shows, made to run on files that exist."""

from __future__ import annotations

import shlex
from collections.abc import Mapping


def examples_of(shown: str, replaced: Mapping[str, object]) -> list[list[str]]:
    """The words of each example, without the name of the program, after replacing parts of them."""
    lines = [line.strip(" │\n") for line in shown.splitlines()]
    found = []
    for line in lines:
        if line.startswith("polyladder "):
            words = line.removeprefix("polyladder ")
            for old, new in replaced.items():
                words = words.replace(old, str(new))
            found.append(shlex.split(words))
    return found
