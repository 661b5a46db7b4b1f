"""Muon, for `worth.py`: each step of a matrix is its momentum with all singular values near one.

As in Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024): Nesterov
momentum, then five steps of a Newton-Schulz iteration whose polynomial brings singular values in
(0, 1] near 1. Matrices of one shape go through it together. Needs torch.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

_POLYNOMIAL = (3.4445, -4.7750, 2.0315)
"""Of x, x³ and x⁵, by the paper."""
_ITERATIONS = 5
_MOMENTUM = 0.95
_LEAST_NORM = 1e-7


def orthogonal(matrices: Tensor) -> Tensor:
    """Of (count, rows, columns) with rows ≤ columns: near U Vᵀ of each U S Vᵀ, in bfloat16 on a
    GPU."""
    x = matrices.bfloat16() if matrices.is_cuda else matrices
    x = x / (torch.linalg.matrix_norm(x, keepdim=True) + _LEAST_NORM)
    one, three, five = _POLYNOMIAL
    for _ in range(_ITERATIONS):
        square = x @ x.mT
        square = torch.baddbmm(square, square, square, beta=three, alpha=five)
        x = torch.baddbmm(x, square, x, beta=one)
    return x


class Muon:
    """Steps for matrices. A weight that holds several one above the other is cut into them."""

    def __init__(self, weights: Sequence[Tensor], cuts: Sequence[int], decay: float) -> None:
        """``cuts``: of how many matrices of equal height each weight consists; ``decay`` is what a
        step at rate 1 takes off."""
        self._weights, self._cuts, self._decay = list(weights), list(cuts), decay
        self._groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for at, (weight, cut) in enumerate(zip(weights, cuts, strict=True)):
            height, width = weight.shape[0] // cut, weight.shape[1]
            self._groups[min(height, width), max(height, width)].append(at)
        self._momenta: dict[tuple[int, int], Tensor] = {}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """With the gradients as they are. An element's step is of about ``rate`` over the root of
        the longer side, times the root of height over width where a matrix is high."""
        for shape, members in self._groups.items():
            gradients = torch.cat([self._lying(self._gradient(at), at) for at in members])
            momentum = self._momenta.setdefault(shape, torch.zeros_like(gradients))
            momentum.lerp_(gradients, 1 - _MOMENTUM)
            steps = orthogonal(gradients.lerp_(momentum, _MOMENTUM))
            counts = [self._cuts[at] for at in members]
            for at, step in zip(members, steps.split(counts), strict=True):
                self._take(at, step, rate)

    def zero_grad(self) -> None:
        for weight in self._weights:
            weight.grad = None

    def _gradient(self, at: int) -> Tensor:
        found = self._weights[at].grad
        if found is None:
            raise ValueError("a weight has no gradient: go backward first")
        return found

    def _lying(self, matrix: Tensor, at: int) -> Tensor:
        """(count, rows, columns) with rows ≤ columns."""
        found = matrix.unflatten(0, (self._cuts[at], -1))
        return found.mT if found.shape[1] > found.shape[2] else found

    def _take(self, at: int, step: Tensor, rate: float) -> None:
        weight = self._weights[at]
        height, width = weight.shape[0] // self._cuts[at], weight.shape[1]
        if height > width:
            step = step.mT
        weight.mul_(1 - rate * self._decay)
        scale = math.sqrt(max(1.0, height / width))
        weight.add_(step.reshape(weight.shape).to(weight.dtype), alpha=-rate * scale)
