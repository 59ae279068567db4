"""What is checked of a center and a radius, and what a certificate says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.ladder import LadderPolynomial, check_tensor
from polyladder.robustness.region import Norm, Region


@dataclass(frozen=True, eq=False)
class Certificate:
    """Proven ranges of the outputs. All shapes are (n, m), behind the ladder's ``batch_shape``; float64.

    Attributes:
        lower: no point of the region has a smaller output.
        upper: no point of the region has a larger output.
        lowest: the smallest output found at a point of the region.
        highest: the largest output found at a point of the region.
    """

    lower: Tensor
    upper: Tensor
    lowest: Tensor
    highest: Tensor

    @property
    def gap(self) -> Tensor:
        """How much wider the proven range is than the range that was found. Shape (n, m)."""
        return (self.upper - self.highest) + (self.lowest - self.lower)


def check_region(polynomial: LadderPolynomial, center: Tensor, radius: Any, norm: Norm) -> Region:
    """The regions of a call: rows (n, d) or one row (d,), with one radius, one for each input or one for each row."""
    d = polynomial.in_features
    if norm not in ("inf", 2):
        raise ValueError(f"norm must be 'inf' or 2; got {norm!r}.")
    check_tensor("center", center)
    rows = center.unsqueeze(0) if center.dim() == 1 else center
    if rows.dim() != 2 or rows.shape[-1] != d:
        raise ValueError(f"center must have shape ({d},) or (n, {d}); got shape {tuple(center.shape)}.")
    if not bool(rows.isfinite().all()):
        raise ValueError("center must be finite; got infinite or NaN entries.")
    if isinstance(radius, Mapping):
        raise TypeError("radius must be a number or a tensor for a ladder; got a mapping. Names belong to estimators.")
    try:
        sizes = torch.as_tensor(radius, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"radius must be a number or a tensor; got {radius!r}.") from error
    if norm == 2:
        if tuple(sizes.shape) not in ((), (len(rows),)):
            raise ValueError(
                f"radius must be one number or have shape ({len(rows)},) for norm=2; got {tuple(sizes.shape)}."
            )
        sizes = sizes.reshape(-1, 1)
    elif tuple(sizes.shape) not in ((), (d,), tuple(rows.shape)):
        raise ValueError(
            f"radius must be one number or have shape ({d},) or {tuple(rows.shape)}; got {tuple(sizes.shape)}."
        )
    if not bool((sizes.isfinite() & (sizes >= 0)).all()):
        raise ValueError(
            f"radius must be finite and not negative; got {sizes.min().item():g} to {sizes.max().item():g}."
        )
    return Region(rows.double().cpu(), sizes.expand(*rows.shape).clone(), norm)


def check_number(name: str, value: Any, what: str = "a number that is not negative") -> float:
    """Refuse all but finite numbers from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be {what}; got {value!r}.")
    return float(value)


def check_seconds(max_seconds: float | None) -> None:
    """Refuse what is neither a number of seconds nor None."""
    if max_seconds is not None:
        check_number("max_seconds", max_seconds, "a number of seconds that is not negative, or None")


def single(polynomial: LadderPolynomial) -> LadderPolynomial:
    """One ladder in float64, without gradients."""
    if polynomial.batch_shape:
        raise ValueError(
            f"The polynomial must be a single one; got batch_shape {tuple(polynomial.batch_shape)}. Index it first."
        )
    return polynomial.to("cpu", torch.float64).map(Tensor.detach)
