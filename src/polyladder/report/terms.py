"""The terms of a fitted polynomial, as many as can be read."""

from __future__ import annotations

import math
from typing import Any

from polyladder.analysis.coefficients import coefficients
from polyladder.polynomial.ladder import LadderPolynomial

WHOLE = 60
"""A formula of up to so many terms is shown whole ..."""

LARGEST = 16
"""... and of a longer one so many, the largest; the others are bounded."""

LIMIT = 50_000
"""A polynomial with more terms than this is not multiplied out."""


def largest_terms(estimator: Any, ladders: LadderPolynomial) -> list[dict[str, Any]]:
    """The largest terms of each output; [] where the prediction is no polynomial or has too many terms.

    A small polynomial over numeric columns is written in the columns' own units; any other in transformed features.
    """
    count = math.comb(ladders.in_features + ladders.order, ladders.order)
    if hasattr(estimator, "posterior_") or count > LIMIT:
        return []
    own_units = count <= WHOLE and estimator.features_.affine() is not None
    names = list(estimator.features_.names_in_ if own_units else estimator.features_.feature_names_out_)
    written = coefficients(estimator.polynomial_in_original_units() if own_units else ladders)
    values = written.values if own_units else written.values.mean(0)
    found = []
    for output in values.unbind(-1):
        order = output.abs().argsort(descending=True, stable=True).tolist()
        kept = count if count <= WHOLE else LARGEST
        shown, rest = order[:kept], order[kept:]
        # By degree, then by size: the way a polynomial is read.
        shown.sort(key=lambda i: (int(written.exponents[i].sum()), -abs(float(output[i]))))
        terms = [
            [float(output[i]), [[names[j], int(e)] for j, e in enumerate(written.exponents[i].tolist()) if e]]
            for i in shown
            if float(output[i]) != 0
        ]
        bound = float(output[rest].abs().sum())
        found.append({"own_units": own_units, "total": count, "rest": bound, "terms": terms})
    return found
