"""The ladder in exact rational arithmetic, entry by entry: eq. (5) and (7) read aloud."""

from fractions import Fraction

from polyladder import LadderPolynomial


def evaluate(p: LadderPolynomial, x: list[float]) -> list[Fraction]:
    """One row through one ladder, with loops and no rounding at all."""
    inputs = [Fraction(v) for v in x]
    h = inputs
    for W, b, V, c in p.layers():
        h = [
            (dot(W[i].tolist(), h) + Fraction(b[i].item())) * (dot(V[i].tolist(), inputs) + Fraction(c[i].item()))
            for i in range(W.shape[0])
        ]
    return [dot(p.readout[j].tolist(), h) + Fraction(p.offset[j].item()) for j in range(p.out_features)]


def dot(weights: list[float], values: list[Fraction]) -> Fraction:
    return sum((Fraction(w) * v for w, v in zip(weights, values, strict=True)), Fraction(0))
