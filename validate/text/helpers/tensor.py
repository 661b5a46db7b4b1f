"""Helpers around PTX that a plain text may hold word for word: the host run has its own of each.

What is copied asynchronously, loaded as fragments or multiplied by tensor cores has no name in
CUDA C++ that every compiler knows. A text that needs it holds one of these functions as it stands
here; the host run leaves it out and calls `tensor.h`, which does the same step by step. Layouts of
fragments are those of the PTX ISA, sections on `mma.sync` and `ldmatrix`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

WARPGROUP_N = (64, 128, 256)
"""Columns of a product of a warpgroup for which there are helpers."""

_TO_SHARED = "const unsigned int place = static_cast<unsigned int>(__cvta_generic_to_shared(to));"
_FROM_SHARED = _TO_SHARED.replace("(to)", "(from)")


def _copy(head: str, kind: str, size: str, bytes_: str) -> str:
    operands = f'"r"(place), "l"(from), {size}"r"(inside ? {bytes_} : 0)'
    immediate, zeros = ("%2", "%3") if size else ("16", "%2")
    return f"""{head}
{{
    {_TO_SHARED}
    asm volatile("cp.async.{kind}.shared.global [%0], [%1], {immediate}, {zeros};"
                 ::{operands}
                 : "memory");
}}
"""


def _load(name: str, transposed: str, about: str) -> str:
    return f"""// {about}
__device__ __forceinline__ void {name}(unsigned int (&to)[4], const void* from)
{{
    {_FROM_SHARED}
    asm volatile("ldmatrix.sync.aligned.m8n8.x4{transposed}.shared.b16 {{%0, %1, %2, %3}}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(place)
                 : "memory");
}}
"""


def _mma(name: str, shape: str, types: str, real: str, letter: str) -> str:
    sums = ", ".join(f'"+{letter}"(sums[{i}])' for i in range(4))
    return f"""// sums += a b of a warp, {shape}: fragments as mma.sync has them.
__device__ __forceinline__ void {name}(
    {real} (&sums)[4], const unsigned int (&a)[4], unsigned int b0, unsigned int b1)
{{
    asm volatile("mma.sync.aligned.{shape}.row.col.{types} {{%0, %1, %2, %3}}, "
                 "{{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
                 : {sums}
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}}
"""


def _warpgroup(kind: str, columns: int) -> str:
    """Four products along k, 64 of it: a descriptor's address is in units of 16 bytes."""
    count = columns // 2
    sums = [f"%{i}" for i in range(count)]
    listed = ",".join(sums)
    steps = []
    for step in range(4):
        a, b = f"%{count + step}", f"%{count + 4 + step}"
        steps.append(
            f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{kind}.{kind} "
            f"{{{listed}}}, {a}, {b}, p, 1, 1, %{count + 8}, %{count + 9};"
        )
    out = ", ".join(f'"+f"(sums[{i}])' for i in range(count))
    places = ", ".join(
        [f'"l"(a + {step} * A_STEP)' for step in range(4)]
        + [f'"l"(b + {step} * B_STEP)' for step in range(4)]
    )
    text = "\n                 ".join(f'"{step}"' for step in steps)
    return f"""// sums += a b of a warpgroup, 64 x {columns} over 64 of k; ptx_wait_products waits.
template <int A_ACROSS, int B_ACROSS>
__device__ __forceinline__ void ptx_{kind}_products_{columns}(
    float (&sums)[{count}], unsigned long long a, unsigned long long b)
{{
    constexpr int A_STEP = A_ACROSS ? 128 : 2;
    constexpr int B_STEP = B_ACROSS ? 128 : 2;
    asm volatile("{{.reg .pred p; setp.eq.u32 p, 0, 0; wgmma.fence.sync.aligned;"
                 {text}
                 "wgmma.commit_group.sync.aligned;}}"
                 : {out}
                 : {places}, "n"(A_ACROSS), "n"(B_ACROSS)
                 : "memory");
}}
"""


HELPERS: Mapping[str, str] = {
    "ptx_copy_async": _copy(
        "// Starts a copy of BYTES (4 or 8) to shared memory; zeros where it is not inside.\n"
        "template <int BYTES>\n"
        "__device__ __forceinline__ void ptx_copy_async(void* to, const void* from, bool inside)",
        "ca",
        '"n"(BYTES), ',
        "BYTES",
    ),
    "ptx_copy_async_16": _copy(
        "// Starts a copy of 16 bytes to shared memory; zeros where it is not inside.\n"
        "__device__ __forceinline__ void ptx_copy_async_16("
        "void* to, const void* from, bool inside)",
        "cg",
        "",
        "16",
    ),
    "ptx_commit_copies": """// Makes a group of the copies started since the last one.
__device__ __forceinline__ void ptx_commit_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
""",
    "ptx_wait_copies": """// Waits until all groups but the latest PENDING have arrived.
template <int PENDING>
__device__ __forceinline__ void ptx_wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}
""",
    "ptx_load_matrices": _load(
        "ptx_load_matrices",
        "",
        "Four 8 x 8 matrices of 16 bits; each lane names a row of 16 bytes.",
    ),
    "ptx_load_transposed": _load("ptx_load_transposed", ".trans", "The same, each transposed."),
    "ptx_mma_f16": _mma("ptx_mma_f16", "m16n8k16", "f32.f16.f16.f32", "float", "f"),
    "ptx_mma_bf16": _mma("ptx_mma_bf16", "m16n8k16", "f32.bf16.bf16.f32", "float", "f"),
    "ptx_mma_tf32": _mma("ptx_mma_tf32", "m16n8k8", "f32.tf32.tf32.f32", "float", "f"),
    "ptx_mma_s8": _mma("ptx_mma_s8", "m16n8k32", "s32.s8.s8.s32", "int", "r"),
    "ptx_wait_copies_for_products": """// As ptx_wait_copies; products of warpgroups see what came.
template <int PENDING>
__device__ __forceinline__ void ptx_wait_copies_for_products()
{
    asm volatile("cp.async.wait_group %0; fence.proxy.async.shared::cta;"
                 ::"n"(PENDING)
                 : "memory");
}
""",
    "ptx_matrix_at": """// Names a matrix of swizzled rows of 128 bytes, one after another;
// LEADING bytes from 64 columns to the next 64.
template <int LEADING>
__device__ __forceinline__ unsigned long long ptx_matrix_at(const void* from)
{
    const unsigned int place = static_cast<unsigned int>(__cvta_generic_to_shared(from));
    return (place & 0x3ffff) >> 4 | static_cast<unsigned long long>(LEADING >> 4) << 16
        | 1ull << 62 | 64ull << 32;
}
""",
    **{
        f"ptx_{kind}_products_{columns}": _warpgroup(kind, columns)
        for kind in ("f16", "bf16")
        for columns in WARPGROUP_N
    },
    "ptx_wait_products": """// Waits until all products but the latest PENDING are in the sums.
template <int PENDING, int COUNT>
__device__ __forceinline__ void ptx_wait_products(float (&sums)[COUNT])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        asm volatile("" : "+f"(sums[i])::"memory");
    }
}
""",
}
"""The functions by name. A text that changes one keeps its `asm`, and is refused for it."""


def helper_lines(names: Iterable[str]) -> list[str]:
    """The texts of helpers, in the order given, a blank line after each."""
    return [line for name in names for line in HELPERS[name].split("\n")]


def without_helpers(text: str) -> str:
    """A text without the helpers that it holds word for word; its lines keep their numbers."""
    if "asm volatile(" not in text:
        return text
    for helper in HELPERS.values():
        text = text.replace(helper, "\n" * helper.count("\n"))
    return text
