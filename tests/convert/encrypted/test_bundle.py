import pytest

from polyladder.convert.encrypted.bundle import pack, unpack
from polyladder.convert.encrypted.parameters import Parameters


def test_there_and_back():
    parameters = Parameters(8192, 40, 2)
    content = pack("encrypted rows", parameters, {"a": b"1", "b": b""}, rows=3)
    assert unpack("encrypted rows", content) == (parameters, {"rows": 3}, {"a": b"1", "b": b""})


@pytest.mark.parametrize("content", [b"", b"PK", b"not an archive"])
def test_anything_else_is_refused(content):
    with pytest.raises(ValueError, match="something else or damaged"):
        unpack("public key", content)
