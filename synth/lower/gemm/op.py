"""What the ops that are matrix products share: spec, operands, reference and tolerance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import prod
from typing import Any

from synth.errors import SettingsError
from synth.lower.gemm import parts
from synth.lower.gemm.plan import ACTIVATIONS, CORES, MMA_K, Epilogue, Gemm, Tiling, fault
from synth.lower.gemm.text import text
from synth.lower.op import Lowered, Op, Operand, Sizes, one_of, whole
from validate.row.archs import WARPGROUP_ARCH

FIELDS: Mapping[str, Any] = {
    "transpose_a": False,
    "transpose_b": False,
    "batch": 1,
    "scale": 1.0,
    "bias": False,
    "activation": "none",
    "residual": False,
}
_DTYPES = ("float32", "float64", "float16", "bfloat16", "tf32", "int8")
_MOST = {
    **dict.fromkeys(("tile_m", "tile_n", "tile_k", "warp_m", "warp_n"), 256),
    **dict.fromkeys(("thread_m", "thread_n"), 16),
    **{"blocks": 8, "raster": 64, "split_k": 32, "persistent": 65535, "stages": 5},
}
_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53, "float16": 2.0**-24, "tf32": 2.0**-10}
_DECODED = """
def decoded(bits):
    sign = -1.0 if bits >= 32768 else 1.0
    power = bits // 128 % 256
    return 0.0 if power == 0 else sign * (128 + bits % 128) * 2.0 ** (power - 134)


def encoded(x):
    if x == 0.0:
        return 0
    power = math.frexp(x)[1] - 1
    kept = round(abs(x) * 2.0 ** (7 - power))
    return (32768 if x < 0.0 else 0) + (power + 126) * 128 + kept


def floats(a):
    flat = np.array([decoded(int(v)) for v in a.reshape(-1)], np.float64)
    return flat.reshape(a.shape)

"""

GELU = (
    "    root = math.sqrt(2.0)",
    "    curve = [0.5 * v * (1.0 + math.erf(v / root)) for v in value.reshape(-1)]",
    "    flat = np.array(curve, np.float64)",
    "    value = flat.reshape(value.shape)",
)
"""Plain Python of an activation."""


def schedule(dtype: str) -> dict[str, Any]:
    """The schedule that is taken where none is asked for."""
    if dtype == "float32":
        tiling = Tiling(128, 128, 8, 32, 64, 8, 8, blocks=2)
    elif dtype == "float64":
        tiling = Tiling(64, 64, 8, 32, 32, 8, 4)
    else:
        tile_k = max(32, MMA_K[dtype] * 2)
        tiling = Tiling(128, 128, tile_k, 64, 32, stages=3, copy="async")
    return {"core": "simt" if dtype in CORES["simt"] else "mma", **asdict(tiling)}


def read(name: str, dtype: str, fields: Mapping[str, Any], schedule: Mapping[str, Any]) -> Gemm:
    """The plan of a product. Raises SettingsError."""
    one_of("activation", fields["activation"], ACTIVATIONS)
    one_of("batch", fields["batch"], (1, 2))
    e = Epilogue(fields["scale"], fields["bias"], fields["activation"], fields["residual"])
    return checked(
        Gemm(
            *(name, *read_tiling(schedule, dtype)),
            *(fields["transpose_a"], fields["transpose_b"], fields["batch"] > 1, e),
        )
    )


def read_tiling(schedule: Mapping[str, Any], dtype: str) -> tuple[str, str, Tiling]:
    """Core, dtype and tiling of a schedule. Raises SettingsError."""
    one_of("schedule.core", schedule["core"], tuple(CORES))
    one_of("schedule.copy", schedule["copy"], ("registers", "async"))
    tiles = {field: value for field, value in schedule.items() if field != "core"}
    for field, most in _MOST.items():
        least = 0 if field in ("blocks", "persistent") else 1
        whole(f"schedule.{field}", tiles[field], least, most)
    return schedule["core"], dtype, Tiling(**tiles)


def checked(gemm: Gemm) -> Gemm:
    """The plan, where there can be such a text. Raises SettingsError."""
    if wrong := fault(gemm):
        raise SettingsError(f"schedule: {wrong}")
    if gemm.dtype == "bfloat16" and gemm.epilogue.activation == "gelu":
        raise SettingsError("activation: gelu is not allowed of bfloat16; the host cannot prove it")
    return gemm


def lowered(g: Gemm) -> Lowered:
    """The text of a product."""
    return Lowered(g.name, text(g), parts.args(g), parts.launches(g), parts.scratch(g))


def operands(g: Gemm) -> list[Operand]:
    """Arrays of a product."""
    batch = ("batch",) if g.batch else ()
    shapes = {
        "a": (*batch, *("km" if g.transpose_a else "mk")),
        "b": (*batch, *("nk" if g.transpose_b else "kn")),
        "bias": ("n",),
        "residual": (*batch, "m", "n"),
        "c": (*batch, "m", "n"),
    }
    dtype = {"tf32": "float32", "bfloat16": "uint16"}.get(g.dtype, g.dtype)
    return [
        Operand(
            name,
            "int32" if name == "c" and g.dtype == "int8" else dtype,
            shapes[name],
            g.dtype == "bfloat16",
        )
        for name, _ in parts.pointers(g)
    ]


def reference(g: Gemm) -> str:
    """Plain Python that computes the product in float64."""
    names = [name for name, _ in parts.pointers(g)]
    narrow = g.dtype == "bfloat16"
    kind = "int64" if g.dtype == "int8" else "float64"
    read = {name: f"floats({name})" if narrow else f"np.array({name}, np.{kind})" for name in names}
    axes = "(0, 2, 1)" if g.batch else "(1, 0)"
    for name, turned in (("a", g.transpose_a), ("b", g.transpose_b)):
        read[name] = f"np.transpose({read[name]}, {axes})" if turned else read[name]
    e = g.epilogue
    lines = [f"    value = np.matmul({read['a']}, {read['b']})"]
    if e.scale != 1.0:
        lines.append(f"    value = value * {e.scale!r}")
    if e.bias:
        lines.append(f"    value = value + {read['bias']}")
    if e.activation == "relu":
        lines.append("    value = np.maximum(value, 0.0)")
    if e.activation == "gelu":
        lines += GELU
    if e.residual:
        lines.append(f"    value = value + {read['residual']}")
    if narrow:
        lines += [
            "    bits = [encoded(float(v)) for v in value.reshape(-1)]",
            "    flat = np.array(bits, np.int64)",
            "    value = flat.reshape(value.shape)",
        ]
    lines.append("    c[...] = value")
    head = "import math\n\nimport numpy as np\n\n"
    return f"{head}{_DECODED if narrow else ''}\ndef {g.name}(dim, {', '.join(names)}):\n" + (
        "\n".join([*lines, ""])
    )


def tolerance(g: Gemm, sizes: Sizes) -> tuple[float, float]:
    """rtol and atol: 4 k u of a sum, as `check.tolerance` says, with u = 2**-24 of float16, whose
    products are exact, and its rounding to 2**-11 at the end; of tf32 4 sqrt(k) 2**-10, for inputs
    that lose up to 2**-10 each. Whole numbers and bfloat16 must be exact."""
    if g.dtype in ("int8", "bfloat16"):
        return 0.0, 0.0
    k = sizes["k"] + 4
    grown = 4.0 * (k**0.5 if g.dtype == "tf32" else k) * _UNIT[g.dtype]
    return (2.0**-11 if g.dtype == "float16" else 2.0**-22 * (g.dtype != "float64")), grown


def shapes(g: Gemm) -> list[tuple[int, ...]]:
    """Whole tiles, more along k than stages; ragged edges; one element; whole vectors, of more
    tiles than up to 8 persistent blocks take at once."""
    t = g.tiling
    # Each part of k must come back to its first stage, or no barrier between turns is needed; where
    # `cp.async` fills all stages before the first turn, a part shorter than these shows as much.
    cuts = t.split_k if g.core == "wgmma" or t.copy == "registers" else 1
    found = [
        (t.tile_m, t.tile_n, cuts * (t.stages + 1) * t.tile_k),
        (37, 41, 2 * t.tile_k + 3),
        (1, 1, 1),
        ((min(t.persistent, 8) or 1) * t.tile_m + 5, 16, 2 * t.tile_k),
        (16, t.tile_n + 16, t.tile_k + g.group),
    ]
    return [(*shape, 2) for shape in found] if g.batch else [(*shape, 1) for shape in found]


def archs(g: Gemm) -> tuple[str, ...]:
    """What alone has the instructions of a core."""
    return (WARPGROUP_ARCH,) if g.core == "wgmma" else ()


def work(g: Gemm, sizes: Sizes) -> int:
    """Products in whole tiles."""
    t = g.tiling
    tiles = {"m": t.tile_m, "n": t.tile_n, "k": t.tile_k}
    return sizes["batch"] * prod(-(-sizes[name] // tile) * tile for name, tile in tiles.items())


def product_op(name: str, fields: Mapping[str, Any]) -> Op:
    """An op that is a product; `fields` are its own defaults."""
    return Op(
        name=name,
        sizes=("m", "n", "k", "batch"),
        dtypes=_DTYPES,
        fields={**FIELDS, **fields},
        schedule=schedule,
        read=lambda dtype, given, schedule: read(name, dtype, given, schedule),
        shared_bytes=lambda g: g.shared_bytes,
        lower=lowered,
        operands=operands,
        reference=reference,
        tolerance=tolerance,
        shapes=shapes,
        work=work,
        archs=archs,
    )
