"""Block solves, slow and obvious: features by moving one weight at a time, each regression by numpy's least squares."""

import numpy as np
import torch

from polyladder import LadderPolynomial

Array = np.ndarray


def block_names(layers: int) -> list[str]:
    """The blocks in the order in which a sweep solves them."""
    return ["readout"] + [f"{name}.{l}" for l in reversed(range(layers)) for name in "VW"]


def get_block(p: LadderPolynomial, name: str) -> torch.Tensor:
    """A block with its intercepts as last column. Shape (rows, columns + 1)."""
    weight, intercept = members(name)
    t = p.tensors()
    return torch.cat([t[weight], t[intercept].unsqueeze(-1)], -1)


def with_block(p: LadderPolynomial, name: str, block: torch.Tensor) -> LadderPolynomial:
    """The ladder with one block replaced."""
    weight, intercept = members(name)
    t = {**p.tensors(), weight: block[..., :-1], intercept: block[..., -1]}
    parts = {key: tuple(t[f"{key}.{l}"] for l in range(len(p.W))) for key in "WbVc"}
    return LadderPolynomial(**parts, readout=t["readout"], offset=t["offset"])


def members(name: str) -> tuple[str, str]:
    if name == "readout":
        return "readout", "offset"
    kind, layer = name.split(".")
    return name, {"W": "b", "V": "c"}[kind] + f".{layer}"


def features(p: LadderPolynomial, x: torch.Tensor, name: str) -> tuple[Array, Array]:
    """What the output is without a block, (n, m), and how each of the block's weights moves it, (n, m, weights)."""
    block = get_block(p, name)
    zero = torch.zeros_like(block)
    rest = with_block(p, name, zero)(x)
    columns = []
    for i in range(block.numel()):
        unit = zero.clone()
        unit.view(-1)[i] = 1.0
        columns.append((with_block(p, name, unit)(x) - rest).numpy())
    return rest.numpy(), np.stack(columns, -1)


def penalties(p: LadderPolynomial, name: str, alpha: float) -> Array:
    """The ridge weight of each weight of a block: the offset has none."""
    weights = np.full(tuple(get_block(p, name).shape), alpha)
    if name == "readout":
        weights[:, -1] = 0.0
    return weights.reshape(-1)


def minimizer(
    p: LadderPolynomial, x: torch.Tensor, name: str, target: Array, weight: Array, total: float, alpha: float
) -> torch.Tensor:
    """The block that minimizes sum(weight * (f - target)^2) / total + alpha |block|^2, with the others as they are.

    Args:
        target: shape (n, m).
        weight: of every row. Shape (n,).
    """
    rest, columns = features(p, x, name)
    root = np.sqrt(weight / total)[:, None]
    rows = (columns * root[..., None]).reshape(-1, columns.shape[-1])
    wanted = ((target - rest) * root).reshape(-1)
    ridge = np.sqrt(penalties(p, name, alpha))
    solution = np.linalg.lstsq(np.concatenate([rows, np.diag(ridge)]), np.concatenate([wanted, 0 * ridge]), rcond=None)[
        0
    ]
    return torch.from_numpy(solution).reshape(get_block(p, name).shape)


def objective(p: LadderPolynomial, x: torch.Tensor, y: Array, weight: Array, alpha: dict[str, float]) -> float:
    """Weighted mean of the squared error, summed over outputs, plus ridge."""
    loss = float((weight * ((p(x).numpy() - y) ** 2).sum(-1)).sum() / weight.sum())
    return loss + penalty(p, alpha)


def penalty(p: LadderPolynomial, alpha: dict[str, float]) -> float:
    """The ridge term, weight by weight."""
    names = block_names(len(p.W))
    return sum(float(penalties(p, b, alpha[b]) @ get_block(p, b).reshape(-1).numpy() ** 2) for b in names)


def balanced(p: LadderPolynomial, alpha: dict[str, float]) -> LadderPolynomial:
    """Unit after unit, the three scales at which its penalties are equal."""
    for l in range(len(p.W)):
        reader = f"W.{l + 1}" if l + 1 < len(p.W) else "readout"
        for i in range(p.hidden[l]):
            layer, gate, out = (get_block(p, b).clone() for b in (f"W.{l}", f"V.{l}", reader))
            parts = (layer[i], gate[i], out[:, i])
            terms = [
                alpha[b] * float(t.square().sum()) for b, t in zip((f"W.{l}", f"V.{l}", reader), parts, strict=True)
            ]
            level = float(np.prod(terms)) ** (1 / 3)
            for part, term in zip(parts, terms, strict=True):
                part.mul_((level / term) ** 0.5)
            p = with_block(with_block(with_block(p, f"W.{l}", layer), f"V.{l}", gate), reader, out)
    return p


def fit(
    p: LadderPolynomial, x: torch.Tensor, y: Array, weight: Array, alpha: dict[str, float], sweeps: int
) -> tuple[LadderPolynomial, list[float]]:
    """Some sweeps over a single ladder, and the objective before and after each."""
    history = [objective(p, x, y, weight, alpha)]
    for _ in range(sweeps):
        for name in block_names(len(p.W)):
            p = with_block(p, name, minimizer(p, x, name, y, weight, float(weight.sum()), alpha[name]))
        p = balanced(p, alpha)
        history.append(objective(p, x, y, weight, alpha))
    return p, history
