"""Short ways through three small functions of Warp's code generator.

``get_arg_type``, ``strip_reference`` and ``Var.type_to_ctype`` are asked tens of times a statement
and walk through a dozen ``isinstance`` tests to find that a plain scalar type is a plain scalar
type. Here those cases are answered first and everything else goes to Warp's own function. Warp's
modules are handed in by ``synth.codegen.translator``.
"""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_KNOWN = {
    "get_arg_type": ("arg",),
    "strip_reference": ("arg",),
    "type_to_ctype": ("t", "value_type"),
}


class TypeShortcuts:
    """Installs the shortcuts for the time of a ``with`` block.

    Args:
        codegen: Warp's module that defines ``Var`` and ``get_arg_type``.
        types: Warp's module that defines ``Reference`` and ``strip_reference``.

    Attributes:
        active: whether this Warp has the functions as they are known here; when not,
            ``installed`` does nothing.
    """

    def __init__(self, codegen: ModuleType, types: ModuleType) -> None:
        self._codegen, self._types = codegen, types
        variable = getattr(codegen, "Var", None)
        functions = {
            "get_arg_type": getattr(codegen, "get_arg_type", None),
            "strip_reference": getattr(types, "strip_reference", None),
            "type_to_ctype": getattr(variable, "type_to_ctype", None),
        }
        self.active = hasattr(types, "Reference") and all(
            function is not None and tuple(inspect.signature(function).parameters) == _KNOWN[name]
            for name, function in functions.items()
        )
        if self.active:
            self._replaced = self._replacements(variable, functions)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Take the shortcuts inside the block."""
        if not self.active:
            yield
            return
        before = [(owner, name, vars(owner)[name]) for owner, name, _ in self._replaced]
        for owner, name, shortcut in self._replaced:
            setattr(owner, name, shortcut)
        try:
            yield
        finally:
            for owner, name, stock in before:
                setattr(owner, name, stock)

    def _replacements(self, variable: Any, stock: dict[str, Any]) -> list[tuple[Any, str, Any]]:
        types, codegen = self._types, self._codegen
        strip = _strip_reference(stock["strip_reference"], variable, types.Reference)
        found = [
            (codegen, "get_arg_type", _get_arg_type(stock["get_arg_type"], variable)),
            (types, "strip_reference", strip),
            (
                variable,
                "type_to_ctype",
                staticmethod(_type_to_ctype(stock["type_to_ctype"], types)),
            ),
        ]
        if vars(codegen).get("strip_reference") is stock["strip_reference"]:
            found.append((codegen, "strip_reference", strip))
        return found


def _get_arg_type(stock: Callable[..., Any], variable: type) -> Callable[..., Any]:
    def get_arg_type(arg: Any) -> Any:
        kind = type(arg)
        if kind is type:
            return arg
        if kind is variable and type(arg.type) is type:
            return arg.type
        return stock(arg)

    return get_arg_type


def _strip_reference(
    stock: Callable[..., Any], variable: type, reference: type
) -> Callable[..., Any]:
    def strip_reference(arg: Any) -> Any:
        kind = type(arg)
        if kind is type or kind is variable:
            return arg
        return arg.value_type if kind is reference else stock(arg)

    return strip_reference


def _type_to_ctype(stock: Callable[..., Any], types: ModuleType) -> Callable[..., Any]:
    names = {t: stock(t) for t in types.scalar_types}

    def type_to_ctype(t: Any, value_type: bool = False) -> Any:
        name = names.get(t) if type(t) is type else None
        return stock(t, value_type) if name is None else name

    return type_to_ctype
