import numpy as np
import pytest

from polyladder.convert.encrypted.noise import error_bound, multiplied, noise_of, summed
from polyladder.convert.encrypted.normalized import Sum, normalized
from polyladder.convert.encrypted.parameters import Parameters, candidates
from polyladder.convert.exported.model import exported_ladder
from polyladder.convert.source.fixed import held
from tests.ladders import random_ladder


def test_more_bits_are_less_noise_and_more_rungs_are_more():
    model = normalized(held(exported_ladder(random_ladder(d=3, hidden=(4, 4))), [(-1.0, 1.0)] * 3))
    bounds = [error_bound(model, Parameters(16384, bits, 4))[0] for bits in (30, 40, 50)]
    assert bounds[0] > 500 * bounds[1] > 500 * 500 * bounds[2] > 0
    noise = noise_of(candidates(2)[0])
    one = Sum(np.ones((1, 2)) / 2, np.zeros(1))
    assert summed(one, np.array([1e-3, 1e-3]), noise)[0] > 1e-3


def test_products():
    rng = np.random.default_rng(0)
    exact, error = rng.uniform(-1, 1, (2, 400)), rng.uniform(0, 0.1, (2, 400))
    moved = exact + error * rng.uniform(-1, 1, (2, 400))
    assert (np.abs(moved.prod(0) - exact.prod(0)) <= multiplied(*error)).all()


@pytest.mark.parametrize("degree", [8192, 16384])
def test_a_fresh_ciphertext_is_no_noisier_than_its_bound(degree):
    """Measured: many slots, each with its own error."""
    from polyladder.convert.encrypted.seal import context, library

    seal, parameters = library(), next(p for p in candidates(1) if p.degree == degree)
    made = context(parameters)
    secret = seal.KeyGenerator(made).secret_key()
    encoder, plain, cipher = seal.CKKSEncoder(made), seal.Plaintext(), seal.Ciphertext()
    x = np.random.default_rng(0).uniform(-1, 1, parameters.slots)
    encoder.encode(x.tolist(), parameters.scale, plain)
    seal.Encryptor(made, secret).encrypt_symmetric(plain, cipher)
    seal.Decryptor(made, secret).decrypt(cipher, plain)
    error = np.abs(np.array(encoder.decode_double(plain)) - x).max() * parameters.scale
    assert noise_of(parameters).fresh / 30 < error < noise_of(parameters).fresh
