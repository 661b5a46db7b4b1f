"""An evaluation that knows how determinants and inverses of matrices lose digits.

Warp and the plain text sum products, as Leibniz' formula does, and divide cofactors by the
determinant. A sum is off by a few roundoffs of its terms, not of itself; drawn matrices are far
from singular, but among edges are equal rows and large entries, whose terms cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from generators.program.dtypes import scalar_of
from generators.program.expr import Op
from synth.gates.evaluate import Evaluation
from synth.gates.lanes.values import Mask, Values


class CancellingEvaluation(Evaluation):
    """Adds the error of the terms to determinants and inverses in the noise lanes."""

    def _apply(self, e: Op, args: list[Any], mask: Mask) -> Any:
        result = super()._apply(e, args, mask)
        if e.op in _TERMS:
            self.lanes.move(result, scalar_of(e.type), _TERMS[e.op](np.abs(args[0]), result))
        return result


def _of_determinant(size: Values, _: Values) -> Values:
    return permanent(size)


def _of_inverse(size: Values, inverse: Values) -> Values:
    """Of the quotients of cofactors and determinant: the terms of both."""
    order = len(size)
    of_cofactors = np.array(
        [
            [permanent(_without(size, row, column)) for row in range(order)]
            for column in range(order)
        ]
    )
    determinant = np.linalg.det(np.moveaxis(inverse, -1, 0))
    terms: Values = (of_cofactors + np.abs(inverse) * permanent(size)) * np.abs(determinant)
    return terms


_TERMS: dict[str, Callable[[Values, Values], Values]] = {
    "determinant": _of_determinant,
    "inverse": _of_inverse,
}


def permanent(size: Values) -> Values:
    """The determinant's terms, (rows, columns, lanes), none of them negative, summed."""
    if len(size) == 1:
        last: Values = size[0, 0]
        return last
    total = np.zeros(size.shape[-1])
    for column in range(len(size)):
        total += size[0, column] * permanent(_without(size, 0, column))
    return total


def _without(size: Values, row: int, column: int) -> Values:
    return np.delete(np.delete(size, row, axis=0), column, axis=1)
