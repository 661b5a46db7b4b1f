"""The CUDA C++ of an op over rows."""

from __future__ import annotations

from synth.lower.gemm.parts import filled
from synth.lower.op import Lowered
from synth.lower.rows.plan import STORED, SUMMED, WARP, Rows, Stat

_WARP_JOIN = """__device__ @sum@ @join@_of_warp(@sum@ value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const @sum@ other = __shfl_xor_sync(0xffffffffu, value, step);
        value = @joined@;
    }
    return value;
}
"""

_ROW_JOIN = """// The @join@ over a block, whose threads all call it; `parts` has a place a warp.
__device__ @sum@ @join@_of_row(@sum@ value, @sum@* parts)
{
    value = @join@_of_warp(value);
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = value;
    }
    __syncthreads();
    const int lane = threadIdx.x % 32;
    return @join@_of_warp(lane < THREADS / 32 ? parts[lane] : @none@);
}
"""

_KERNEL = """extern "C" __global__ void __launch_bounds__(@bounds@) @name@(
@params@)
{
@row@
    const int own = threadIdx.x % THREADS;
    const @real@* const from = x + static_cast<size_t>(row) * n;
@to@    const size_t places = @places@;
    const bool aligned = places % 16 == 0 && n % GROUP == 0;
    if (aligned && n <= THREADS * HELD * GROUP) {
        @sum@ values[HELD][GROUP];
@given_packs@#pragma unroll
        for (int h = 0; h < HELD; ++h) {
            const int first = (h * THREADS + own) * GROUP;
            if (first < n) {
                const Pack pack = read_pack(from + first);
@given_reads@#pragma unroll
                for (int e = 0; e < GROUP; ++e) {
                    values[h][e] = @up_pack@;
                }
            }
        }
@held@
        return;
    }
    if (aligned) {
@vectors@
        return;
    }
@again@
}
"""

_PACKS = """struct __align__(16) Pack { @real@ values[GROUP]; };

__device__ __forceinline__ Pack read_pack(const @real@* from)
{
@read@
}
"""

# Rows share these: they stay where they are found quickly, whatever becomes of x.
_KEPT_PACK = """
__device__ __forceinline__ Pack read_kept(const @real@* from)
{
    return *reinterpret_cast<const Pack*>(from);
}
"""

_WRITE_PACK = """
__device__ __forceinline__ void write_pack(@real@* to, const Pack& pack)
{
@write@
}
"""

_PLAIN_PACKS = (
    "    return *reinterpret_cast<const Pack*>(from);",
    "    *reinterpret_cast<Pack*>(to) = pack;",
)
# As what is not needed again.
_STREAMED_PACKS = (
    "    const uint4 words = __ldcs(reinterpret_cast<const uint4*>(from));\n"
    "    return *reinterpret_cast<const Pack*>(&words);",
    "    __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(&pack));",
)

_VECTORS_STAT = """        @sum@ @name@ = @none@;
#pragma unroll 4
        for (int first = own * GROUP; first < n; first += THREADS * GROUP) {
            const Pack pack = read_pack(from + first);
#pragma unroll
            for (int e = 0; e < GROUP; ++e) {
                const @sum@ x_value = @up_pack@;
                const @sum@ term = @term@;
                @name@ = @joined@;
            }
        }
        @name@ = @whole@;@then@"""

_VECTORS_STORE = """        for (int first = own * GROUP; first < n; first += THREADS * GROUP) {
            Pack pack = read_pack(from + first);
@packs@#pragma unroll
            for (int e = 0; e < GROUP; ++e) {
                const @sum@ x_value = @up_pack@;
@loads@                pack.values[e] = @down@;
            }
            write_pack(to + first, pack);
        }"""

_HELD_STAT = """        @sum@ @name@ = @none@;
#pragma unroll
        for (int h = 0; h < HELD; ++h) {
            if ((h * THREADS + own) * GROUP < n) {
#pragma unroll
                for (int e = 0; e < GROUP; ++e) {
                    const @sum@ x_value = values[h][e];
                    const @sum@ term = @term@;
@kept@                    @name@ = @joined@;
                }
            }
        }
        @name@ = @whole@;@then@"""

_AGAIN_STAT = """    @sum@ @name@ = @none@;
    for (int i = own; i < n; i += THREADS) {
        const @sum@ x_value = @up@;
        const @sum@ term = @term@;
        @name@ = @joined@;
    }
    @name@ = @whole@;@then@"""

_HELD_STORE = """#pragma unroll
        for (int h = 0; h < HELD; ++h) {
            const int first = (h * THREADS + own) * GROUP;
            if (first < n) {
                Pack pack;
#pragma unroll
                for (int e = 0; e < GROUP; ++e) {
                    const @sum@ x_value = values[h][e];
@loads@                    pack.values[e] = @down@;
                }
                write_pack(to + first, pack);
            }
        }"""

_AGAIN_STORE = """    for (int i = own; i < n; i += THREADS) {
        const @sum@ x_value = @up@;
@loads@        to[i] = @down@;
    }"""


def lowered(r: Rows) -> Lowered:
    """The text of an op over rows, and its launch."""
    kinds = [("x", f"const {STORED[r.dtype]}*")]
    kinds += [(name, f"const {STORED[r.dtype]}*") for name in r.form.given]
    kinds.append(("y", f"{STORED[r.dtype]}*"))
    args: list[dict[str, str | None]] = [{"name": n, "type": k, "size": None} for n, k in kinds]
    args += [{"name": name, "type": "int", "size": name} for name in "mn"]
    grid = "m" if r.rows == 1 else f"(m - 1) / {r.rows} + 1"
    launch = {"grid": [grid], "block": [r.block], "shared_bytes": 0}
    return Lowered(r.form.name, _text(r, kinds), args, launch, [])


def _text(r: Rows, kinds: list[tuple[str, str]]) -> str:
    real, total = STORED[r.dtype], SUMMED[r.dtype]
    params = [f"    {kind} __restrict__ {name}" for name, kind in kinds] + ["    int m, int n"]
    lines = [f"// {r.form.about}", ""]
    lines += ["#include <cuda_fp16.h>", ""] if r.dtype == "float16" else []
    lines += [f"constexpr int THREADS = {r.threads};", f"constexpr int HELD = {r.held};"]
    lines += [f"constexpr int GROUP = {r.group};", ""]
    lines += _packs(r).split("\n")
    for join in dict.fromkeys(stat.join for stat in r.form.stats):
        words = {"join": join, "sum": total, "joined": _joined(r, join, "value", "other")}
        lines += filled(_WARP_JOIN, **words).split("\n")
        if r.threads > WARP:
            lines += filled(_ROW_JOIN, none=_none(r, join), **words).split("\n")
    body = filled(
        _KERNEL,
        bounds=str(r.block),
        name=r.form.name,
        params=",\n".join(params),
        row=_row(r),
        to=f"    {real}* const to = y + static_cast<size_t>(row) * n;\n" if r.form.element else "",
        places=_places(r, kinds),
        held=_path(r, "held"),
        given_packs="".join(f"        Pack {name}_packs[HELD];\n" for name in r.form.given),
        given_reads="".join(
            f"                {name}_packs[h] = read_kept({name} + first);\n"
            for name in r.form.given
        ),
        vectors=_path(r, "vectors"),
        again=_path(r, "again"),
    )
    body = filled(
        body, real=real, sum=total, up_pack=_up(r, "pack.values[e]"), up=_up(r, "from[i]")
    )
    return "\n".join([*lines, body])


def _packs(r: Rows) -> str:
    """Vectors of 16 bytes, and how they are read and written."""
    read, write = _STREAMED_PACKS if r.stream else _PLAIN_PACKS
    text = _PACKS + (_KEPT_PACK if r.form.given else "")
    text += _WRITE_PACK if r.form.element else ""
    return filled(text, read=read, write=write, real=STORED[r.dtype])


def _row(r: Rows) -> str:
    if r.threads > WARP:
        # A place for each stat: what an earlier one left may still be read.
        places = f"{len(r.form.stats)}][THREADS / 32" if len(r.form.stats) > 1 else "THREADS / 32"
        shared = f"    __shared__ {SUMMED[r.dtype]} parts[{places}];\n"
        return f"{shared}    const int row = blockIdx.x;"
    if r.rows == 1:
        return "    const int row = blockIdx.x;"
    return (
        f"    const int row = blockIdx.x * {r.rows} + threadIdx.x / THREADS;\n"
        "    if (row >= m) {\n        return;\n    }"
    )


def _places(r: Rows, kinds: list[tuple[str, str]]) -> str:
    names = [name for name, _ in kinds if r.form.element or name != "y"]
    return " | ".join(f"reinterpret_cast<size_t>({name})" for name in names)


_STATS = {"held": _HELD_STAT, "vectors": _VECTORS_STAT, "again": _AGAIN_STAT}
# Where a value of a given array is found, and how far its line stands in.
_STORES = {
    "held": (_HELD_STORE, "@name@_packs[h].values[e]", " " * 20),
    "vectors": (_VECTORS_STORE, "@name@_pack.values[e]", " " * 16),
    "again": (_AGAIN_STORE, "@name@[i]", " " * 8),
}


def _path(r: Rows, way: str) -> str:
    """Stats and stores of rows that threads hold, or read again as vectors or one by one."""
    found = []
    indent = " " * (4 if way == "again" else 8)
    for stat in r.form.stats:
        found.append(
            filled(
                _STATS[way],
                name=stat.name,
                kept=f"{' ' * 20}values[h][e] = term;\n" if stat.kept else "",
                none=_none(r, stat.join),
                term=_cpp(r, stat.term),
                joined=_joined(r, stat.join, stat.name, "term"),
                whole=_whole(r, stat),
                then=f"\n{indent}{stat.name} = {_cpp(r, stat.then)};" if stat.then else "",
            )
        )
    if not r.form.element:
        last = _down(r, r.form.stats[-1].name)
        stored = ["if (own == 0) {", f"    y[row] = {last};", "}"]
        return "\n".join([*found, *(indent + line for line in stored)])
    store, value, indent = _STORES[way]
    loads = "".join(
        f"{indent}const @sum@ {name}_value = {_up(r, value.replace('@name@', name))};\n"
        for name in r.form.given
    )
    packs = "".join(
        f"            const Pack {name}_pack = read_kept({name} + first);\n"
        for name in r.form.given
    )
    element = r.form.of_kept if way == "held" and r.form.of_kept else r.form.element
    found.append(filled(store, packs=packs, loads=loads, down=_down(r, _cpp(r, element))))
    return "\n".join(found)


def _whole(r: Rows, stat: Stat) -> str:
    if r.threads > WARP:
        own = f"parts[{r.form.stats.index(stat)}]" if len(r.form.stats) > 1 else "parts"
        return f"{stat.join}_of_row({stat.name}, {own})"
    return f"{stat.join}_of_warp({stat.name})"


def _cpp(r: Rows, text: str) -> str:
    return text.replace("@f@", "" if SUMMED[r.dtype] == "double" else "f")


def _joined(r: Rows, join: str, left: str, right: str) -> str:
    if join == "sum":
        return f"{left} + {right}"
    # A NaN stays, as in PyTorch.
    return f"{left} > {right} || {left} != {left} ? {left} : {right}"


def _none(r: Rows, join: str) -> str:
    if join == "sum":
        return _cpp(r, "0.0@f@")
    double = SUMMED[r.dtype] == "double"
    return "-__longlong_as_double(0x7ff0000000000000)" if double else "-__int_as_float(0x7f800000)"


def _up(r: Rows, value: str) -> str:
    return f"__half2float({value})" if r.dtype == "float16" else value


def _down(r: Rows, value: str) -> str:
    return f"__float2half({value})" if r.dtype == "float16" else value
