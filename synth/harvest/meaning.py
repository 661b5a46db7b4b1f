"""What the names in a hand-written kernel mean, and whether that can be said elsewhere."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import Any

from synth.harvest.names import Surroundings

# Modules that a reader of the row has as well; all others are written out.
IMPORTABLE = frozenset({"warp", "math", "numpy", "typing", "enum"})
_NOT_LIBRARY = frozenset({"tests", "examples"})


def means(node: ast.expr, around: Surroundings, kind: Any) -> bool:
    """Whether an annotation still evaluates to the type that Warp took from it."""
    try:
        found = around.evaluate(node)
    except Exception:  # noqa: BLE001 - an annotation may be any expression; it is written out then
        return False
    return found is kind or (type(found) is type(kind) and identity_of(found) == identity_of(kind))


def identity_of(kind: Any) -> tuple[Any, ...]:
    """What makes two annotations one type."""
    parameters = getattr(kind, "_wp_type_params_", None)
    if isinstance(kind, type):
        return (getattr(kind, "_wp_generic_type_hint_", kind), parameters or kind)
    dtype = getattr(kind, "dtype", None)
    if dtype is not None and hasattr(kind, "ndim"):
        return (type(kind), kind.ndim, identity_of(dtype))
    return (id(kind),)


def is_foreign(value: Any) -> bool:
    """Whether a value is a module that a reader of the row cannot be expected to import."""
    if not isinstance(value, ModuleType):
        return False
    top, _, rest = value.__name__.partition(".")
    return top not in IMPORTABLE or (top == "warp" and rest.split(".")[0] in _NOT_LIBRARY)


def module_at(node: ast.expr, around: Surroundings, own: set[str]) -> ModuleType | None:
    """The module of the user's that an expression names, if it names one."""
    if isinstance(node, ast.Name):
        value = None if node.id in own else around.get(node.id)
    elif isinstance(node, ast.Attribute):
        value = getattr(module_at(node.value, around, own), node.attr, None)
    else:
        value = None
    return value if is_foreign(value) else None


def equal(first: Any, second: Any) -> bool:
    plain = (bool, int, float, str)
    return type(first) is type(second) and isinstance(first, plain) and first == second


def is_builtin(name: str, value: Any) -> bool:
    return vars(sys.modules["builtins"]).get(name, is_builtin) is value


def own_overloads(function: Any) -> list[Any]:
    everything = [function, *function.user_templates.values(), *function.user_overloads.values()]
    found = {id(f): f for f in everything if f.generic_parent is None}
    return sorted(found.values(), key=lambda f: (f.adj.filename, f.adj.fun_lineno))
