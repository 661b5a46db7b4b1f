"""Where a quantity comes from: an element of each thread or row, a parameter, or a literal."""

from __future__ import annotations

from collections.abc import Mapping

from generators.build import KernelBuilder, make
from generators.kit.sites import Names, Site
from generators.kit.words import plurals, words
from generators.program.dtypes import Scalar, Type, Vec
from generators.program.expr import Expr, Operand, literal

ANY = {"each": 3, "first": 1, "last": 1, "shared": 3, "literal": 2}
"""How often a quantity comes in each of the ways of :func:`given`."""
STATE = {"each": 6, "first": 1, "last": 1}
"""The same for what each thread has of its own, nearly always."""
SETTING = {"shared": 3, "literal": 2}
"""The same for a number that someone sets: never an array."""
_EACH = 4
"""A quantity that a grid may share along an axis has as much less often one for each element."""
_LITERAL = 5
"""Of so many numbers that could be written in the kernel one is; the others are parameters."""


def given(
    s: Site,
    names: Names,
    type_: Type,
    low: float | None = None,
    high: float | None = None,
    *,
    forms: Mapping[str, int] | None = None,
    many: Names = (),
    init: str = "uniform",
    **weights: int,
) -> Expr:
    """Declare a quantity and give its value for this thread: ``given(s, "rate", f, 0.0, 1.0)``.

    The way that it comes is drawn by weight, from ``forms`` or keywords (``shared=3, literal=1``):
    an array with an element for ``each`` thread, or for each index along the ``first``, the
    ``last`` or a drawn ``axis`` of the launch; a parameter, the same for all (``shared``); or a
    ``literal``. A launch of one axis has ``each`` alone of the arrays, and only numbers and unit
    vectors are literals. Values lie in [``low``, ``high``]. Arrays are called by the plurals of
    the names unless ``many`` names them. :func:`generators.kit.words.say` puts a value in words.
    """
    ways = {w: n for w, n in (weights or forms or ANY).items() if n}
    if "shared" in ways and "literal" in ways:
        ways = {w: _LITERAL * n for w, n in ways.items()}
        ways["literal"] //= _LITERAL
        ways["shared"] += (_LITERAL - 1) * ways["literal"]
    if s.rank == 1:
        lines = sum(ways.pop(way, 0) for way in ("first", "last", "axis"))
        ways = ways or {"each": lines}
    if s.rank > 1 and "each" in ways and {"shared", "first", "last", "axis"} & ways.keys():
        ways = {w: n if w == "each" else _EACH * n for w, n in ways.items()}
    if not isinstance(type_, Scalar) and init != "unit" and "literal" in ways:
        ways["shared"] = ways.get("shared", 0) + ways.pop("literal")
    way = s.k.draw.shape.weighted(ways)
    if way == "literal":
        return _literal(s.k, type_, low, high)
    if way == "shared":
        return s.k.scalar(words(names), type_, low, high, init=init)
    arrays = words(many) or plurals([n for n in words(names) if len(n) > 1] or words(names))
    return s.read(arrays, type_, low, high, init=init, axes=s.axes(way))


def _literal(k: KernelBuilder, type_: Type, low: float | None, high: float | None) -> Expr:
    if isinstance(type_, Vec):
        axis = k.draw.shape.integer(0, type_.size - 1)
        return unit_vector(type_, axis)
    assert low is not None
    assert high is not None
    if isinstance(type_, Scalar) and type_.is_int:
        return literal(k.draw.value.integer(int(low), int(high)), type_)
    return literal(constant(k, low, high), type_)


def setting(
    k: KernelBuilder, names: Names, type_: Scalar, low: float, high: float, share: float = 0.5
) -> Expr:
    """A parameter, or with the probability ``1 - share``, and then once in ``_LITERAL`` times, a
    literal; it may come before the launch."""
    if k.draw.shape.chance(1.0 - (1.0 - share) / _LITERAL):
        return k.scalar(words(names), type_, low, high)
    return _literal(k, type_, low, high)


def constant(k: KernelBuilder, low: float, high: float) -> float:
    """A number in [``low``, ``high``] with two significant digits, to be written in the kernel.

    It is not 1, by which nobody multiplies.
    """
    found = float(k.draw.value.constant(low, high))
    return found if found != 1.0 or low == high else constant(k, low, high)


def zero(type_: Type) -> Expr:
    """Zero of a scalar, or a vector or matrix of zeros."""
    return filled(type_, 0)


def filled(type_: Type, value: Operand) -> Expr:
    """A scalar, or a vector or matrix all of whose entries are ``value``."""
    entry = value if isinstance(value, Expr) else literal(value, type_)
    return entry if isinstance(type_, Scalar) else make(type_, entry)


def unit_vector(vec: Vec, axis: int, value: float = 1.0) -> Expr:
    """``value`` times the unit vector along one axis."""
    parts = [value if c == axis else 0.0 for c in range(vec.size)]
    return make(vec, *(literal(part, vec.scalar) for part in parts))
