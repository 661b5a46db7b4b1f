"""Words: names in the plural and the singular, lists, and any value as a description calls it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from generators.build import KernelBuilder
from generators.build.docs import listed as listed
from generators.kit.text import written
from generators.program.dtypes import Scalar, Struct
from generators.program.expr import Cast, Expr, Field, Load, Operand, Var

_IRREGULAR = {
    "axis": "axes",
    "bounds": "bounds_list",
    "radius": "radii",
    "vertex": "vertices",
    "body": "bodies",
    "mass": "masses",
    "index": "indices",
    "vortex": "vortices",
    "pos": "positions",
    "vel": "velocities",
    "modulus": "moduli",
    "max": "max_values",
    "min": "min_values",
    "nis": "nis_values",
    "data": "data_list",
    "params": "params_list",
    "operands": "operands_list",
    "knots": "knots_list",
    "lame": "lame_values",
}
_UNCOUNTED = ("ness", "ing", "gravity", "drag", "albedo", "density", "radiance")
_COUNTED = ("reading", "sighting", "heading", "spacing", "coupling", "setting", "ring", "spring")


def plural(name: str) -> str:
    """A name in the plural, for an array: ``body_mass`` gives ``body_masses``, ``drag`` (which has
    none) ``drag_field``; a name of two letters stays as it is."""
    head, mark, last = name.rpartition("_")
    if last in _IRREGULAR:
        return f"{head}{mark}{_IRREGULAR[last]}"
    if len(name) == 2 or (last.endswith("ies") and last not in _COUNTED):
        return name
    if name.endswith(_UNCOUNTED) and last not in _COUNTED:
        return f"{name}_field"
    if name.endswith("y") and not name.endswith(("ay", "ey", "oy")):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def plurals(names: Sequence[str]) -> tuple[str, ...]:
    """The plural of each name."""
    return tuple(map(plural, names))


def words(names: str | Sequence[str]) -> tuple[str, ...]:
    """Candidates for a name as a tuple: ``"total acc"`` and ``("total", "acc")`` give the same."""
    texts = (names,) if isinstance(names, str) else names
    return tuple(word for text in texts for word in text.split())


def singular(name: str) -> str:
    """A plural name in the singular: ``weights`` gives ``weight``, ``radii`` gives ``radius``."""
    for one, many in _IRREGULAR.items():
        if name == many:
            return one
    if name.endswith(("ss", "us", "is")) or len(name) < 3:
        return name
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name.removesuffix("s")


def snake(name: str) -> str:
    """A struct's name as a variable is called."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def say(k: KernelBuilder, value: Operand, known: Mapping[Expr, str | Expr] | None = None) -> str:
    """Any value in words.

    A parameter by its name, an element by its array (with indices unless they are the thread's
    own), a field as ``samples.mass``, a local read from one of these as what it was read from,
    a number as people write it, and anything else written out. Values in ``known`` are called,
    or written, as it says.
    """
    if not isinstance(value, Expr):
        return str(value).removesuffix(".0")
    threads = tuple(k.threads)

    def leaf(e: Expr) -> str | Expr | None:
        if known and e in known:
            return known[e]
        match e:
            case Load():
                indices = tuple(i.name if isinstance(i, Var) else "" for i in e.indices)
                return e.array.name if indices == threads else None
            case Field() if isinstance(e.value.type, Struct):
                return f"{written(e.value, leaf)}.{e.name}"
            case Cast() if isinstance(e.value.type, Scalar):
                return None
            case Var():
                meant = k.meaning(e)
                return written(meant, leaf) if meant is not None else e.name
        return None

    return written(value, leaf)
