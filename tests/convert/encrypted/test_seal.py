import pytest

from polyladder.convert.encrypted.parameters import candidates
from polyladder.convert.encrypted.seal import context, from_bytes, library, to_bytes


def test_keys_go_to_bytes_and_back_and_damage_is_noticed():
    seal, made = library(), context(candidates(1)[0])
    secret = seal.KeyGenerator(made).secret_key()
    content = to_bytes(secret)
    assert to_bytes(from_bytes(seal.SecretKey, made, content, "The key"))
    with pytest.raises(ValueError, match="The key must belong"):
        from_bytes(seal.SecretKey, made, content[:100], "The key")
