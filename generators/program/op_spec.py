"""What the tables of ops say of one op, and how a table is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from generators.program.dtypes import Type
from generators.program.signatures import OpTypeError, Signature

VARIADIC = -1


@dataclass(frozen=True)
class OpSpec:
    """One operator or builtin.

    ``domain`` names what each argument must satisfy (``""`` for anything): ``nonzero``,
    ``positive``, ``nonnegative``, ``unit`` (in [-1, 1]), ``inside_one`` and ``inside_two`` (well
    inside (-1, 1) and (0, 2)), ``shift`` (below the number of bits),
    ``length`` (a vector that is not zero), ``unit_length`` (a direction or rotation),
    ``rigid`` (a transform whose rotation has length 1), ``rotation`` (an orthonormal matrix of 3).
    ``ulp`` is the largest error of a float result in units in the last place, 0 where it is
    exact. ``mixes`` is true where a result sums products of components, so that its error is
    relative to them and not to the result. ``jumps`` is true for a result that is discontinuous
    in its arguments, ``selects`` where one operand wins.
    """

    name: str
    arity: int
    signature: Signature
    commutes: bool = False
    domain: tuple[str, ...] = ()
    ulp: float = 0.5
    jumps: bool = False
    selects: bool = False
    mixes: bool = False

    def result(self, types: Sequence[Type]) -> Type:
        """Type of the result; :class:`OpTypeError` when the op does not take these types."""
        if self.arity != VARIADIC and len(types) != self.arity:
            raise OpTypeError(f"{self.name} takes {self.arity} arguments, not {len(types)}")
        try:
            return self.signature(types)
        except OpTypeError as error:
            shown = ", ".join(str(t) for t in types)
            raise OpTypeError(f"{self.name}({shown}): {error}") from None


def table(*entries: OpSpec) -> dict[str, OpSpec]:
    table: dict[str, OpSpec] = {}
    for entry in entries:
        if entry.name in table:
            raise ValueError(f"op {entry.name!r} is declared twice")
        table[entry.name] = entry
    return table
