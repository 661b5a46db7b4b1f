"""Python text of the types and constants that a hand-written kernel takes from around it."""

from __future__ import annotations

import enum
import math
import typing
from collections.abc import Callable
from typing import Any

import numpy as np

_SIMPLE = (bool, int, str, type(None))
# Names that Warp gives a type besides the one that people write.
_PREFERRED = ("vec2", "vec3", "vec4", "mat22", "mat33", "mat44", "quat", "transform")
_MOST_ITEMS = 4096
_FAMILIES = {"Quaternion": "quaternion", "Transformation": "transformation"}


class NotSelfContained(ValueError):  # noqa: N818 - a finding about a kernel, not an error of ours
    """The reason why a kernel's text cannot be completed."""


class Texts:
    """Writes values as text.

    Args:
        warp: the imported ``warp``.
        is_struct: tells what ``@wp.struct`` returned.
        name_struct: makes a struct known to the text being written and returns its name.
    """

    def __init__(
        self,
        warp: Any,
        is_struct: Callable[[object], bool],
        name_struct: Callable[[Any], str],
    ) -> None:
        self._warp = warp
        self._is_struct, self._name_struct = is_struct, name_struct
        self._names = _public_types(warp)
        self._arrays = {
            warp.array: "array",
            warp.indexedarray: "indexedarray",
            warp.fabricarray: "fabricarray",
            warp.indexedfabricarray: "indexedfabricarray",
        }

    def type(self, kind: Any) -> str:
        """Text of a type as it stands in an annotation. Raises :class:`NotSelfContained`."""
        if kind is None or kind is type(None):
            return "None"
        if kind is Any:
            return "Any"
        if kind in (int, float, bool):
            return str(kind.__name__)
        if self._is_struct(kind):
            return self._name_struct(kind)
        if isinstance(kind, type) and kind in self._names:
            return f"wp.{self._names[kind]}"
        array = self._array(kind)
        return array if array is not None else self._composite(kind)

    def is_type(self, value: Any) -> bool:
        """Whether a value is a type that kernels may use."""
        if isinstance(value, type):
            return value in self._names or value in (int, float, bool) or _parameters(value)
        return value is Any or self._is_struct(value) or self._array_class(value) is not None

    def _array_class(self, kind: Any) -> str | None:
        for array, name in self._arrays.items():
            annotation = getattr(kind, "_concrete_cls", None)
            if type(kind) is array or annotation is array:
                return name
        return None

    def _array(self, kind: Any) -> str | None:
        name = self._array_class(kind)
        if name is None:
            return None
        if getattr(kind, "ptr", None):
            raise NotSelfContained("uses an array that holds data")
        dtype = self.type(kind.dtype)
        if kind.ndim == 1:
            return f"wp.{name}(dtype={dtype})"
        if name == "array":
            return f"wp.array{kind.ndim}d(dtype={dtype})"
        return f"wp.{name}(dtype={dtype}, ndim={kind.ndim})"

    def _composite(self, kind: Any) -> str:
        hint = getattr(kind, "_wp_generic_type_hint_", None)
        parameters: tuple[Any, ...] = getattr(kind, "_wp_type_params_", ())
        family = getattr(hint, "__name__", "")
        if family == "Vector" and len(parameters) == 2:
            length, dtype = parameters
            return f"wp.types.vector(length={length}, dtype={self.type(dtype)})"
        if family == "Matrix" and len(parameters) == 3:
            rows, columns, dtype = parameters
            return f"wp.types.matrix(shape=({rows}, {columns}), dtype={self.type(dtype)})"
        if family in _FAMILIES and len(parameters) == 1:
            return f"wp.types.{_FAMILIES[family]}(dtype={self.type(parameters[0])})"
        if type(kind).__name__ == "Reference":
            return f"wp.ref[{self.type(kind.value_type)}]"
        raise NotSelfContained(f"uses a type with no plain text: {_kind_of(kind)}")

    def value(self, value: Any) -> str:
        """Text of a constant. Raises :class:`NotSelfContained`."""
        if isinstance(value, _SIMPLE) and type(value) in _SIMPLE:
            return repr(value)
        if isinstance(value, enum.Enum) and isinstance(value, int):
            return repr(int(value))
        if type(value) is float:
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, np.generic) and value.dtype.kind in "biuf":
            return f"wp.{value.dtype.name if value.dtype.kind != 'b' else 'bool'}({value.item()!r})"
        if type(value) in (tuple, list):
            return self._sequence(value)
        if type(value) is dict and len(value) <= _MOST_ITEMS:
            items = [f"{self.value(k)}: {self.value(v)}" for k, v in value.items()]
            return f"{{{', '.join(items)}}}"
        if _parameters(type(value)) or (type(value) in self._names and hasattr(value, "value")):
            return self._warp_value(value)
        if self.is_type(value):
            return self.type(value)
        raise NotSelfContained(f"uses a value with no plain text: {_kind_of(type(value))}")

    def _sequence(self, value: Any) -> str:
        if len(value) > _MOST_ITEMS:
            raise NotSelfContained(f"uses a sequence of {len(value)} values")
        inner = ", ".join(map(self.value, value))
        if type(value) is list:
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"

    def _warp_value(self, value: Any) -> str:
        name = self.type(type(value))
        if hasattr(value, "value"):
            return f"{name}({self.value(value.value)})"
        numbers = np.array(value).reshape(-1).tolist()
        if not all(isinstance(number, bool | int | float) for number in numbers):
            raise NotSelfContained(f"uses a value with no plain text: {name}")
        return f"{name}({', '.join(map(self.value, numbers))})"


def _public_types(warp: Any) -> dict[type, str]:
    """Warp's own types by the name that people write: ``vec3`` and not ``vec3f``."""
    found: dict[type, str] = {}
    for name in (*_PREFERRED, *sorted(vars(warp))):
        value = vars(warp).get(name)
        if isinstance(value, type) and value.__module__.startswith("warp"):
            found.setdefault(value, name)
    for generic in (warp.array, typing.Any):
        found.pop(generic, None)
    return found


def _parameters(kind: Any) -> bool:
    return bool(getattr(kind, "_wp_type_params_", None))


def _kind_of(kind: Any) -> str:
    return str(getattr(kind, "__name__", None) or type(kind).__name__)
