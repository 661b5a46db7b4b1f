"""How the quantities of a family come to a kernel: arrays, parameters, literals, structs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from generators.build import KernelBuilder
from generators.math.cards import Quantity
from generators.math.scene import Scene, Source, snake
from generators.program.dtypes import Scalar
from generators.program.ir import FieldInit


def declare_inputs(
    s: Scene, keys: Sequence[str], axes: tuple[int, ...], records: bool, plain: bool = False
) -> None:
    """Declare the inputs: one array each, or an array of structs."""
    s.input_axes = axes
    if records and len(keys) > 1:
        _declare_struct(s, keys, s.family.inputs, s.family.records, axes)
        return
    for key in keys:
        s.sources[key] = _input(s, s.family.inputs[key], axes, plain)


def _input(s: Scene, q: Quantity, axes: tuple[int, ...], plain: bool) -> Source:
    """An input array; now and then stored in half precision or as codes of 8 or 16 bits."""
    k, full, low, high = s.k, 0.0, q.low, q.high
    type_, names = s.type, s.style(q.arrays, plural=True)
    if not plain and type_.name == "float32" and k.draw.shape.chance(0.14):
        type_ = Scalar("float16")
        if low >= 0.0 and high <= 1.0:
            type_, full = Scalar("uint8"), 255.0
        elif (low, high) == (-1.0, 1.0):
            type_, full = Scalar("int16"), 32768.0
    if full:
        bounds = type_.int_range
        span = max(ceil(low * full), bounds[0]), min(floor(high * full), bounds[1])
        array = k.array(names, type_, s.shape(axes), low=span[0], high=span[1])
    else:
        array = k.array(names, type_, s.shape(axes), low=low, high=high)
    return Source(q, array, axes, full=full)


def declare_params(
    s: Scene, keys: Sequence[str], choices: dict[tuple[int, ...], int], must: bool = False
) -> None:
    """Declare the parameters: by value, as literals, as arrays, or all of them in a struct.

    With ``must`` one of them at least is an array.
    """
    shape = s.k.draw.shape
    if len(keys) > 1 and shape.chance(0.3):
        axes = shape.weighted(choices if must else {(): 3, **choices})
        _declare_struct(s, keys, s.family.params, s.family.struct, axes)
        return
    needed = shape.choice(keys) if must else ""
    for key in keys:
        q = s.family.params[key]
        how = shape.weighted({"literal": 3, "scalar": 4, "array": 4})
        if key == needed:
            how = "array"
        if how == "literal":
            s.sources[key] = Source(q, s.k.lift(_usual(s.k, q), s.type))
        elif how == "scalar":
            value = s.k.scalar(s.style(q.names), s.type, q.low, q.high)
            s.sources[key] = Source(q, value)
        else:
            axes = shape.weighted(choices)
            names = s.style(q.arrays, plural=True)
            array = s.k.array(names, s.type, s.shape(axes), low=q.low, high=q.high)
            s.sources[key] = Source(q, array, axes)


def _usual(k: KernelBuilder, q: Quantity) -> float:
    if q.usual:
        return k.draw.value.choice(q.usual)
    return float(k.draw.value.constant(q.low, q.high))


def _declare_struct(
    s: Scene, keys: Sequence[str], table: dict[str, Quantity], names: str, axes: tuple[int, ...]
) -> None:
    k = s.k
    used: list[FieldInit] = []
    for key in k.draw.shape.sample(list(keys), len(keys)):
        q = table[key]
        free = [n for n in q.names if n not in {f.name for f in used}]
        chosen = s.style(q.names)[0]
        chosen = chosen if chosen in free else k.draw.word.choice(free)
        used.append(FieldInit(chosen, s.type, "uniform", str(q.low), str(q.high)))
        s.sources[key] = Source(q, k.lift(0.0, s.type), axes, used[-1].name)
    struct = k.struct(k.name(*names.split()), *((f.name, f.type) for f in used))
    low = snake(struct.name)
    if axes:
        plural = f"{low[:-1]}ies" if low.endswith("y") else f"{low.removesuffix('s')}s"
        plural = f"{low}es" if low.endswith(("ch", "sh", "x")) else plural
        var = k.array((plural, f"{low}_data", f"{low}_table"), struct, s.shape(axes), fields=used)
    else:
        var = k.scalar((low, "params", low[0]), struct, fields=used)
    for key in keys:
        s.sources[key].value = var
