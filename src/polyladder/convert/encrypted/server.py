"""The server's side: a model and a public key, encrypted rows in, encrypted scores out. It can decrypt nothing."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

from polyladder.convert.encrypted.bundle import Bundle, check_ids, check_parts, pack, unpack
from polyladder.convert.encrypted.client import ClientRecipe
from polyladder.convert.encrypted.normalized import NormalLadder, NormalModel, Sum
from polyladder.convert.encrypted.parameters import Parameters
from polyladder.convert.encrypted.seal import ciphertext, context, from_bytes, library, to_bytes
from polyladder.convert.exported.ranges import Array


@dataclass(frozen=True, eq=False)
class EncryptedModel:
    """A model that scores encrypted rows; made by `polyladder.encrypt`.

    Attributes:
        model: the ladders, every value inside of them normalized.
        recipe: what clients need: parameters, preprocessing and the way from outputs to answers, but no weights.
    """

    model: NormalModel
    recipe: ClientRecipe

    @property
    def bound(self) -> Array:
        """On the difference between decrypted and exact outputs; fails with a probability below 1e-8. Shape (m,)."""
        return self.recipe.bound

    @property
    def parameters(self) -> Parameters:
        """Ring size, scale and levels."""
        return self.recipe.parameters

    def score(self, public_key: bytes, rows: bytes, workers: int = 1) -> bytes:
        """Scores of encrypted rows, encrypted.

        Args:
            public_key: of the client, from `Keys.public`.
            rows: from `ClientRecipe.encrypt`.
            workers: processes that share the blocks of rows.
        """
        bundle, public = unpack("encrypted rows", rows), unpack("public key", public_key)
        recipe, d = self.recipe, len(self.model.scale)
        check_ids("The rows", bundle.ids, recipe.model, recipe.id)
        check_ids("The public key", public.ids, recipe.model, recipe.id, bundle.ids.key)
        blocks = check_parts("The rows", bundle, self.parameters.slots, d)
        key = public.parts.get("relinearization", b"")
        jobs = [(self.model, self.parameters, key, [bundle.parts[f"{k}_{i}"] for i in range(d)]) for k in range(blocks)]
        if workers > 1 and blocks > 1:
            with ProcessPoolExecutor(min(workers, blocks), mp_context=get_context("spawn")) as pool:
                scored = list(pool.map(score_block, jobs))
        else:
            scored = [score_block(job) for job in jobs]
        found = {f"{k}_{j}": content for k, block in enumerate(scored) for j, content in enumerate(block)}
        return pack("encrypted scores", Bundle(bundle.ids, found, bundle.rows))


@lru_cache(maxsize=4)
def machine(parameters: Parameters, keys: bytes) -> Machine:
    """The tools for some keys, cached: loading them takes longer than many blocks."""
    return Machine(parameters, keys)


def score_block(job: tuple[NormalModel, Parameters, bytes, list[bytes]]) -> list[bytes]:
    """The outputs of one block of rows, as bytes."""
    model, parameters, keys, contents = job
    tools = machine(parameters, keys)
    z = [ciphertext(tools.context, content, parameters.scale, fresh=True) for content in contents]
    try:
        total = tools.ladder(model.ladders[0], z)
        for ladder in model.ladders[1:]:
            for a, b in zip(total, tools.ladder(ladder, z), strict=True):
                tools.evaluator.add_inplace(a, b)
    except RuntimeError as error:
        raise ValueError(f"The rows must be ciphertexts that can be computed with; SEAL says: {error}.") from error
    return [to_bytes(t) for t in total]


class Machine:
    """SEAL's tools for one context and one client's relinearization keys."""

    def __init__(self, parameters: Parameters, keys: bytes) -> None:
        self.seal = library()
        self.parameters = parameters
        self.context = context(parameters)
        self.keys = from_bytes(self.seal.RelinKeys, self.context, keys, "The public key")
        self.evaluator = self.seal.Evaluator(self.context)
        self.encoder = self.seal.CKKSEncoder(self.context)

    def prime(self, ciphertext: Any) -> int:
        """The prime that the next rescaling drops."""
        chain = self.context.get_context_data(ciphertext.parms_id()).parms().coeff_modulus()
        return int(chain[-1].value())

    def combine(self, weights: Array, constant: float, x: list[Any], scale: float) -> Any:
        """Weights times ciphertexts plus a constant, at a given scale and not yet rescaled."""
        factor = scale / x[0].scale
        plain, total = self.seal.Plaintext(), None
        # SEAL refuses products with zero, whose result anyone could read; if all weights are zero, one is rounded up.
        kept = [j for j, w in enumerate(weights) if abs(w) * factor >= 0.5]
        values = {j: float(weights[j]) for j in kept} or {0: 1.0 / factor}
        product = self.seal.Ciphertext()
        for j, w in values.items():
            self.encoder.encode(w, x[j].parms_id(), factor, plain)
            if total is None:
                total = self.seal.Ciphertext()
                self.evaluator.multiply_plain(x[j], plain, total)
            else:
                self.evaluator.multiply_plain(x[j], plain, product)
                self.evaluator.add_inplace(total, product)
        assert total is not None
        if constant:
            self.encoder.encode(float(constant), total.parms_id(), total.scale, plain)
            self.evaluator.add_plain_inplace(total, plain)
        return total

    def sums(self, part: Sum, x: list[Any]) -> list[Any]:
        """Matrix x + vector, one level lower, at the scale of fresh ciphertexts."""
        scale = self.parameters.scale * self.prime(x[0])
        found = []
        for row, constant in zip(part.matrix, part.vector, strict=True):
            total = self.combine(row, constant, x, scale)
            self.evaluator.rescale_to_next_inplace(total)
            # Exact up to rounding of float64: the weights were scaled by the prime that is dropped.
            total.scale = self.parameters.scale
            found.append(total)
        return found

    def lowered(self, z: list[Any], h: list[Any]) -> list[Any]:
        """Z at the level of h."""
        if z[0].parms_id() == h[0].parms_id():
            return z
        found = []
        for fresh in z:
            low = self.seal.Ciphertext()
            self.evaluator.mod_switch_to(fresh, h[0].parms_id(), low)
            found.append(low)
        return found

    def ladder(self, ladder: NormalLadder, z: list[Any]) -> list[Any]:
        """The sums of one ladder, one ciphertext per output, not relinearized."""
        h = z
        for inner, gate in ladder.rungs:
            z = self.lowered(z, h)
            products = []
            for u, g in zip(self.sums(inner, h), self.sums(gate, z), strict=True):
                self.evaluator.multiply_inplace(u, g)
                self.evaluator.relinearize_inplace(u, self.keys)
                self.evaluator.rescale_to_next_inplace(u)
                products.append(u)
            h = products
        z = self.lowered(z, h)
        if ladder.last[0][0] is None:
            scale = self.parameters.scale**2
            return [self.combine(gate.matrix[0], 0.0, z, scale) for _, gate in ladder.last]
        gates = self.sums(ladder.last[0][1], z)
        return [self.last_sum(inner, gates, h) for inner, _ in ladder.last if inner is not None]

    def last_sum(self, inner: Sum, gates: list[Any], h: list[Any]) -> Any:
        """The sum of the products with all gates, not relinearized, because nothing is multiplied after it."""
        total = None
        for u, gate in zip(self.sums(inner, h), gates, strict=True):
            self.evaluator.multiply_inplace(u, gate)
            if total is None:
                total = u
            else:
                self.evaluator.add_inplace(total, u)
        return total
