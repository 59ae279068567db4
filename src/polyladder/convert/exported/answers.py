"""How the outputs of an exported model's ladders become answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]
Guard = tuple[tuple[float, ...], tuple[float, ...]]
"""Lowest and highest value of each output."""


@dataclass(frozen=True)
class Numbers:
    """The mean over the ladders, held to the guard's range where there is one."""

    guard: Guard | None


@dataclass(frozen=True)
class Classes:
    """Probabilities from the mean score over the ladders; of two classes the score is the log-odds of the second."""

    labels: tuple[Any, ...]
    link: Literal["softmax", "one-versus-rest"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """The lower median over the believed draws and the standard deviation of a new observation.

    A draw is believed where all its outputs lie in the guard's range; where none does, all are, held to it.

    Attributes:
        guard: as for `Numbers`.
        variance: of each draw's noise at a row of mean features. Shape (draws, m).
        slopes: of the noise's log precision on the features, held to [-3, 3], and on half their squares less 1.
            Shape (draws, m, 2 d), or (draws, m, 0) where the noise is the same everywhere.
        tilt: the log precision lies within this of a mean row's.
    """

    guard: Guard | None
    variance: Array
    slopes: Array
    tilt: float


@dataclass(frozen=True, eq=False)
class Probit:
    """The mean over the draws of probabilities: the sign, or the largest, of outputs plus standard normal noise.

    Attributes:
        labels: of the classes.
        surest: how far a draw's outputs may lie on one side.
        nodes: of the quadrature for several classes. Shape (nodes,).
        weights: of the nodes, summing to one. Shape (nodes,).
    """

    labels: tuple[Any, ...]
    surest: float
    nodes: Array
    weights: Array


Answer = Numbers | Classes | Posterior | Probit
