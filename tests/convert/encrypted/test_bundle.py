import io
import json
import zipfile

import pytest

from polyladder.convert.encrypted.bundle import HEAD, Bundle, Ids, check_ids, check_parts, pack, unpack

IDS = Ids("m" * 32, "r" * 32, "k" * 32)
ROWS = Bundle(IDS, {"0_0": b"1", "0_1": b""}, 3)


def archive(head: object, parts: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as file:
        file.writestr(HEAD, json.dumps(head))
        for name, content in parts.items():
            file.writestr(name, content)
    return out.getvalue()


def head(**changed: object) -> dict[str, object]:
    return {"kind": "encrypted rows", "ids": vars(IDS), "rows": 3} | changed


def test_there_and_back():
    content = pack("encrypted rows", ROWS)
    assert unpack("encrypted rows", content) == ROWS
    assert unpack("encrypted rows", archive(head(), ROWS.parts)) == ROWS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"not an archive",
        archive([], {}),
        archive(head(ids=None), {}),
        archive(head(ids={"model": "m"}), {}),
        archive(head(rows="3"), {}),
        archive(head(rows=True), {}),
        archive(head(rows=3.0), {}),
        archive({"kind": "encrypted rows", "parameters": {}, "rows": 3, "blocks": 1}, {}),
        archive(head(), {"0_0": bytes(10**6)}, zipfile.ZIP_DEFLATED),
        archive(head(), {"0_0": bytes(10**6)}, zipfile.ZIP_BZIP2),
    ],
)
def test_anything_else_is_refused(content):
    with pytest.raises(ValueError, match=r"encrypted rows of polyladder; it is something else, damaged, or of an earl"):
        unpack("encrypted rows", content)


def test_one_part_in_many_places_is_refused_unread():
    """Every entry of the directory names the same bytes, so that a few become many."""
    whole = archive(head(), {"0_0": bytes(10**5)})
    with zipfile.ZipFile(io.BytesIO(whole)) as file:
        part = file.getinfo("0_0")
        start = file.start_dir
    out = io.BytesIO(whole[:start])
    with zipfile.ZipFile(out, "a") as file:
        file.writestr(HEAD, json.dumps(head()))
        for i in range(100):
            entry = zipfile.ZipInfo(f"0_{i}")
            entry.header_offset, entry.CRC = part.header_offset, part.CRC
            entry.file_size = entry.compress_size = part.file_size
            file.filelist.append(entry)
    assert len(out.getvalue()) < 2 * len(whole)
    with pytest.raises(ValueError, match="something else, damaged"):
        unpack("encrypted rows", out.getvalue())


@pytest.mark.parametrize(("found", "words"), [("secret key", "a secret key"), ("encrypted scores", "encrypted scores")])
def test_another_kind_is_named(found, words):
    with pytest.raises(ValueError, match=rf"^The file must hold encrypted rows; it holds {words}\.$"):
        unpack("encrypted rows", archive(head(kind=found), {}))
    with pytest.raises(ValueError, match=r"^The file must hold encrypted scores; it holds encrypted rows\.$"):
        unpack("encrypted scores", pack("encrypted rows", ROWS))
    with pytest.raises(ValueError, match=r"it holds something else\.$"):
        unpack("public key", archive(head(kind=[found]), {}))


@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (4, 1), (5, 2), (8, 2)])
def test_parts_follow_from_rows(rows, blocks):
    parts = {f"{k}_{i}": b"" for k in range(blocks) for i in range(3)}
    assert check_parts("The rows", Bundle(IDS, parts, rows), 4, 3) == blocks
    for wrong in (rows + 4, 0, -1, 10**30):
        with pytest.raises(ValueError, match="The rows must have 3 ciphertexts for every 4 rows"):
            check_parts("The rows", Bundle(IDS, parts, wrong), 4, 3)
    with pytest.raises(ValueError, match="The rows must have 3 ciphertexts"):
        check_parts("The rows", Bundle(IDS, {name.replace("0_0", "x"): b"" for name in parts}, rows), 4, 3)


def test_what_belongs_elsewhere_is_refused():
    check_ids("The rows", IDS, IDS.model, IDS.recipe)
    check_ids("The rows", IDS, IDS.model, IDS.recipe, IDS.key)
    for name in vars(IDS):
        wanted = vars(IDS) | {name: "0" * 32}
        with pytest.raises(ValueError, match=f"^The rows must belong to {name} 00000000; got {name} '{name[0] * 8}'"):
            check_ids("The rows", IDS, **wanted)
