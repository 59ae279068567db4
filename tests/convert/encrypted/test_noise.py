from dataclasses import dataclass, replace

import numpy as np
import pytest

from polyladder.convert.encrypted.noise import CiphertextNoise, error_bound, ladder_error, noise_of, summed
from polyladder.convert.encrypted.normalized import NormalLadder, Sum, normalized
from polyladder.convert.encrypted.parameters import Parameters, candidates
from polyladder.convert.encrypted.server import Machine
from polyladder.convert.source.fixed import held
from polyladder.fitted.model import ladder_model
from polyladder.polynomial.ball import product_error
from tests.ladders import random_ladder


def test_more_bits_are_less_noise_and_more_rungs_are_more():
    model = normalized(held(ladder_model(random_ladder(d=3, hidden=(4, 4))), [(-1.0, 1.0)] * 3))
    bounds = [error_bound(model, Parameters(16384, bits, 4))[0] for bits in (30, 40, 50)]
    assert bounds[0] > 500 * bounds[1] > 500 * 500 * bounds[2] > 0
    noise = noise_of(candidates(2)[0])
    one = Sum(np.ones((1, 2)) / 2, np.zeros(1))
    assert summed(one, np.array([1e-3, 1e-3]), noise)[0] > 1e-3


def test_products():
    rng = np.random.default_rng(0)
    exact, error = rng.uniform(-1, 1, (2, 400)), rng.uniform(0, 0.1, (2, 400))
    moved = exact + error * rng.uniform(-1, 1, (2, 400))
    sized = [np.ones(400), error[0], np.ones(400), error[1]]
    assert (np.abs(moved.prod(0) - exact.prod(0)) <= product_error(*sized)).all()


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


@dataclass
class Number:
    """What stands for a ciphertext: the number that it would decrypt to, and its scale."""

    value: float = 0.0
    scale: float = 1.0
    level: int = 0

    def parms_id(self) -> int:
        return self.level


class WorstCase(Machine):
    """The server's own steps, on plain numbers to which every operation adds all the noise that it may have.

    Nothing here shares the derivation of the bound: errors are added where the server computes, and carried by the
    numbers themselves.
    """

    Plaintext = Ciphertext = Number

    def __init__(self, parameters: Parameters, noise: CiphertextNoise) -> None:
        self.parameters, self.noise, self.keys = parameters, noise, None
        self.seal = self.evaluator = self.encoder = self

    def prime(self, ciphertext: Number) -> int:
        return 2**self.parameters.bits

    def encode(self, value: float, level: int, scale: float, plain: Number) -> None:
        plain.value, plain.scale, plain.level = value + 0.5 / scale, scale, level

    def multiply_plain(self, a: Number, plain: Number, out: Number) -> None:
        out.value, out.scale, out.level = a.value * plain.value, a.scale * plain.scale, a.level

    def add_inplace(self, a: Number, b: Number) -> None:
        assert a.level == b.level
        assert a.scale == pytest.approx(b.scale)
        a.value += b.value

    add_plain_inplace = add_inplace

    def multiply_inplace(self, a: Number, b: Number) -> None:
        assert a.level == b.level
        a.value, a.scale = a.value * b.value, a.scale * b.scale

    def relinearize_inplace(self, a: Number, keys: None) -> None:
        a.value += self.noise.switched / a.scale

    def rescale_to_next_inplace(self, a: Number) -> None:
        a.scale, a.level = a.scale / 2**self.parameters.bits, a.level + 1
        a.value += self.noise.rescaled / a.scale

    def mod_switch_to(self, a: Number, level: int, out: Number) -> None:
        out.value, out.scale, out.level = a.value, a.scale, level


def ones(k: int, j: int) -> Sum:
    """Positive weights whose sum with a constant is 1 where all inputs are: errors all add up."""
    weights = np.random.default_rng(k * j).uniform(0.1, 1, (k, j + 1))
    weights /= weights.sum(1, keepdims=True)
    return Sum(weights[:, :-1], weights[:, -1])


@pytest.mark.parametrize("source", ["fresh", "rescaled", "switched", "all"])
@pytest.mark.parametrize("rungs", [0, 1, 2, 5])
def test_no_noise_of_any_operation_is_forgotten(source, rungs):
    """Each source of noise alone, large enough to stand out from the rounding of weights, and all together."""
    parameters = Parameters(16384, 40, 10)
    real = noise_of(parameters)
    loud = {"fresh": 1e7 * real.fresh, "rescaled": 2e5 * real.rescaled, "switched": 5e13 * real.switched}
    noise = real if source == "all" else replace(CiphertextNoise(0, 0, 0, real.scale), **{source: loud[source]})
    if rungs == 0:
        ladder = NormalLadder((), ((None, Sum(np.array([[0.25, 0.75]]), np.zeros(1))),))
    else:
        inner = [ones(3, 2), *(ones(3, 3) for _ in range(rungs - 1))]
        share = np.array([0.2, 0.3, 0.5])
        last = Sum(inner[-1].matrix * share[:, None], inner[-1].vector * share)
        ladder = NormalLadder(tuple((u, ones(3, 2)) for u in inner[:-1]), ((last, ones(3, 2)),))
    fresh = noise.fresh / noise.scale
    (found,) = WorstCase(parameters, noise).ladder(ladder, [Number(1 + fresh, parameters.scale) for _ in range(2)])
    error, (bound,) = found.value - 1, ladder_error(ladder, np.full(2, fresh), noise)
    assert 0 < error <= bound < 1.1 * error + 100 / noise.scale
