"""Memoised overload resolution for Warp's builtins; part of ``synth.codegen.translator``.

Warp finds the overload of a builtin by trying them all (``mul`` has 179), and binds a signature
for each. The answer depends on the argument types alone, so it can be kept. Everything here works
on objects of Warp's own modules, which ``synth.codegen.translator`` hands in.
"""

import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_KNOWN_PARAMETERS = ("adj", "func", "arg_types", "kwarg_types", "min_outputs")


class _UnknownTypeError(Exception):
    """A type whose identity is not understood well enough to be part of a key."""


class OverloadMemo:
    """Keeps which overload of a builtin ``Adjoint.resolve_func`` chose for which types.

    Only calls that Warp resolved without an error are kept, and only for types that live as long
    as the process, so the memo is bounded by the builtins and types in use.

    Args:
        codegen: Warp's module that defines ``Adjoint``, ``Struct``.
        types: Warp's module that defines scalar types, ``array``, ``Reference``.
        builtins: Warp's builtins by name; calls of other functions are left to Warp.

    Attributes:
        active: whether this Warp has the method as it is known here; when not, ``installed`` does
            nothing and Warp's own resolution runs.
    """

    def __init__(self, codegen: ModuleType, types: ModuleType, builtins: Mapping[str, Any]) -> None:
        self._adjoint = getattr(codegen, "Adjoint", None)
        self._stock: Callable[..., Any] | None = getattr(self._adjoint, "resolve_func", None)
        self._builtins = builtins
        self._chosen: dict[Hashable, Any] = {}
        self.active = self._stock is not None and _is_known(self._stock)
        if self.active:
            self._type_key = _type_keys(codegen, types)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Resolve through the memo inside the block, through Warp's own method after it."""
        if not self.active or self._adjoint is None:
            yield
            return
        self._adjoint.resolve_func = self._method()
        try:
            yield
        finally:
            self._adjoint.resolve_func = self._stock

    def _method(self) -> Callable[..., Any]:
        stock, chosen, type_key = self._stock, self._chosen, self._type_key
        builtins = self._builtins
        assert stock is not None

        def resolve_func(
            adj: Any, func: Any, arg_types: Any, kwarg_types: Any, min_outputs: Any
        ) -> Any:
            # a struct's constructor calls itself a builtin too, but dies with its row
            if builtins.get(func.key) is not func:
                return stock(adj, func, arg_types, kwarg_types, min_outputs)
            try:
                positional = tuple([type_key(t) for t in arg_types])
                named = tuple([(name, type_key(t)) for name, t in kwarg_types.items()])
            except _UnknownTypeError:
                return stock(adj, func, arg_types, kwarg_types, min_outputs)
            key = (func, positional, named, min_outputs)
            overload = chosen.get(key)
            if overload is None:
                overload = stock(adj, func, arg_types, kwarg_types, min_outputs)
                chosen[key] = overload
            return overload

        return resolve_func


def _is_known(method: Callable[..., Any]) -> bool:
    return tuple(inspect.signature(method).parameters) == _KNOWN_PARAMETERS


def _type_keys(codegen: ModuleType, types: ModuleType) -> Callable[[Any], Hashable]:
    """Return the function from an argument type to what overload resolution can see of it.

    That function raises ``_UnknownTypeError`` for everything but scalars, vectors, matrices,
    quaternions, transforms, structs, and arrays of or references to these.
    """
    scalars = frozenset([*types.scalar_types, types.bool, bool, int, float])
    reference = getattr(types, "Reference", None) or getattr(codegen, "Reference", None)
    annotation = getattr(types, "_ArrayAnnotationBase", ())

    def key(arg_type: Any) -> Hashable:
        if isinstance(arg_type, type):
            if arg_type in scalars:
                return arg_type
            hint = getattr(arg_type, "_wp_generic_type_hint_", None)
            parameters = getattr(arg_type, "_wp_type_params_", None)
            if hint is None or parameters is None:
                raise _UnknownTypeError
            # a row may build its own class for a vector of seven: the parameters are what counts
            return hint, tuple(parameters)
        if isinstance(arg_type, codegen.Struct):
            # no builtin has a parameter of a certain struct: one key for all of them
            return codegen.Struct
        kind = type(arg_type)
        if kind is reference:
            return kind, key(arg_type.value_type)
        if kind is types.array or isinstance(arg_type, annotation):
            return kind, key(arg_type.dtype), arg_type.ndim
        raise _UnknownTypeError

    return key
