"""Formulas of vectors: shelves that know which of the quantities are scalars."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from inspect import signature

from generators.kit.formulas import BODY, Build, Shelf
from generators.program.dtypes import FLOAT32, Type, Vec
from generators.program.expr import Expr


@dataclass
class VectorShelf(Shelf):
    """Formulas of vectors; ``scalars`` are the keys of the quantities that are none."""

    scalars: str = ""
    size: int = 3

    def types_of(self, code: Build) -> tuple[Type, ...]:
        keys = [key for key in signature(code).parameters if key != BODY]
        vec, scalars = Vec(self.size, FLOAT32), self.scalars.split()
        return tuple(FLOAT32 if key in scalars else vec for key in keys)


def summed(parts: Iterable[Expr]) -> Expr:
    """The sum of one or more values."""
    return reduce(lambda total, part: total + part, parts)
