"""`LadderPolynomial`: the frozen weights of a ladder and its linear readout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any

import torch
from torch import Tensor

from polyladder.polynomial.sparse import is_sparse, times


@dataclass(frozen=True, eq=False, repr=False)
class LadderPolynomial:
    r"""A polynomial of exact order L + 1, held as the weights of a ladder.

    Implements: eq. (3), eq. (4), eq. (5), eq. (6), eq. (7).

    .. math:: h^0 = x, \quad h^l = (W^l h^{l-1} + b^l) * (V^l x + c^l), \quad f(x) = R h^L + o

    Each field has the same leading ``batch_shape``, so one object can hold many polynomials. With no layers at all
    it is the affine function R x + o, of order 1.

    Args:
        W: layer weights. Shapes (*batch_shape, k_l, k_(l-1)), k_0 = d.
        b: layer intercepts. Shapes (*batch_shape, k_l).
        V: gate weights. Shapes (*batch_shape, k_l, d).
        c: gate intercepts; zero in the paper's literal form. Shapes (*batch_shape, k_l).
        readout: R. Shape (*batch_shape, m, k_L).
        offset: o. Shape (*batch_shape, m).

    Example:
        >>> import torch
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> square
        LadderPolynomial(order=2, 1 -> [1] -> 1, 6 weights, float32)
        >>> square(torch.tensor([[3.0]]))
        tensor([[9.]])
    """

    W: tuple[Tensor, ...]
    b: tuple[Tensor, ...]
    V: tuple[Tensor, ...]
    c: tuple[Tensor, ...]
    readout: Tensor
    offset: Tensor

    def __post_init__(self) -> None:
        for name in ("W", "b", "V", "c"):
            object.__setattr__(self, name, tuple(vars(self)[name]))
        check_weights(self)

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch of polynomials; ``()`` for a single one."""
        return self.readout.shape[:-2]

    @property
    def in_features(self) -> int:
        """The number d of inputs."""
        return int(self.W[0].shape[-1] if self.W else self.readout.shape[-1])

    @property
    def out_features(self) -> int:
        """The number m of outputs."""
        return int(self.readout.shape[-2])

    @property
    def hidden(self) -> tuple[int, ...]:
        """The widths k_1, ..., k_L."""
        return tuple(int(w.shape[-2]) for w in self.W)

    @property
    def order(self) -> int:
        """The polynomial order, L + 1."""
        return len(self.W) + 1

    @property
    def n_weights(self) -> int:
        """How many numbers one polynomial of the batch holds."""
        return sum(t.numel() for t in self.tensors().values()) // math.prod(self.batch_shape)

    @property
    def dtype(self) -> torch.dtype:
        """The type of every weight."""
        return self.readout.dtype

    @property
    def device(self) -> torch.device:
        """Where every weight lies."""
        return self.readout.device

    def __call__(self, x: Tensor) -> Tensor:
        """Evaluate at rows x of shape (n, d) or (*batch_shape, n, d); the result has shape (*batch_shape, n, m).

        Rows of shape (n, d) may be a sparse CSR tensor: they stay sparse.
        """
        x = self.check_rows(x)
        return affine(self.hidden_states(x)[-1], self.readout, self.offset)

    def hidden_states(self, x: Tensor) -> list[Tensor]:
        """h^0, ..., h^L at rows x. Shapes (n, d) as given, then (*batch_shape, n, k_l)."""
        states = [x]
        for W, b, V, c in self.layers():
            states.append(product_activation(affine(states[-1], W, b), V, x, c))
        return states

    def layers(self) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """The layers from first to last, each as (W, b, V, c)."""
        return zip(self.W, self.b, self.V, self.c, strict=True)

    def tensors(self) -> dict[str, Tensor]:
        """Every weight under its flat name (``W.0``, ``b.0``, ..., ``readout``, ``offset``)."""
        flat = {f"{name}.{l}": t for name in "WbVc" for l, t in enumerate(vars(self)[name])}
        return {**flat, "readout": self.readout, "offset": self.offset}

    def map(self, function: Callable[[Tensor], Tensor]) -> LadderPolynomial:
        """The ladder whose every weight tensor is ``function`` of this one's."""
        return combine(lambda tensors: function(tensors[0]), [self])

    def to(self, *args: Any, **kwargs: Any) -> LadderPolynomial:
        """As ``Tensor.to``: another dtype, device or both."""
        return self.map(lambda t: t.to(*args, **kwargs))

    def check_rows(self, x: Tensor) -> Tensor:
        """Refuse inputs that the ladder cannot read; return them in its dtype and on its device."""
        check_tensor("x", x)
        return check_rows(x, self.in_features, self.batch_shape).to(dtype=self.dtype, device=self.device)

    def __getitem__(self, index: Any) -> LadderPolynomial:
        """One polynomial, or a part, of the batch."""
        if not self.batch_shape:
            raise IndexError("This LadderPolynomial has no batch_shape to index: it is a single polynomial already.")
        # The index must not reach the trailing (weight) dimensions, so the batch is flattened and positions are picked.
        positions = torch.arange(math.prod(self.batch_shape)).reshape(self.batch_shape)[index].to(self.device)
        depth = len(self.batch_shape)
        return self.map(lambda t: t.flatten(0, depth - 1)[positions])

    def __len__(self) -> int:
        if not self.batch_shape:
            raise TypeError("A single LadderPolynomial has no length; only a batch of them has.")
        return int(self.batch_shape[0])

    def __iter__(self) -> Iterator[LadderPolynomial]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Equal weights, bit for bit, of equal shape and dtype."""
        if not isinstance(other, LadderPolynomial):
            return NotImplemented
        mine, theirs = self.tensors(), other.tensors()
        return mine.keys() == theirs.keys() and all(
            t.dtype == theirs[name].dtype and torch.equal(t, theirs[name]) for name, t in mine.items()
        )

    # Tensors are mutable, so a hash of their content would be wrong as soon as one is changed.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        batch = f"batch_shape={tuple(self.batch_shape)}, " if self.batch_shape else ""
        shape = f"{self.in_features} -> {list(self.hidden)} -> {self.out_features}"
        return (
            f"LadderPolynomial({batch}order={self.order}, {shape}, "
            f"{self.n_weights} weights, {str(self.dtype).removeprefix('torch.')})"
        )

    def _repr_html_(self) -> str:
        """The curves along its inputs, for notebooks."""
        # Display is imported by name, so that nothing here depends on it.
        return str(import_module("polyladder.report.notebook").curve_grid(self))

    def save(self, path: str | PathLike[str], feature_names: Sequence[str] | None = None) -> None:
        """Write the ladder to one safetensors file; see `polyladder.polynomial.store`."""
        from polyladder.polynomial.store import save

        save(self, path, feature_names=feature_names)


def affine(h: Tensor, weight: Tensor, intercept: Tensor) -> Tensor:
    """Rows h (..., n, i), dense or CSR, times weight (*batch_shape, o, i), plus intercept (*batch_shape, o)."""
    return (times(h, weight) if is_sparse(h) else h @ weight.mT) + intercept.unsqueeze(-2)


def product_activation(u: Tensor, V: Tensor, x: Tensor, c: Tensor | None = None) -> Tensor:
    r"""The activation that makes a network a ladder: each unit is multiplied by a linear gate of the input.

    Implements: eq. (2).

    .. math:: \sigma_p(u; V, x) = u * (V x + c)

    It raises the order of a polynomial u by one. It is not a function of u alone: rows with equal u and different x
    have different responses.

    Args:
        u: what goes in. Shape (*batch_shape, n, k).
        V: gate weights. Shape (*batch_shape, k, d).
        x: the network's input rows. Shape (n, d) or (*batch_shape, n, d).
        c: gate intercepts; None for the paper's literal form, which has none. Shape (*batch_shape, k).

    Returns:
        The response. Shape (*batch_shape, n, k).

    Example:
        >>> u, V, x = torch.tensor([[3.0, 5.0]]), torch.eye(2), torch.tensor([[10.0, -1.0]])
        >>> product_activation(u, V, x)
        tensor([[30., -5.]])
        >>> product_activation(u, V, x, c=torch.ones(2))
        tensor([[33.,  0.]])
    """
    check_rows(x, V.shape[-1], V.shape[:-2])
    if u.dim() < 2 or u.shape[-2:] != (x.shape[-2], V.shape[-2]):
        raise ValueError(f"u must have {x.shape[-2]} rows of {V.shape[-2]} units; got shape {tuple(u.shape)}.")
    return u * affine(x, V, V.new_zeros(V.shape[:-1]) if c is None else c)


def combine(function: Callable[[list[Tensor]], Tensor], ladders: Sequence[LadderPolynomial]) -> LadderPolynomial:
    """Apply a function to the corresponding weights of several ladders of one shape."""

    def each(name: str) -> tuple[Tensor, ...]:
        return tuple(function(list(ts)) for ts in zip(*(vars(p)[name] for p in ladders), strict=True))

    return LadderPolynomial(
        W=each("W"),
        b=each("b"),
        V=each("V"),
        c=each("c"),
        readout=function([p.readout for p in ladders]),
        offset=function([p.offset for p in ladders]),
    )


def stack_ladders(ladders: Sequence[LadderPolynomial]) -> LadderPolynomial:
    """Join ladders of one architecture along a new leading batch dimension."""
    shapes = {(p.in_features, p.hidden, p.out_features, tuple(p.batch_shape)) for p in ladders}
    if len(shapes) != 1:
        raise ValueError(f"stack must be given ladders of one shape; got {sorted(shapes)}. Use widen to join others.")
    return combine(torch.stack, ladders)


def check_tensor(name: str, value: object) -> None:
    """Refuse what is not a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor; got {type(value).__name__}. Wrap it in torch.as_tensor.")


def check_rows(x: Tensor, in_features: int, batch_shape: Sequence[int]) -> Tensor:
    """Refuse rows whose shape is neither (n, d) nor (*batch_shape, n, d)."""
    batch = tuple(batch_shape)
    if x.dim() < 2 or x.shape[-1] != in_features or (x.dim() > 2 and tuple(x.shape[:-2]) != batch):
        expected = f"(n, {in_features})"
        if batch:
            expected += f" or ({', '.join(map(str, batch))}, n, {in_features})"
        raise ValueError(f"x must have shape {expected}; got shape {tuple(x.shape)}.")
    return x


def check_weights(p: LadderPolynomial) -> None:
    """Refuse weights that do not fit each other, naming the first that does not."""
    counts = {name: len(vars(p)[name]) for name in ("W", "b", "V", "c")}
    if len(set(counts.values())) != 1:
        raise ValueError(f"W, b, V and c must have one entry a layer; got {counts}.")
    for name, t in p.tensors().items():
        check_tensor(name, t)
        if not t.is_floating_point():
            raise TypeError(
                f"{name} must be a floating-point tensor; got {t.dtype}. Convert it with .to(torch.float64)."
            )
    if p.readout.dim() < 2:
        raise ValueError(f"readout must have shape (*batch_shape, m, k); got shape {tuple(p.readout.shape)}.")
    if p.W and p.W[0].dim() < 2:
        raise ValueError(f"W.0 must have shape (*batch_shape, k, d); got shape {tuple(p.W[0].shape)}.")
    batch, d, previous = tuple(p.batch_shape), p.in_features, p.in_features
    expected: dict[str, tuple[int, ...]] = {}
    for l, W in enumerate(p.W):
        k = W.shape[-2] if W.dim() >= 2 else -1
        expected |= {f"W.{l}": (k, previous), f"b.{l}": (k,), f"V.{l}": (k, d), f"c.{l}": (k,)}
        previous = k
    m = p.readout.shape[-2]
    expected |= {"readout": (m, previous), "offset": (m,)}
    for name, t in p.tensors().items():
        if tuple(t.shape) != batch + expected[name]:
            raise ValueError(f"{name} must have shape {batch + expected[name]}; got shape {tuple(t.shape)}.")
        if (t.dtype, t.device) != (p.dtype, p.device):
            raise ValueError(f"{name} must be {p.dtype} on {p.device} as the readout is; got {t.dtype} on {t.device}.")
        if 0 in t.shape:
            raise ValueError(f"{name} must not be empty; got shape {tuple(t.shape)}.")
