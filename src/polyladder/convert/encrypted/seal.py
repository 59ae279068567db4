"""Microsoft SEAL, as TenSEAL ships it: contexts, and objects to bytes and back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from polyladder.convert.encrypted.parameters import Parameters


def library() -> Any:
    """TenSEAL's binding of SEAL."""
    try:
        import tenseal.sealapi as seal
    except ImportError as error:
        raise ImportError(
            "Encrypted inference needs tenseal. Install it with: pip install 'polyladder[encrypted]'."
        ) from error
    return seal


def context(parameters: Parameters) -> Any:
    """The context of some parameters; SEAL itself refuses what has less than 128 bits of security."""
    seal = library()
    given = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    given.set_poly_modulus_degree(parameters.degree)
    given.set_coeff_modulus(seal.CoeffModulus.Create(parameters.degree, parameters.chain))
    made = seal.SEALContext(given, True, seal.SEC_LEVEL_TYPE.TC128)
    if not made.parameters_set():
        raise ValueError(
            f"The parameters must keep 128 bits of security; got ring size {parameters.degree} and a modulus of "
            f"{parameters.total_bits} bits. SEAL says: {made.parameters_error_message()}."
        )
    return made


def to_bytes(value: Any) -> bytes:
    """An object of SEAL as bytes; SEAL itself only writes files."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "object"
        value.save(str(place))
        return place.read_bytes()


def from_bytes(make: Callable[[], Any], made_in: Any, content: bytes, what: str) -> Any:
    """An object of SEAL from bytes, checked against a context."""
    found = make()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "object"
        place.write_bytes(content)
        try:
            found.load(made_in, str(place))
        # A damaged size may ask for more memory than there is.
        except (RuntimeError, ValueError, MemoryError) as error:
            raise ValueError(f"{what} must belong to this model's parameters and be undamaged; {error}.") from error
    return found


def ciphertext(made_in: Any, content: bytes, scale: float, fresh: bool = False) -> Any:
    """A ciphertext from bytes, of numbers that are multiplied by a scale.

    Args:
        made_in: a context.
        content: from `to_bytes`.
        scale: that it must have; with another its numbers would be wrong.
        fresh: whether it must be newly encrypted, at the first level.
    """
    seal = library()
    found = from_bytes(lambda: seal.Ciphertext(made_in), made_in, content, "A ciphertext")
    as_made = found.size() == 2 and found.parms_id() == made_in.first_parms_id()
    if not (abs(found.scale / scale - 1) < 1e-9 and found.is_ntt_form() and (as_made or not fresh)):
        raise ValueError("A ciphertext must have the scale and the level of its place; it has others. It is damaged.")
    return found
