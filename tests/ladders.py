"""Random ladders for every test: the one place where a test gets a `LadderPolynomial` from."""

from collections.abc import Sequence

import torch
from hypothesis import strategies as st

from polyladder import LadderPolynomial

BATCH_SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3)]


def random_ladder(
    d: int = 3,
    hidden: Sequence[int] = (4, 5),
    m: int = 2,
    batch_shape: Sequence[int] = (),
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
    gate_bias: bool = True,
) -> LadderPolynomial:
    """A ladder of moderate size in all its weights: outputs of order one on the unit box."""
    g = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*batch_shape, *shape, generator=g, dtype=torch.float64).to(dtype)

    inputs = (d, *hidden)
    return LadderPolynomial(
        W=tuple(draw(k, i) / i**0.5 for k, i in zip(hidden, inputs, strict=False)),
        b=tuple(0.3 * draw(k) for k in hidden),
        V=tuple(draw(k, d) / d**0.5 for k in hidden),
        c=tuple(1 + 0.3 * draw(k) if gate_bias else 0 * draw(k) for k in hidden),
        readout=draw(m, inputs[-1]) / inputs[-1] ** 0.5,
        offset=draw(m),
    )


def rows(n: int, d: int, seed: int = 1, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Standard normal rows."""
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


@st.composite
def ladders(
    draw: st.DrawFn,
    max_layers: int = 4,
    max_width: int = 5,
    min_layers: int = 0,
    dtypes: Sequence[torch.dtype] = (torch.float64,),
) -> LadderPolynomial:
    """Ladders of any small size, batch shape and dtype."""
    return random_ladder(
        d=draw(st.integers(1, 4)),
        hidden=draw(st.lists(st.integers(1, max_width), min_size=min_layers, max_size=max_layers)),
        m=draw(st.integers(1, 3)),
        batch_shape=draw(st.sampled_from(BATCH_SHAPES)),
        dtype=draw(st.sampled_from(list(dtypes))),
        seed=draw(st.integers(0, 2**31)),
        gate_bias=draw(st.booleans()),
    )
