"""Keys, rows, scores and recipes damaged, forged and swapped: each is refused with a sentence or does what it says.

What is computed from them is one answer a row and within the model's proven range, and takes memory like the file.
"""

import copy
import io
import json
import zipfile
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyladder import encrypt
from polyladder.convert.encrypted.bundle import HEAD
from polyladder.convert.encrypted.client import ClientRecipe
from polyladder.convert.encrypted.ids import recipe_id
from tests.fuzz import fuzz, limited_memory
from tests.ladders import random_ladder

pytestmark = pytest.mark.slow
half = settings(fuzz, max_examples=max(1, fuzz.max_examples // 2))

X = np.linspace(-1, 1, 6).reshape(3, 2)
FILES = ("secret", "public", "rows", "scores")
STEPS = {"secret": ("encrypt", "decrypt"), "public": ("score",), "rows": ("score",), "scores": ("decrypt",)}
"""The steps that read a file."""

VALUES = st.sampled_from(
    [None, True, 0, -1, 3, 4097, 10**18, 10**30, 1e308, 0.5, "", "0_0", "secret key", "encrypted rows", [], {}, [[]]]
)


class World:
    """A model, and two sets of files that differ in their keys alone."""

    def __init__(self) -> None:
        self.made = encrypt(random_ladder(d=2, hidden=(2,), m=1), ranges=[(-1.0, 1.0)] * 2)
        self.sets = []
        for _ in range(2):
            keys = self.made.recipe.make_keys()
            rows = self.made.recipe.encrypt(keys.secret, X)
            parts = (keys.secret, keys.public, rows, self.made.score(keys.public, rows))
            self.sets.append(dict(zip(FILES, parts, strict=True)))

    def refused(self, steps: tuple[str, ...], recipe: ClientRecipe | None = None, **changed: bytes) -> list[str]:
        """Which steps refuse their files, where some are changed; never otherwise than with a sentence."""
        recipe, files, found = recipe or self.made.recipe, self.sets[0] | changed, []
        for step in steps:
            said = None
            try:
                with limited_memory(10 * sum(map(len, files.values())) + 40 * 2**20):
                    if step == "encrypt":
                        recipe.encrypt(files["secret"], X)
                    elif step == "score":
                        self.made.score(files["public"], files["rows"])
                    else:
                        answers = recipe.decrypt(files["secret"], files["scores"])
                        assert answers.shape == (len(X), 1)
                        assert (np.abs(answers - recipe.offset) <= 1.01 * (recipe.sizes + recipe.bound)).all()
            except ValueError as error:
                said = str(error)
            if said is not None:
                assert said.endswith(".")
                assert len(said) < 500
                found.append(step)
        return found


@pytest.fixture(scope="module")
def world() -> World:
    return World()


def test_whole_files_pass_and_swapped_ones_are_refused(world: World) -> None:
    again = ClientRecipe.from_json(world.made.recipe.to_json())
    assert world.refused(("encrypt", "score", "decrypt"), again) == []
    for name in FILES:
        for other in FILES:
            if other != name:
                assert world.refused(STEPS[name], **{name: world.sets[0][other]}) == [*STEPS[name]]
        # To encrypt, any key of this recipe will do.
        assert world.refused(STEPS[name], **{name: world.sets[1][name]}) == [STEPS[name][-1]]


@half
@given(name=st.sampled_from(FILES), data=st.data())
def test_damaged_bytes(world: World, name: str, data: st.DataObject) -> None:
    content = bytearray(world.sets[0][name])
    for _ in range(data.draw(st.integers(1, 3))):
        # The head stands in front, the directory at the end.
        at = data.draw(st.integers(0, 300) | st.integers(0, 10**6) | st.integers(-300, -1))
        at = max(-len(content), min(at, len(content) - 1))
        match data.draw(st.sampled_from(["flip", "cut", "end", "insert"])):
            case "flip":
                content[at] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del content[at : at + data.draw(st.integers(1, 100))]
            case "end" if at > 0:
                del content[at:]
            case _:
                content[at:at] = data.draw(st.binary(min_size=1, max_size=20))
        if not content:
            break
    world.refused(STEPS[name], **{name: bytes(content)})


@half
@given(name=st.sampled_from(FILES), data=st.data())
def test_forged_bundles(world: World, name: str, data: st.DataObject) -> None:
    """With checksums that fit: heads that lie, parts that are lacking, doubled, exchanged, changed or packed."""
    with zipfile.ZipFile(io.BytesIO(world.sets[0][name])) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    head = json.loads(parts.pop(HEAD))
    others = [content for files in world.sets for content in files.values()]
    for _ in range(data.draw(st.integers(1, 2))):
        match data.draw(st.sampled_from(["head", "ids", "drop", "add", "other", "bytes"])):
            case "head":
                head[data.draw(st.sampled_from(["kind", "ids", "rows", "more"]))] = data.draw(VALUES)
            case "ids" if isinstance(head.get("ids"), dict):
                head["ids"] = head["ids"] | {data.draw(st.sampled_from(["model", "recipe", "key"])): data.draw(VALUES)}
            case "drop":
                parts.pop(data.draw(st.sampled_from([*parts, None])), None)
            case "add":
                parts[data.draw(st.sampled_from(["0_1", "0_2", "1_0", "secret", "../x"]))] = data.draw(st.binary())
            case "other":
                with zipfile.ZipFile(io.BytesIO(data.draw(st.sampled_from(others)))) as archive:
                    taken = archive.read(data.draw(st.sampled_from(archive.namelist()[1:])))
                parts |= dict.fromkeys(data.draw(st.lists(st.sampled_from([*parts, "0_0"]), max_size=1)), taken)
            case _ if parts:
                part = data.draw(st.sampled_from(sorted(parts)))
                content = bytearray(parts[part] or b"x")
                at = data.draw(st.integers(0, 120) | st.integers(0, 10**6)) % len(content)
                content[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=9))
                parts[part] = bytes(content)
            case _:
                pass
    out = io.BytesIO()
    packing = data.draw(st.sampled_from([zipfile.ZIP_STORED] * 5 + [zipfile.ZIP_DEFLATED]))
    with zipfile.ZipFile(out, "w", packing) as archive:
        archive.writestr(HEAD, json.dumps(head))
        for part, content in parts.items():
            archive.writestr(part, content)
    world.refused(STEPS[name], **{name: out.getvalue()})


def test_a_bomb_is_refused_unread(world: World) -> None:
    """Of 120 megabytes, more than a step may take."""
    name = "rows"
    with zipfile.ZipFile(io.BytesIO(world.sets[0][name])) as archive:
        head = archive.read(HEAD)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(HEAD, head)
        with archive.open("0_0", "w") as part:
            for _ in range(120):
                part.write(bytes(2**20))
    assert len(out.getvalue()) < 10**6
    assert world.refused(STEPS[name], **{name: out.getvalue()}) == [*STEPS[name]]


def places(node: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a tree of JSON."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [found for key in keys for found in [(node, key), *places(node[key])]]


@half
@given(data=st.data())
def test_forged_recipes(world: World, data: st.DataObject) -> None:
    """With a name that fits what they say, where they can have one; no key belongs to them, so new ones are made."""
    content = json.loads(world.made.recipe.to_json())
    for _ in range(data.draw(st.integers(1, 2))):
        node, key = data.draw(st.sampled_from(places(content)))
        if data.draw(st.booleans()):
            node[key] = copy.deepcopy(data.draw(VALUES | st.sampled_from(list(content.values()))))
        elif isinstance(node, dict):
            node.pop(key, None)
    numbers = ("scale", "sizes", "offset", "bound")
    with suppress(KeyError, TypeError, ValueError, OverflowError):
        said = {name: value for name, value in content.items() if name not in (*numbers, "id")}
        content["id"] = recipe_id(said, {name: np.array(content[name], dtype=float) for name in numbers})
    try:
        recipe = ClientRecipe.from_json(json.dumps(content))
    except ValueError as error:
        said = str(error)
    else:
        keys = recipe.make_keys()
        world.refused(("encrypt", "decrypt"), recipe, secret=keys.secret)
        return
    assert "must hold a recipe" in said
