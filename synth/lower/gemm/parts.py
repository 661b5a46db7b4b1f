"""What the texts of all matrix products share: constants, parameters, tiles of c and stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.lower.gemm.plan import STORED, SUMMED, Epilogue, Gemm
from synth.lower.gemm.view import kernel_lines
from validate.row.archs import MOST_OPT_IN_SHARED_BYTES

_GELU = """// 0.5 x (1 + erf(x / sqrt(2))).
__device__ @sum@ gelu(@sum@ x)
{
    return @half@ * x * (@one@ + @erf@(x * @root@));
}
"""

_TILE_OF = """// Blocks that follow one another take tiles of a few rows: they share what they read.
__device__ void tile_of(int number, int m, int n, int& first_row, int& first_column)
{
    const int rows = (m - 1) / TILE_M + 1;
    const int columns = (n - 1) / TILE_N + 1;
    const int first = number / (RASTER * columns) * RASTER;
    const int height = min(rows - first, RASTER);
    const int within = number % (RASTER * columns);
    first_row = (first + within % height) * TILE_M;
    first_column = within / height * TILE_N;
}
"""

_ADD_PARTS = """// c = the sum of its parts.
extern "C" __global__ void __launch_bounds__(256) @name@_add(
    const @sum@* __restrict__ parts@params@,
    @out@* __restrict__ c, int m, int n)
{
    const size_t count = static_cast<size_t>(m) * n;
    const size_t at = static_cast<size_t>(blockIdx.x) * 256 + threadIdx.x;
    if (at >= count) {
        return;
    }
    @sum@ value = @zero@;
    for (int part = 0; part < SPLIT_K; ++part) {
        value += parts[part * count + at];
    }
@column@    c[at] = @converted@;
}
"""


def filled(template: str, **values: str) -> str:
    """A text with its @names@ replaced."""
    for name, value in values.items():
        template = template.replace(f"@{name}@", value)
    return template


def includes(g: Gemm) -> list[str]:
    """Headers that a type needs."""
    header = {"float16": "cuda_fp16.h", "bfloat16": "cuda_bf16.h"}.get(g.dtype)
    return [f"#include <{header}>", ""] if header else []


def heading(g: Gemm) -> list[str]:
    """What the text computes."""
    a = "a[k, m] transposed" if g.transpose_a else "a[m, k]"
    b = "b[n, k] transposed" if g.transpose_b else "b[k, n]"
    e = g.epilogue
    value = f"{a} {b}" + (f" {e.scale!r}" if e.scale != 1.0 else "") + (" + bias[n]" * e.bias)
    value = f"{e.activation}({value})" if e.activation != "none" else value
    value += " + residual[m, n]" * e.residual
    if g.view:
        return [f"// {line}" for line in g.view.about.split("\n")]
    return [f"// c[m, n] = {value}, row-major{', for each of a batch' if g.batch else ''}."]


def constants(g: Gemm) -> list[str]:
    """The tile's measures as constants, a blank line after them."""
    t = g.tiling
    names = ["tile_m", "tile_n", "tile_k", "warp_m", "warp_n"]
    names += ["thread_m", "thread_n"] if g.core == "simt" else []
    values = [(name.upper(), str(getattr(t, name))) for name in names]
    values += [("WARPS_N", "TILE_N / WARP_N"), ("THREADS", "TILE_M / WARP_M * WARPS_N * 32")]
    values += [("STAGES", str(t.stages)), ("GROUP", str(g.group)), ("RASTER", str(t.raster))]
    values += [("SPLIT_K", str(t.split_k))] if t.split_k > 1 else []
    values += g.view.constants if g.view else ()
    return [*(f"constexpr int {name} = {value};" for name, value in values), ""]


def pointers(g: Gemm) -> list[tuple[str, str]]:
    """Names and element types of the arrays that a kernel is given, c last."""
    stored = STORED[g.dtype]
    more = [("bias", g.out)] * g.epilogue.bias + [("residual", g.out)] * g.epilogue.residual
    return [("a", stored), ("b", stored), *more, ("c", g.out)]


def args(g: Gemm) -> list[dict[str, str | None]]:
    """`plain_args` of a product: arrays, then m, n and k (and batch) as int."""
    listed = pointers(g)
    found: list[dict[str, str | None]] = [
        {
            "name": g.named(name),
            "type": f"const {kind}*" if name != "c" else f"{kind}*",
            "size": None,
        }
        for name, kind in listed
    ]
    sizes = g.view.sizes if g.view else [*"mnk", *(["batch"] if g.batch else [])]
    return found + [{"name": name, "type": "int", "size": name} for name in sizes]


def parameters(g: Gemm) -> list[str]:
    """Parameters of `product`; with parts of k it writes sums and no c."""
    shape = ["const Shape& shape"] if g.view else []
    return [*_arrays(g), *shape, "int m, int n, int k"]


def kernel_parameters(g: Gemm) -> list[str]:
    """Parameters of the first kernel."""
    if g.view:
        sizes = [f"int {name}" for name in g.view.sizes]
        return [*_arrays(g, named=True), ", ".join(sizes)]
    return [*parameters(g), *(["int batch"] if g.batch else [])]


def _arrays(g: Gemm, *, named: bool = False) -> list[str]:
    split = g.tiling.split_k > 1
    kinds = [(n, k) for n, k in pointers(g) if not split or n in "ab"]
    shown = [
        f"{'' if n == 'c' else 'const '}{k}* __restrict__ {g.named(n) if named else n}"
        for n, k in kinds
    ]
    return shown + ([f"{SUMMED[g.dtype]}* __restrict__ parts"] if split else [])


def passed(shown: Sequence[str]) -> list[str]:
    """Names of parameters."""
    return [part.split()[-1] for p in shown for part in p.split(", ")]


def finished(g: Gemm, value: str, place: str, column: str) -> str:
    """The expression of an element from its sum."""
    e, kind = g.epilogue, SUMMED[g.dtype]
    letter = "" if kind == "double" else "f"
    if e.scale != 1.0:
        value = f"{value} * {e.scale!r}{letter}"
    if e.bias:
        value = f"{value} + {_read(g, 'bias', 'row' if g.view and g.view.row_bias else column)}"
    if e.activation == "relu":
        value = f"fmax{letter}({value}, 0.0{letter})"
    if e.activation == "gelu":
        value = f"gelu({value})"
    return f"{value} + {_read(g, 'residual', place)}" if e.residual else value


def _read(g: Gemm, array: str, place: str) -> str:
    return converted_up(g, f"{array}[{place}]")


def converted_up(g: Gemm, value: str) -> str:
    """An element as a sum's type has it."""
    name = {"float16": "__half2float", "bfloat16": "__bfloat162float"}.get(g.dtype)
    return f"{name}({value})" if name else value


def converted(g: Gemm, value: str) -> str:
    """A sum as an element of c."""
    name = {"float16": "__float2half", "bfloat16": "__float2bfloat16"}.get(g.dtype)
    return f"{name}({value})" if name else value


def zero(g: Gemm) -> str:
    """Nothing, of the type of a and b."""
    return {
        "float64": "0.0",
        "int8": "0",
        "float16": "__float2half(0.0f)",
        "bfloat16": "__float2bfloat16(0.0f)",
    }.get(g.dtype, "0.0f")


def device_functions(g: Gemm) -> list[str]:
    """Functions of the epilogue and of the order of tiles."""
    found = gelu_lines(g.dtype, g.epilogue)
    return [*found, *_TILE_OF.split("\n"), *(g.view.functions.split("\n") if g.view else [])]


def gelu_lines(dtype: str, epilogue: Epilogue) -> list[str]:
    """The function of an activation that needs one; else nothing."""
    if epilogue.activation != "gelu":
        return []
    double = SUMMED[dtype] == "double"
    words = dict(zip(("half", "one", "root"), ("0.5", "1.0", "0.70710678118654752"), strict=True))
    words = {name: value if double else f"{value}f" for name, value in words.items()}
    made = filled(_GELU, sum=SUMMED[dtype], erf="erf" if double else "erff", **words)
    return made.split("\n")


def store(g: Gemm, width: int, value: str) -> list[str]:
    """Stores `width` neighbours at (row, column), whose sums are `value` with @e@ in the place of
    a number; whole rows of them are aligned where ALIGNED."""
    kind = SUMMED[g.dtype]
    split = g.tiling.split_k > 1
    to = "parts" if split else "c"
    place, single = "static_cast<size_t>(row) * n + column", "place + e"
    if g.view and g.view.scattered:
        place, single = (f"place_of_c(shape, row, column{e})" for e in ("", " + e"))

    def one(e: str) -> str:
        own = value.replace("@e@", e)
        if split:
            return own
        return converted(g, finished(g, own, f"place + {e}", f"column + {e}"))

    target = kind if split else g.out
    vector = _vector(target, width, [one(str(e)) for e in range(width)])
    return [
        f"const size_t place = {place};",
        "if (ALIGNED) {",
        *(f"    {line}" for line in vector.replace("@to@", f"{to} + place").split("\n")),
        "} else {",
        "#pragma unroll",
        f"    for (int e = 0; e < {width}; ++e) {{",
        "        if (column + e < n) {",
        f"            {to}[{single}] = {one('e')};",
        "        }",
        "    }",
        "}",
    ]


def _vector(kind: str, width: int, values: Sequence[str]) -> str:
    """A store of several values at once; @to@ is the place."""
    if kind == "__half":
        return f"*reinterpret_cast<__half2*>(@to@) = __halves2half2({', '.join(values)});"
    if kind == "__nv_bfloat16":
        made = f"__halves2bfloat162({', '.join(values)})"
        return f"*reinterpret_cast<__nv_bfloat162*>(@to@) = {made};"
    parts = ",\n".join(f"    {value}" for value in values)
    return f"*reinterpret_cast<{kind}{width}*>(@to@) = make_{kind}{width}(\n{parts});"


def own_place(g: Gemm, width: str) -> tuple[str, str]:
    """Row and column of the i-th element that a thread brings of rows of `width`. Where all threads
    are at the same row it is told by i alone: what is found by it is found once for a block."""
    threads, extent = g.tiling.threads, getattr(g.tiling, width.lower())
    if threads % extent and extent % threads:
        v = "(threadIdx.x + i * THREADS)"
        return f"{v} / {width}", f"{v} % {width}"
    if threads > extent:
        return f"i * (THREADS / {width}) + threadIdx.x / {width}", f"threadIdx.x % {width}"
    if threads == extent:
        return "i", "threadIdx.x"
    turns = f"({width} / THREADS)"
    return f"i / {turns}", f"i % {turns} * THREADS + threadIdx.x"


def add_kernel(g: Gemm) -> list[str]:
    """The kernel that adds the parts of a product and finishes it; empty without parts."""
    if g.tiling.split_k == 1:
        return []
    more = [f"const {kind}* __restrict__ {name}" for name, kind in pointers(g)[2:-1]]
    column = "    const int column = static_cast<int>(at % n);\n" if g.epilogue.bias else ""
    return filled(
        _ADD_PARTS,
        name=g.name,
        sum=SUMMED[g.dtype],
        zero="0.0" if g.dtype == "float64" else "0.0f",
        out=g.out,
        params="".join(f",\n    {part}" for part in more),
        column=column,
        converted=converted(g, finished(g, "value", "at", "column")),
    ).split("\n")


def launches(g: Gemm) -> dict[str, Any] | list[dict[str, Any]]:
    """`plain_launch` of a product."""
    t = g.tiling
    m, n = (g.view.m, g.view.n) if g.view else ("m", "n")
    tiles = f"(({n} - 1) / {t.tile_n} + 1) * (({m} - 1) / {t.tile_m} + 1)"
    grid = [str(t.persistent) if t.persistent else tiles]
    grid += ["batch"] if g.batch else []
    grid += [str(g.view.groups)] if g.view and g.view.groups > 1 else []
    first: dict[str, Any] = {
        "grid": grid,
        "block": [t.threads],
        "shared_bytes": g.shared_bytes if g.dynamic or g.core != "simt" else 0,
    }
    if g.dynamic:
        first["opt_in"] = "sm_90" if g.shared_bytes > MOST_OPT_IN_SHARED_BYTES else True
    if t.split_k == 1:
        return first
    first |= {"grid": [tiles, t.split_k], "kernel": g.name}
    sizes = g.view.sizes if g.view else "mnk"
    first["args"] = [f"={p}" if p in sizes else p for p in passed(kernel_parameters(g))]
    more = [name for name, _ in pointers(g)[2:-1]]
    second = {
        "kernel": f"{g.name}_add",
        "args": ["parts", *more, g.named("c"), f"={m}", f"={n}"],
        "grid": [f"({m} * {n} - 1) / 256 + 1"],
        "block": [256],
        "shared_bytes": 0,
    }
    return [first, second]


def scratch(g: Gemm) -> list[dict[str, str]]:
    """`plain_scratch` of a product."""
    if g.tiling.split_k == 1:
        return []
    dtype = "float64" if g.dtype == "float64" else "float32"
    m, n = (g.view.m, g.view.n) if g.view else ("m", "n")
    return [{"name": "parts", "dtype": dtype, "count": f"{g.tiling.split_k} * {m} * {n}"}]


def kernel(g: Gemm, shared: Sequence[str], tiles: str) -> list[str]:
    """The kernel around `product<ALIGNED>`, which makes one tile: shared memory, tiles in turn,
    aligned or not. `tiles` are the shared arrays that it is passed."""
    bounds = "THREADS" + (f", {g.tiling.blocks}" if g.tiling.blocks else "")
    shown = kernel_parameters(g)
    moved = kernel_lines(g.view, g.epilogue.bias) if g.view else []
    if g.batch:
        last = [("c", "m", "n")] + [("residual", "m", "n")] * g.epilogue.residual
        for name, rows, columns in [("a", "m", "k"), ("b", "k", "n"), *last]:
            moved.append(f"    {name} += static_cast<size_t>(blockIdx.y) * {rows} * {columns};")
    given = ", ".join([tiles, *(g.named(p) for p in passed(parameters(g)))])
    return [
        f'extern "C" __global__ void __launch_bounds__({bounds}) {g.name}(',
        *(f"    {part}," for part in shown[:-1]),
        f"    {shown[-1]})",
        "{",
        *(f"    {line}" for line in shared),
        *moved,
        *_aligned_test(g),
        *_tiles_in_turn(g, given),
        "}",
        "",
    ]


def _aligned_test(g: Gemm) -> list[str]:
    a_columns = "m" if g.transpose_a else "k"
    b_columns = "k" if g.transpose_b else "n"
    arrays = [part.split()[-1] for part in _arrays(g)]
    names = [g.named(p) for p in arrays if p not in ("bias", "residual") and not g.gathered(p)]
    places = " | ".join(f"reinterpret_cast<size_t>({name})" for name in names)
    counts = " | ".join(dict.fromkeys((a_columns, b_columns, "n")))
    counts = g.view.aligned if g.view else f"({counts})"
    return [
        f"    const size_t places = {places};",
        f"    const bool aligned = places % 16 == 0 && {counts} % GROUP == 0;",
    ]


def _tiles_in_turn(g: Gemm, given: str) -> list[str]:
    call = [
        "int first_row, first_column;",
        "tile_of(@number@, m, n, first_row, first_column);",
        "if (aligned) {",
        f"    product<true>(first_row, first_column, {given});",
        "} else {",
        f"    product<false>(first_row, first_column, {given});",
        "}",
    ]
    if not g.tiling.persistent:
        return [f"    {line.replace('@number@', 'blockIdx.x')}" for line in call]
    return [
        "    const int tile_count = ((n - 1) / TILE_N + 1) * ((m - 1) / TILE_M + 1);",
        "    for (int number = blockIdx.x; number < tile_count; number += gridDim.x) {",
        *(f"        {line.replace('@number@', 'number')}" for line in call),
        *(["        __syncthreads();"] if g.tiling.copy == "async" else []),
        "    }",
    ]
