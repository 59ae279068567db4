"""Mean and covariance of the output of a ladder whose weights are random and independent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import torch
from torch import Tensor

from polyladder.analysis.argmax import argmax_probability
from polyladder.polynomial.ladder import LadderPolynomial, affine, combine

CHUNK = 2**18
"""Numbers held in one covariance tensor. At 2 MB in float64 the tensors of a layer stay in cache, which measured twice
as fast as all rows at once (width 50, 500 rows); it also bounds the memory for any number of rows."""


@dataclass(frozen=True, eq=False, init=False)
class GaussianWeights:
    """Independent Gaussian weights: a ladder of means and a ladder of variances.

    The moments of `output_moments` need only independence, the means and the variances; `sample` and the closed forms
    of `predictive` and `probability` make use of the Gaussian shape.

    Args:
        mean: the mean of every weight, any ``batch_shape``.
        variance: the variance of every weight, as a ladder of the same shapes, or one number for all of them: W, b, V,
            c, readout and offset alike. A weight of variance zero is fixed; `random_blocks` fixes whole blocks.

    Example:
        >>> import torch
        >>> one, zero = torch.ones(1, 1), torch.zeros(1)
        >>> square = LadderPolynomial(W=(one,), b=(zero,), V=(one,), c=(zero,), readout=one, offset=zero)
        >>> weights = GaussianWeights.random_blocks(square, readout=0.25)
        >>> output_moments(weights, torch.tensor([[3.0]])).standard_deviation
        tensor([[4.5000]])
    """

    mean: LadderPolynomial
    variance: LadderPolynomial

    def __init__(self, mean: LadderPolynomial, variance: LadderPolynomial | float | Tensor) -> None:
        if not isinstance(mean, LadderPolynomial):
            raise TypeError(f"mean must be a LadderPolynomial; got {type(mean).__name__}.")
        if not isinstance(variance, LadderPolynomial):
            value = torch.as_tensor(variance, dtype=mean.dtype, device=mean.device)
            if value.dim():
                raise ValueError(
                    f"variance must be one number or a LadderPolynomial; got a tensor of shape {tuple(value.shape)}."
                )
            variance = mean.map(value.expand_as)
        check_variances(mean, variance)
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "variance", variance)

    @classmethod
    def random_blocks(
        cls,
        mean: LadderPolynomial,
        W: float = 0.0,
        b: float = 0.0,
        V: float = 0.0,
        c: float = 0.0,
        readout: float = 0.0,
        offset: float = 0.0,
    ) -> GaussianWeights:
        """One variance for each kind of weight, in every layer; kinds left out are fixed at their mean."""
        values = {"W": W, "b": b, "V": V, "c": c}
        layers = {name: tuple(torch.full_like(t, v) for t in vars(mean)[name]) for name, v in values.items()}
        last = {"readout": torch.full_like(mean.readout, readout), "offset": torch.full_like(mean.offset, offset)}
        return cls(mean, LadderPolynomial(**layers, **last))  # type: ignore[arg-type]

    @property
    def batch_shape(self) -> torch.Size:
        """The shape of the batch; ``()`` for the weights of a single ladder."""
        return self.mean.batch_shape

    def __getitem__(self, index: Any) -> GaussianWeights:
        """The weights of one ladder, or of a part, of the batch."""
        return GaussianWeights(self.mean[index], self.variance[index])

    def sample(self, n: int, seed: int | torch.Generator | None = None) -> LadderPolynomial:
        """Draw n ladders, as one batch of shape (n, *batch_shape).

        Args:
            n: how many, at least 1.
            seed: an integer, a generator on the weights' device, or None for torch's global stream.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise ValueError(f"n must be a positive integer; got {n!r}.")
        device = self.mean.device
        generator = torch.Generator(device).manual_seed(seed) if isinstance(seed, int) else seed

        def draw(tensors: list[Tensor]) -> Tensor:
            mean, variance = tensors
            noise = torch.randn(n, *mean.shape, dtype=mean.dtype, device=device, generator=generator)
            return mean + variance.sqrt() * noise

        return combine(draw, [self.mean, self.variance])

    def save(self, path: str | PathLike[str], feature_names: Sequence[str] | None = None) -> None:
        """Write means and variances to one safetensors file, which `polyladder.load` reads."""
        from polyladder.analysis.weights_store import save

        save(self, path, feature_names=feature_names)

    def predictive(self, x: Tensor, noise_variance: float | Tensor) -> GaussianPrediction:
        """The Gaussian prediction for regression: output moments of the ladder plus independent noise.

        The mean and the variance are exact. That the outputs are Gaussian is an approximation unless the readout and
        the offset alone are random.

        Args:
            x: rows. Shape (n, d) or (*batch_shape, n, d).
            noise_variance: variance (not standard deviation) of the observation noise, at least 0. One number, or a
                tensor that broadcasts to (*batch_shape, n, m).
        """
        moments = output_moments(self, x)
        return GaussianPrediction(moments.mean, moments.variance, noise_like(moments.mean, noise_variance))

    def probability(self, x: Tensor, noise_variance: float | Tensor = 0.0) -> Tensor:
        r"""Class probabilities under the Gaussian that has the moments of the outputs.

        With one output, :math:`P(f > 0) = \Phi(\mu / \sigma)`; as the standard deviation goes to zero it becomes 1, 0,
        or 1/2 where the mean is zero. With several outputs, the probability that each is the largest, by
        `polyladder.analysis.argmax.argmax_probability`: exact for two outputs and a deterministic quadrature, with an
        error of the order of 1e-3, for more.

        Args:
            x: rows. Shape (n, d) or (*batch_shape, n, d).
            noise_variance: variance of independent noise on each output before its sign, or the largest, is taken: 0
                for the label of the ladder itself, 1 for a ladder fitted with the probit likelihood.

        Returns:
            Shape (*batch_shape, n, m). A single output has the one column P(class 1); several sum to one.
        """
        moments = output_moments(self, x)
        noise = noise_like(moments.mean, noise_variance)
        if self.mean.out_features == 1:
            # With the smallest positive number 0 / 0 becomes Phi(0), and everything else a probability of 0 or 1.
            floor = torch.finfo(self.mean.dtype).tiny
            positive: Tensor = torch.special.ndtr(moments.mean / (moments.variance + noise).clamp(min=floor).sqrt())
            return positive
        return argmax_probability(moments.mean, moments.covariance + torch.diag_embed(noise))


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and covariance of the outputs at each row.

    Args:
        mean: Shape (*batch_shape, n, m).
        covariance: over the m outputs of one row. Shape (*batch_shape, n, m, m).
    """

    mean: Tensor
    covariance: Tensor

    @property
    def variance(self) -> Tensor:
        """Of each output. Shape (*batch_shape, n, m)."""
        return diagonal(self.covariance).clamp(min=0)

    @property
    def standard_deviation(self) -> Tensor:
        """Of each output. Shape (*batch_shape, n, m)."""
        return self.variance.sqrt()


@dataclass(frozen=True, eq=False)
class GaussianPrediction:
    """A Gaussian prediction for each row and output, its two sources of uncertainty kept apart.

    Args:
        mean: Shape (*batch_shape, n, m).
        weight_variance: what the random weights contribute. Shape (*batch_shape, n, m).
        noise_variance: what the observation noise contributes. Shape (*batch_shape, n, m).
    """

    mean: Tensor
    weight_variance: Tensor
    noise_variance: Tensor

    @property
    def variance(self) -> Tensor:
        """Of a new observation: weights and noise together. Shape (*batch_shape, n, m)."""
        return self.weight_variance + self.noise_variance

    @property
    def standard_deviation(self) -> Tensor:
        """Of a new observation. Shape (*batch_shape, n, m)."""
        return self.variance.sqrt()


def output_moments(weights: GaussianWeights, x: Tensor) -> Moments:
    r"""Exact mean and covariance of the outputs over the random weights.

    Implements: eq. (14), eq. (15).

    The ladder is multilinear in its weights, so the mean output is the output at the mean weights, and second moments
    pass from layer to layer. The covariance C of h is passed on, not the raw second moment: a difference of raw moments
    would lose a variance that is small compared with the squared mean to rounding. With
    :math:`u = W h + b` and the gate :math:`g = V x + c`, bars for means and all weights independent,

    .. math::
        \mathrm{Cov}(u)_{ij} &= (\bar W C \bar W')_{ij}
            + \delta_{ij} \big(\textstyle\sum_k \mathrm{Var}(W_{ik}) (C_{kk} + \bar h_k^2) + \mathrm{Var}(b_i)\big) \\
        \mathrm{Cov}(u * g)_{ij} &= \bar g_i \bar g_j \mathrm{Cov}(u)_{ij}
            + \delta_{ij} \mathrm{Var}(g_i) (\mathrm{Cov}(u)_{ii} + \bar u_i^2)

    Args:
        weights: independent, any ``batch_shape``; the Gaussian shape is not used.
        x: rows, finite. Shape (n, d) or (*batch_shape, n, d).

    Returns:
        Moments of shapes (*batch_shape, n, m) and (*batch_shape, n, m, m); differentiable in the mean weights, the
        variances and x.

    Cost: at most two k x k matrix products a row and layer, none for the first layer. Rows are taken in chunks, so
    memory beyond the result does not grow with n, unless autograd records the chunks.
    """
    x = weights.mean.check_rows(x)
    if not bool(torch.isfinite(x).all()):
        row = int((~torch.isfinite(x)).nonzero()[0, -2])
        raise ValueError(f"x must be finite; got a NaN or infinity in row {row}. Drop or impute such rows.")
    parts = [propagate(weights, rows) for rows in torch.split(x, rows_per_chunk(weights.mean), -2)]
    covariance = torch.cat([covariance for _, covariance in parts], -3)
    return Moments(mean=torch.cat([mean for mean, _ in parts], -2), covariance=(covariance + covariance.mT) / 2)


def rows_per_chunk(polynomial: LadderPolynomial) -> int:
    """How many rows fill a chunk at the ladder's widest layer; at least one."""
    width = max(*polynomial.hidden, polynomial.out_features, 1)
    return max(1, CHUNK // (math.prod(polynomial.batch_shape) * width**2))


def propagate(weights: GaussianWeights, x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean (*batch_shape, n, m) and covariance (*batch_shape, n, m, m) of the outputs for one chunk of rows.

    A covariance over units is stored as (*batch_shape, k, n, k), rows in the middle: both of its products with W are
    then one large matrix product over all rows, without a transposition between them.
    """
    readout, last = weights.mean.readout, len(weights.mean.W) - 1
    h, covariance, half = x, None, None
    # `variance` is the variance of h, and `own` the part of it that is independent from unit to unit.
    own = variance = torch.zeros_like(x)
    g = torch.ones_like(x)
    pairs = zip(weights.mean.layers(), weights.variance.layers(), strict=True)
    for l, ((W, b, V, c), (var_W, var_b, var_V, var_c)) in enumerate(pairs):
        u = affine(h, W, b)
        own_u = affine(variance + h.square(), var_W, var_b)
        g, var_g = affine(x, V, c), affine(x.square(), var_V, var_c)
        passed: Tensor | float = 0.0  # The diagonal of W C W'; x itself is not random, so nothing passes layer 1.
        if l > 0:
            half = half_product(own if covariance is None else covariance, W)
            if l < last:
                covariance = (W @ half.flatten(-2)).reshape(*W.shape[:-1], *half.shape[-2:])
                passed = diagonal_over_rows(covariance).clone()  # Scaled in place below.
            else:
                # Above the last layer only the image under the m rows of the readout is needed, not W C W' itself:
                # one matrix product of two saved, and half of the time of a ladder with two layers.
                passed = (half * W.mT.unsqueeze(-2)).sum(-3)
        own = g.square() * own_u + var_g * (passed + own_u + u.square())
        variance = g.square() * passed + own
        h = u * g
        if 0 < l < last:
            assert covariance is not None
            covariance = covariance.mul_(g.mT.unsqueeze(-1)).mul_(g.unsqueeze(-3))
            diagonal_over_rows(covariance).add_(own)
    R = readout.unsqueeze(-3)
    result = (R * own.unsqueeze(-2)) @ R.mT
    if half is not None:
        RG = R * g.unsqueeze(-2)
        result = result + (RG @ weights.mean.W[last].unsqueeze(-3)) @ (half.movedim(-3, -2) @ RG.mT)
    diagonal(result).add_(affine(variance + h.square(), weights.variance.readout, weights.variance.offset))
    return affine(h, readout, weights.mean.offset), result


def half_product(covariance: Tensor, W: Tensor) -> Tensor:
    """C W' for a covariance (*batch_shape, i, n, i), or its diagonal (*batch_shape, n, i). Shape (..., i, n, k)."""
    if covariance.dim() == W.dim():
        return covariance.mT.unsqueeze(-1) * W.mT.unsqueeze(-2)
    return (covariance.flatten(-3, -2) @ W.mT).reshape(*covariance.shape[:-1], W.shape[-2])


def diagonal(covariance: Tensor) -> Tensor:
    """The diagonal (..., m) of covariances (..., m, m), as a view."""
    return covariance.diagonal(dim1=-2, dim2=-1)


def diagonal_over_rows(covariance: Tensor) -> Tensor:
    """The diagonal (..., n, k) of a covariance that lies as (..., k, n, k), as a view."""
    return covariance.diagonal(dim1=-3, dim2=-1)


def noise_like(mean: Tensor, noise_variance: float | Tensor) -> Tensor:
    """The noise variance of every output in ``mean``; refused unless non-negative, finite and of a fitting shape."""
    noise = torch.as_tensor(noise_variance, dtype=mean.dtype, device=mean.device)
    if not is_variance(noise):
        raise ValueError(f"noise_variance must be non-negative and finite; got {noise_variance}.")
    try:
        return noise.expand(mean.shape)
    except RuntimeError:
        raise ValueError(
            f"noise_variance must broadcast to the outputs' shape {tuple(mean.shape)}; got shape {tuple(noise.shape)}."
        ) from None


def is_variance(t: Tensor) -> bool:
    """Whether every entry is non-negative and finite."""
    return bool(((t >= 0) & (t < math.inf)).all())


def check_variances(mean: LadderPolynomial, variance: LadderPolynomial) -> None:
    """Refuse variances that do not fit the means or are not variances, naming the first."""
    if len(variance.W) != len(mean.W):
        raise ValueError(f"variance must have the mean's {len(mean.W)} layers; got {len(variance.W)}.")
    if (variance.dtype, variance.device) != (mean.dtype, mean.device):
        raise ValueError(
            f"variance must be {mean.dtype} on {mean.device} as the mean is; "
            f"got {variance.dtype} on {variance.device}. Convert it with .to."
        )
    means = mean.tensors()
    for name, t in variance.tensors().items():
        if t.shape != means[name].shape:
            raise ValueError(
                f"variance {name} must have the mean's shape {tuple(means[name].shape)}; got shape {tuple(t.shape)}."
            )
        if not is_variance(t):
            worst = t.min() if bool(torch.isfinite(t).all()) else t[~torch.isfinite(t)][0]
            raise ValueError(f"variance {name} must be non-negative and finite; got {float(worst):g}.")
