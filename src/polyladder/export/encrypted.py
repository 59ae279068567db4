"""`encrypt`: a model that scores encrypted rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from polyladder.convert.encrypted.client import ClientRecipe
from polyladder.convert.encrypted.ids import model_id
from polyladder.convert.encrypted.noise import error_bound
from polyladder.convert.encrypted.normalized import NormalModel, normalized
from polyladder.convert.encrypted.parameters import Parameters, candidates
from polyladder.convert.encrypted.server import EncryptedModel
from polyladder.convert.exported.ranges import Array
from polyladder.convert.source.fixed import held
from polyladder.fitted.answers import Classes, Numbers
from polyladder.fitted.model import AnyModel, fitted_model

TOLERANCE = 1e-4
"""The default tolerance, as a share of an output's guarded range, or of its proven size where nothing guards it."""

SCORE = 1e-3
"""The default tolerance of a class's score: it moves a probability by at most half of that."""


def encrypt(
    model: AnyModel, tolerance: float | None = None, ranges: Sequence[tuple[float, float]] | None = None
) -> EncryptedModel:
    """A model that predicts rows which it cannot read: homomorphic encryption (CKKS). Needs the extra ``encrypted``.

    The client makes keys and encrypts rows (`EncryptedModel.recipe`), the server scores them with the public key alone,
    the client decrypts. Ring size, modulus chain and scale follow from the order and from proven ranges, with 128 bits
    of security.

    Args:
        model: a `LadderPolynomial` (a single one, with ``ranges``) or a fitted estimator with a ladder behind it and
            clipped inputs: ladders, factorization machines and polynomial kernels, of numbers and of classes.
        tolerance: how far an output may be off, in its own units. The smallest ring whose proven bound keeps it is
            taken. By default a ten-thousandth of the guarded range, or of the proven size of outputs without a guard;
            a thousandth for scores of classes.
        ranges: (low, high) of each input of a bare ladder; rows are held to them.

    Returns:
        The server's side; its ``recipe`` is all that a client needs and holds no weights, ``bound`` the proven error.
    """
    if tolerance is not None and not 0 < tolerance < np.inf:
        raise ValueError(f"tolerance must be a positive number; got {tolerance!r}.")
    description = fitted_model(model)
    answer = description.answer
    if not isinstance(answer, Numbers | Classes):
        raise ValueError(
            "The model must have one ladder for encrypted rows; a posterior has many. "
            "Use encrypt(model.polynomial_, ranges=...), its mean."
        )
    if ranges is not None:
        description = held(description, ranges)
    plain = normalized(description)
    parameters, bound = chosen(plain, tolerances(plain, answer, tolerance))
    recipe = ClientRecipe(
        model_id(description, answer),
        parameters,
        description.columns,
        description.steps,
        plain.scale,
        plain.sizes,
        plain.offset,
        answer,
        bound,
    )
    return EncryptedModel(plain, recipe)


def tolerances(model: NormalModel, answer: Numbers | Classes, tolerance: float | None) -> Array:
    """What each output may be off by. Shape (m,)."""
    if tolerance is not None:
        return np.full(len(model.sizes), tolerance)
    if isinstance(answer, Numbers) and answer.guard is not None:
        return TOLERANCE * (np.array(answer.guard[1]) - np.array(answer.guard[0]))
    return np.full(len(model.sizes), SCORE) if isinstance(answer, Classes) else TOLERANCE * model.sizes


def chosen(model: NormalModel, allowed: Array) -> tuple[Parameters, Array]:
    """The smallest ring whose proven bound is small enough, and that bound."""
    best = np.full(len(model.sizes), np.inf)
    for parameters in candidates(model.depth):
        bound = error_bound(model, parameters)
        if (bound <= allowed).all():
            return parameters, bound
        best = np.minimum(best, bound)
    raise ValueError(
        f"tolerance must be at least {float((best / allowed).max()) * float(allowed.max()):.3g} for this model, whose "
        f"values reach {float(model.sizes.max()):.3g} inside; got {float(allowed.max()):.3g}. "
        "Raise it, or fit a lower order."
    )
