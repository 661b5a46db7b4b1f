"""Rounding of exact numbers to a floating format, and functions of the host headers on arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from validate.host import clang
from validate.text import plain_host

MODES = ("rn", "rz", "ru", "rd")
DTYPES = {
    "float": np.float32,
    "double": np.float64,
    "short": np.int16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "__half": np.uint16,
    "__nv_bfloat16": np.uint16,
}
_handles = count()


@dataclass(frozen=True)
class Format:
    """A floating format: bits of its mantissa, exponent of its smallest number and of its top."""

    bits: int
    least: int
    top: int

    @property
    def most(self) -> Fraction:
        return (2 - Fraction(2) ** (1 - self.bits)) * Fraction(2) ** self.top


FORMATS = {
    "float": Format(24, -149, 127),
    "double": Format(53, -1074, 1023),
    "__half": Format(11, -24, 15),
    "__nv_bfloat16": Format(8, -133, 127),
}


def rounded(value: Fraction, mode: str, form: Format) -> float:
    """An exact number in a format, rounded in one of MODES; beyond the format's range too."""
    size, sign = abs(value), -1.0 if value < 0 else 1.0
    if not size:
        return 0.0
    power = size.numerator.bit_length() - size.denominator.bit_length()
    power -= size < Fraction(2) ** power
    unit = Fraction(2) ** max(power - form.bits + 1, form.least)
    whole, rest = divmod(size / unit, 1)
    away = mode == ("ru" if value > 0 else "rd")
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2) if mode == "rn" else away
    found = (whole + (1 if up and rest else 0)) * unit
    if found > form.most:
        return sign * (math.inf if mode == "rn" or away else float(form.most))
    return sign * float(found)


def root(value: Fraction) -> Fraction:
    """The square root, near enough that it rounds as the exact one does."""
    scale = 1 << 2600
    scaled = value * scale * scale
    found = math.isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(found, scale) ** 2 == value
    return Fraction(found, scale) + (0 if exact else Fraction(1, 4 * scale))


def narrow_bits(values: Sequence[float], kind: str) -> np.ndarray:
    """Bits of numbers that a narrow type holds exactly; NaN as CUDA writes it."""
    array = np.array(values)
    if kind == "__half":
        bits = array.astype(np.float16).view(np.uint16)
    else:
        bits = (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.where(np.isnan(array), np.uint16(0x7FFF), bits)


@dataclass(frozen=True)
class Call:
    """An expression over `a`, `b` and `c` of the parameters' types."""

    result: str
    expression: str
    parameters: tuple[str, ...]


def computed(calls: Sequence[Call], columns: Sequence[Sequence[Any]], folder: Path) -> list[Any]:
    """What each call gives for its columns, one array a parameter; an array a call."""
    parts = [plain_host.header_text()]
    parts += [_loop(position, call) for position, call in enumerate(calls)]
    handle = f"values_{next(_handles)}"
    target = folder / f"{handle}.o"
    clang.build_bare("".join(parts), target, ())
    clang.load(target, handle)
    found = []
    for position, (call, arrays) in enumerate(zip(calls, columns, strict=True)):
        taken = [
            np.ascontiguousarray(array, DTYPES[kind])
            for array, kind in zip(arrays, call.parameters, strict=True)
        ]
        result = np.zeros(len(taken[0]), DTYPES[call.result])
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(taken) + 1), ctypes.c_int)
        pointers = [array.ctypes.data for array in (*taken, result)]
        function(clang.lookup(handle, f"values_{position}"))(*pointers, len(result))
        found.append(result)
    clang.unload(handle)
    return found


def _loop(position: int, call: Call) -> str:
    names = "abc"[: len(call.parameters)]
    taken = "".join(f"const {kind}* {n}s, " for kind, n in zip(call.parameters, names, strict=True))
    locals_ = " ".join(
        f"const {kind} {n} = {n}s[i];" for kind, n in zip(call.parameters, names, strict=True)
    )
    return (
        f'extern "C" void values_{position}({taken}{call.result}* out, int n)\n'
        f"{{ for (int i = 0; i < n; ++i) {{ {locals_} out[i] = {call.expression}; }} }}\n"
    )
