import pytest

from polyladder.convert.encrypted.parameters import LIMITS, Parameters, candidates, largest_order
from polyladder.convert.encrypted.seal import context, library


def test_limits_are_seals_own():
    seal = library()
    assert {n: seal.CoeffModulus.MaxBitCount(n, seal.SEC_LEVEL_TYPE.TC128) for n in LIMITS} == LIMITS


@pytest.mark.slow
@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4, 7, 16])
def test_every_candidate_is_secure_and_known_to_seal(depth):
    found = candidates(depth)
    for parameters in found:
        assert sum(parameters.chain) == parameters.total_bits <= LIMITS[parameters.degree]
    assert context(found[0]).parameters_set()


def test_a_ladder_too_deep_is_refused_with_the_largest_order():
    candidates(largest_order() - 1)
    with pytest.raises(ValueError, match=f"at most {largest_order()} for 128-bit security; got order 18"):
        candidates(17)


def test_seal_refuses_less_security():
    with pytest.raises(ValueError, match="128 bits of security"):
        context(Parameters(8192, 50, 6))


def test_a_width_of_16_at_order_5_fits_the_middle_ring():
    assert [p.degree for p in candidates(4)] == [16384, 32768]
