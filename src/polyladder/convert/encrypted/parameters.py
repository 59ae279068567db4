"""Ring size, modulus chain and scale, derived from the order of a ladder; 128-bit security throughout."""

from __future__ import annotations

from dataclasses import dataclass

LIMITS = {8192: 218, 16384: 438, 32768: 881}
"""Largest number of bits of the whole modulus for 128 bits of security (homomorphicencryption.org), by ring size."""

FEWEST = 25
"""Fewest bits of a level: with fewer the noise dominates."""

MOST = 50
"""Most bits of a level: the first and the special prime are larger by `MARGIN`, and no prime has more than 60."""

MARGIN = 10
"""By how many bits the first and the special prime are larger than a level's."""


@dataclass(frozen=True)
class Parameters:
    """What both sides must agree on.

    Attributes:
        degree: ring size; half of it rows fit into one ciphertext.
        bits: of a level: the scale is 2^bits.
        levels: primes between the first and the special one.
    """

    degree: int
    bits: int
    levels: int

    @property
    def slots(self) -> int:
        """Rows of one ciphertext."""
        return self.degree // 2

    @property
    def scale(self) -> float:
        """What an encrypted number is multiplied by."""
        return 2.0**self.bits

    @property
    def chain(self) -> list[int]:
        """Bits of every prime, the special one last."""
        return [self.bits + MARGIN, *[self.bits] * self.levels, self.bits + MARGIN]

    @property
    def total_bits(self) -> int:
        """Bits of the whole modulus."""
        return 2 * (self.bits + MARGIN) + self.bits * self.levels


def candidates(depth: int) -> list[Parameters]:
    """Parameters for a ladder of this many rungs, smallest ring first, as precise as each ring allows."""
    # One level for the weights and one for the product of each rung, but none for the last product.
    levels, found = max(1, 2 * depth), []
    for degree, limit in LIMITS.items():
        bits = min(MOST, (limit - 2 * MARGIN) // (levels + 2))
        if bits >= FEWEST:
            found.append(Parameters(degree, bits, levels))
    if not found:
        raise ValueError(
            f"A ladder for encrypted rows must have an order of at most {largest_order()} for 128-bit security; got "
            f"order {depth + 1}. Fit a lower order, or take polyladder.shallower."
        )
    return found


def largest_order() -> int:
    """The largest order that any ring allows.

    >>> largest_order()
    17
    """
    return ((max(LIMITS.values()) - 2 * MARGIN) // FEWEST - 2) // 2 + 1
