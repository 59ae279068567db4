"""How many encrypted rows a second, and how exactly?

A ladder of order 3 (8 inputs, 8-8 units), one of order 5 (16-16-16-16), and, by TenSEAL's own vectors, the same ladder
of order 3 and a network 8-8-8-1 whose activation is a cubic polynomial: one ciphertext per input or unit, every product
rescaled and relinearized as TenSEAL does by itself, parameters chosen by hand. 8,192 rows, uniform on [-1, 1], one
core. Scoring is timed alone; keys, encryption and decryption beside it. All take turns in one run.

Run: python benchmarks/encrypted_rows.py
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import tenseal as ts
import torch
from record import record
from timing import alternate

from polyladder import LadderPolynomial, encrypt

ROWS, INPUTS = 8192, 8


def ladder(width: int, rungs: int, scale: float) -> LadderPolynomial:
    """Random weights; outputs up to about ``scale``."""
    g = torch.Generator().manual_seed(0)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    sizes = (INPUTS, *[width] * rungs)
    return LadderPolynomial(
        W=tuple(draw(k, j) / j**0.5 for j, k in pairwise(sizes)),
        b=tuple(0.3 * draw(k) for k in sizes[1:]),
        V=tuple(draw(k, INPUTS) / INPUTS**0.5 for k in sizes[1:]),
        c=tuple(1 + 0.3 * draw(k) for k in sizes[1:]),
        readout=scale * draw(1, width) / width**0.5,
        offset=draw(1),
    )


def by_vectors(p: LadderPolynomial, x: list[ts.CKKSVector]) -> ts.CKKSVector:
    """The ladder as anybody would write it with TenSEAL."""
    h = x
    for W, b, V, c in p.layers():
        u = [plain_sum(row.tolist(), h) + [bias] * ROWS for row, bias in zip(W, b.tolist(), strict=True)]
        g = [plain_sum(row.tolist(), x) + [bias] * ROWS for row, bias in zip(V, c.tolist(), strict=True)]
        h = [a * b for a, b in zip(u, g, strict=True)]
    return plain_sum(p.readout[0].tolist(), h) + [p.offset.item()] * ROWS


def network(p: LadderPolynomial, x: list[ts.CKKSVector]) -> ts.CKKSVector:
    """A network with the W of the ladder and 0.5 + 0.6 a - 0.1 a^3 in place of a sigmoid-like activation."""
    h = x
    for W, b in zip(p.W, p.b, strict=True):
        a = [plain_sum(row.tolist(), h) + [bias] * ROWS for row, bias in zip(W, b.tolist(), strict=True)]
        h = [unit.polyval([0.5, 0.6, 0.0, -0.1]) for unit in a]
    return plain_sum(p.readout[0].tolist(), h)


def plain_sum(weights: list[float], vectors: list[ts.CKKSVector]) -> ts.CKKSVector:
    total = vectors[0] * weights[0]
    for w, v in zip(weights[1:], vectors[1:], strict=True):
        total += v * w
    return total


def vector_context(levels: int, bits: int = 40) -> ts.Context:
    chain = [60, *[bits] * levels, 60]
    made = ts.context(
        ts.SCHEME_TYPE.CKKS, 16384 if sum(chain) <= 438 else 32768, coeff_mod_bit_sizes=chain, n_threads=1
    )
    made.global_scale = 2.0**bits
    return made


def main() -> None:
    torch.set_num_threads(1)
    x = np.random.default_rng(0).uniform(-1, 1, (ROWS, INPUTS))
    rivals, checks, figures = {}, {}, {}
    for name, width, rungs in (("order 3, 8-8", 8, 2), ("order 5, 16-16-16-16", 16, 4)):
        p = ladder(width, rungs, 5.6 if rungs == 2 else 2.7)
        exact = p(torch.tensor(x)).numpy()
        made = encrypt(p, tolerance=1e-4 if rungs == 2 else 0.2, ranges=[(-1.0, 1.0)] * INPUTS)
        start = time.perf_counter()
        keys = made.recipe.make_keys()
        middle = time.perf_counter()
        rows = made.recipe.encrypt(keys.secret, x)
        end = time.perf_counter()
        scores = made.score(keys.public, rows)
        after = time.perf_counter()
        found = made.recipe.decrypt(keys.secret, scores)
        print(
            f"{name}: ring {made.parameters.degree}, {made.parameters.total_bits} bits; keys {middle - start:.2f} s, "
            f"encrypt {end - middle:.2f} s, decrypt {time.perf_counter() - after:.2f} s; "
            f"rows {len(rows) / 1e6:.1f} MB, scores {len(scores) / 1e6:.1f} MB, "
            f"public key {len(keys.public) / 1e6:.1f} MB\n    values up to {np.abs(exact).max():.3g}, error "
            f"{np.abs(found - exact).max():.2g}, proven bound {made.bound.max():.2g}"
        )
        figures[name] = {
            "parameters": str(made.parameters),
            "values up to": float(np.abs(exact).max()),
            "error": float(np.abs(found - exact).max()),
            "bound": float(made.bound.max()),
        }
        rivals[f"polyladder, {name}"] = lambda made=made, keys=keys, rows=rows: made.score(keys.public, rows)
    p = ladder(8, 2, 5.6)
    context = vector_context(5)
    vectors = [ts.ckks_vector(context, column.tolist()) for column in x.T]
    rivals["TenSEAL vectors, order 3, 8-8"] = lambda: by_vectors(p, vectors)
    exact = p(torch.tensor(x)).numpy()[:, 0]
    checks["TenSEAL vectors"] = np.abs(np.array(by_vectors(p, vectors).decrypt()) - exact).max()
    deep = vector_context(7)
    others = [ts.ckks_vector(deep, column.tolist()) for column in x.T]
    rivals["TenSEAL vectors, network 8-8-8-1"] = lambda: network(p, others)
    for name, error in checks.items():
        print(f"{name}: error {error:.2g}")
    seconds = alternate(rivals, rounds=5, warmup=1)
    for name, value in seconds.items():
        print(f"{name:36} {value:7.2f} s  {ROWS / value:9,.0f} rows/s")
    figures |= {"TenSEAL vectors, error": {k: float(v) for k, v in checks.items()}, "seconds": seconds}
    record("encrypted_rows", figures, ("tenseal", "numpy", "torch"))


if __name__ == "__main__":
    main()
