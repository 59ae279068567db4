"""Elementary steps from a column of a table to one input of a ladder; one file a step, listed here and nowhere else."""

from typing import Any

from polyladder.fitted.steps.affine import Affine
from polyladder.fitted.steps.blank import Blank
from polyladder.fitted.steps.clip import Clip
from polyladder.fitted.steps.cyclic import Cyclic
from polyladder.fitted.steps.fill import Fill
from polyladder.fitted.steps.indicators import IsCategory, IsMissing
from polyladder.fitted.steps.quantile import Quantile
from polyladder.fitted.steps.ramp import Ramp
from polyladder.fitted.steps.step import Step
from polyladder.fitted.steps.yeo_johnson import YeoJohnson

KINDS = (Affine, Blank, Clip, Cyclic, Fill, IsCategory, IsMissing, Quantile, Ramp, YeoJohnson)

STEPS: dict[str, Any] = {kind.__name__: kind for kind in KINDS}
"""All steps by their names, as recipes of encrypted rows have them."""

__all__ = [
    "STEPS",
    "Affine",
    "Blank",
    "Clip",
    "Cyclic",
    "Fill",
    "IsCategory",
    "IsMissing",
    "Quantile",
    "Ramp",
    "Step",
    "YeoJohnson",
]
