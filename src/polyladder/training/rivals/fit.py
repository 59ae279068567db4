"""Factorization machines and polynomial-kernel networks fitted without a learning rate.

Both are polynomials in their weights, so a Gauss-Newton step over all of them has an exactly best length
(`polyladder.training.rivals.gauss_newton`). A machine is also linear in the weights of one input: where a machine is
too large for joint steps, its inputs are solved one after another (`polyladder.training.rivals.machine_columns`).
Either way the regularized loss never rises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from polyladder.models.batched import positive_integer
from polyladder.models.factorization_machine import FactorizationMachine
from polyladder.models.polynomial_kernel import PolynomialKernel
from polyladder.training.history import Progress
from polyladder.training.losses import AnyLoss
from polyladder.training.rivals.gauss_newton import Quadratic, gauss_newton_step
from polyladder.training.rivals.kernel_units import KernelStructure, kernel_weights, set_kernel_weights
from polyladder.training.rivals.machine_columns import MachineStructure, column_sweep
from polyladder.training.rows import Rows, checked_rows, chosen_rows, row_weights
from polyladder.training.solves.descent import DescentOptions, Objective, SolveHistory, descend
from polyladder.training.solves.quadratic_bound import quadratic_bound
from polyladder.training.solves.ridge import Alpha

JOINT_LIMIT = 1500
"""Machines with more weights per output than this are solved input by input."""


@torch.no_grad()
def fit_machine(
    net: FactorizationMachine,
    x: Tensor,
    y: Tensor,
    *,
    loss: AnyLoss = "squared",
    alpha: Alpha = "auto",
    noise_inflation: float | Tensor = 3.0,
    rows: Rows = None,
    sample_weight: Tensor | None = None,
    steps: int = 100,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> SolveHistory:
    r"""Minimize mean loss plus ridge over factorization machines, in place and from where they are.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \alpha_1 |w|^2 + \alpha_2 |s|^2 + \alpha_3 |t|^2

    Machines of up to `JOINT_LIMIT` weights per output take Gauss-Newton steps over all of them, larger ones solve the
    weights of one input after another. The groups of ``alpha`` are the linear part, the pairs and the triples.

    Args:
        net: any ``batch_shape``. All is computed in float64.
        x: inputs, shared by all models. Shape (n, d).
        y: targets.
        loss, alpha, noise_inflation, rows, sample_weight, progress: see `polyladder.fit_alternating`.
        steps: at most this many.
        tolerance: a model stops when a step lowers its objective by less than this, relatively.
    """
    x = checked_rows(x, net.in_features, net.linear.device)
    structure = MachineStructure(net, x.mT.contiguous())
    parameters = [t for t in (net.offset, net.linear, net.factors, net.factors3) if t is not None]
    depth, count = len(net.batch_shape), math.prod(net.batch_shape)
    theta = torch.cat([t.detach().double().reshape(count, net.out_features, -1) for t in parameters], -1)
    options = DescentOptions(alpha, noise_inflation, steps, tolerance, progress=progress)
    theta, history = fit_vectors(structure, theta, net, x, y, loss, rows, sample_weight, options)
    for parameter, part in zip(parameters, torch.split(theta, structure.sizes, -1), strict=True):
        parameter.copy_(part.reshape(*net.batch_shape, *parameter.shape[depth:]))
    return history


@torch.no_grad()
def fit_kernel(
    net: PolynomialKernel,
    x: Tensor,
    y: Tensor,
    *,
    loss: AnyLoss = "squared",
    alpha: Alpha = "auto",
    noise_inflation: float | Tensor = 1.0,
    rows: Rows = None,
    sample_weight: Tensor | None = None,
    steps: int = 100,
    tolerance: float = 1e-4,
    progress: Progress | None = None,
) -> SolveHistory:
    r"""Minimize mean loss plus ridge over polynomial-kernel networks, in place and from where they are.

    .. math:: \sum_n w_n \ell(f(x_n), y_n) / \sum_n w_n + \alpha \sum_k (|\pi_k|^2 + c_k^2 + |p_k|^2)

    The units are those of `KernelStructure`, with intercepts of their own, and balanced. Lambda keeps its value: the
    scale of a unit takes its part. The arguments are those of `fit_machine`; the groups of ``alpha`` are pi and the
    units.
    """
    shifted = net.intercept.reshape(-1) != 0
    if bool(shifted.any()) and not bool(shifted.all()):
        raise ValueError("net must have lambda = 0 in all of its models or in none; got both. Fit them apart.")
    x = checked_rows(x, net.in_features, net.weights.device)
    structure = KernelStructure(net, x.mT.contiguous())
    theta = structure.balanced(kernel_weights(net))
    options = DescentOptions(alpha, noise_inflation, steps, tolerance, progress=progress)
    theta, history = fit_vectors(structure, theta, net, x, y, loss, rows, sample_weight, options)
    set_kernel_weights(net, structure, theta)
    return history


def fit_vectors(
    structure: MachineStructure | KernelStructure,
    theta: Tensor,
    net: FactorizationMachine | PolynomialKernel,
    x: Tensor,
    y: Tensor,
    loss: AnyLoss,
    rows: Rows,
    sample_weight: Tensor | None,
    options: DescentOptions,
) -> tuple[Tensor, SolveHistory]:
    """Descend from weight vectors (B, s, p); returns those found and the record."""
    positive_integer("steps", options.steps)
    bound = quadratic_bound(loss, y, x, net.out_features)
    chosen, _ = chosen_rows(rows, None, sample_weight, len(x), net.batch_shape)
    start = Vectors(structure, theta, structure.outputs(theta), theta.new_full(theta.shape[:2], 1e-2))
    (found,), fields = descend(start, bound, row_weights(chosen, sample_weight, x), options, net.batch_shape)
    return found, SolveHistory(**fields)


@dataclass
class Vectors:
    """Models as weight vectors, during a fit.

    Attributes:
        structure: the family, at its rows.
        theta: weight vectors. Shape (B, s, p).
        outputs: shape (B, s, o, n).
        damping: of the next step. Shape (B, s).
    """

    structure: MachineStructure | KernelStructure
    theta: Tensor
    outputs: Tensor
    damping: Tensor

    @property
    def f(self) -> Tensor:
        """Outputs of all parts. Shape (B, s o, n)."""
        return self.outputs.flatten(1, 2)

    def step(self, objective: Objective, estimating: bool) -> tuple[Tensor, Tensor]:
        """One step, and the rescaling with the least ridge penalty."""
        response, curvature = objective.bound.quadratic(self.f)
        groups, alpha = self.structure.groups, objective.ridge.alpha
        penalty = torch.where(groups >= 0, alpha[groups.clamp_min(0)].mT, 0.0).unsqueeze(1)
        weight = objective.weight * curvature
        quadratic = Quadratic(response.reshape(self.outputs.shape), weight, objective.rows, penalty)
        if isinstance(self.structure, MachineStructure) and self.theta.shape[-1] > JOINT_LIMIT:
            moved = column_sweep(self.structure, self.theta, self.outputs, quadratic, estimating)
        else:
            moved = gauss_newton_step(self.structure, self.theta, self.outputs, quadratic, self.damping, estimating)
        self.theta, self.outputs, self.damping = self.structure.balanced(moved.theta), moved.f, moved.damping
        return self.by_group(moved.determined), moved.determined.sum((1, 2))

    def by_group(self, values: Tensor) -> Tensor:
        """Sums over the weights of each group. Shape (B, s, p) to (groups, B)."""
        groups = self.structure.groups
        return torch.stack([values[..., groups == g].sum((1, 2)) for g in range(int(groups.max()) + 1)])

    def norms(self) -> Tensor:
        """Squared norm of each group."""
        return self.by_group(self.theta.square())

    def weights(self) -> list[Tensor]:
        """The weight vectors."""
        return [self.theta]

    def restless(self) -> Tensor:
        """Models whose last step was short: more damping may help, so only a full step without gain ends a fit."""
        return (self.damping > 1.0).any(-1)

    def select(self, keep: Tensor) -> Vectors:
        """Some of the models."""
        return replace(self, theta=self.theta[keep], outputs=self.outputs[keep], damping=self.damping[keep])
