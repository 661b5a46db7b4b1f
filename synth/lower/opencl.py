"""The text of a lowered op in C++ for OpenCL: CUDA's words by a table, the rest by four rules.

A kernel's arrays are `__global` and its own pointers to them generic; shared memory is `__local`;
shared memory of a launch is an array of as many bytes; `__align__` goes where Clang takes it. What
is asynchronous in CUDA is done at once, and who shuffles asks for sub-groups of 32.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from synth.errors import SettingsError
from synth.lower.check import AnySpec, Check, Shape, atol_at, row_of
from synth.lower.op import Lowered
from synth.lower.text import lower
from validate.opencl.runner import OpenclRunner
from validate.text.helpers.tensor import without_helpers
from validate.text.launches import listed

OPTIONS = ("-cl-std=CLC++2021", "-cl-fp32-correctly-rounded-divide-sqrt")
"""What a runtime's compiler is asked for; one that has no C++ for OpenCL refuses it."""

_INDEX = "(Index3 {{ int({0}(0)), int({0}(1)), int({0}(2)) }})"
WORDS = {
    "threadIdx": _INDEX.format("get_local_id"),
    "blockIdx": _INDEX.format("get_group_id"),
    "gridDim": _INDEX.format("get_num_groups"),
    "__syncthreads()": "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)",
    "__align__(n)": "__attribute__((aligned(n)))",
    "make_float2(a, b)": "((float2)(a, b))",
    "make_float4(a, b, c, d)": "((float4)(a, b, c, d))",
    "make_double2(a, b)": "((double2)(a, b))",
    "make_int4(a, b, c, d)": "((int4)(a, b, c, d))",
    "fmaxf": "fmax",
    "expf": "exp",
    "exp2f": "exp2",
    "sqrtf": "sqrt",
    "erff": "erf",
    "__half2float(v)": "((float)(v))",
    "__float2half(v)": "((half)(v))",
    "__int_as_float(v)": "as_float((int)(v))",
    "__longlong_as_double(v)": "as_double((long)(v))",
    "__ldcs(from)": "(*(from))",
    "__stcs(to, v)": "(*(to) = (v))",
    "__shfl_xor_sync(all, v, step)": "sub_group_shuffle_xor(v, (uint)(step))",
    "__shfl_sync(all, v, lane)": "sub_group_shuffle(v, (uint)(lane))",
    "__shfl_up_sync(all, v, step)": (
        "sub_group_shuffle(v, (uint)max((int)get_sub_group_local_id() - (step), 0))"
    ),
}
"""What a text says, with the parameters of what takes some, and what it is here."""

_FUNCTIONS = {
    "atomicAdd": """int atomicAdd(int* to, int v)
{
    return __opencl_atomic_fetch_add((volatile atomic_int*)to, v, memory_order_relaxed,
                                     memory_scope_device);
}
""",
    "ptx_copy_async": """template <int BYTES>
void ptx_copy_async(void* to, const void* from, bool inside)
{
    for (int i = 0; i < BYTES / 4; ++i) {
        ((int*)to)[i] = inside ? ((const int*)from)[i] : 0;
    }
}
""",
    "ptx_copy_async_16": """void ptx_copy_async_16(void* to, const void* from, bool inside)
{
    for (int i = 0; i < 4; ++i) {
        ((int*)to)[i] = inside ? ((const int*)from)[i] : 0;
    }
}
""",
    "ptx_commit_copies": "void ptx_commit_copies() {}\n",
    "ptx_wait_copies": "template <int PENDING> void ptx_wait_copies() {}\n",
}
_KERNEL = re.compile(
    r'extern "C" __global__ void __launch_bounds__\([^)]*\) (\w+)\(\s*([^)]*)\)\s*\{'
)
_ARRAY = re.compile(r"((?:const )?(?:unsigned )?\w+)\* __restrict__ (\w+)")
_DYNAMIC = re.compile(r"extern __shared__ __align__\(\d+\) (\w+) (\w+)\[\];")
_LEFT = re.compile(r"\b(?:ptx_\w+|__(?:shfl|ldg|match|ballot|float2bfloat16|nv_bfloat16)\w*)\b")


def lower_opencl(spec: AnySpec) -> Lowered:
    """C++ for OpenCL of a spec; kernels, arguments and launches are those of CUDA.

    Raises SettingsError for one that has no form there: of tensor cores, or of bfloat16.
    """
    made = lower(spec)
    every = [arg["name"] if arg["size"] is None else f"={arg['size']}" for arg in made.args]
    launches = [
        {**one, "kernel": one.get("kernel", made.kernel_name), "args": one.get("args", every)}
        for one in listed(made.launch)
    ]
    return replace(made, text=_text(made), launch=launches)


def run_opencl(spec: AnySpec, made: Lowered, shapes: Sequence[Shape]) -> tuple[str, list[Check]]:
    """What ran a text of `lower_opencl`, and what came of it at each shape.

    Raises OpenclUnavailable where there is no runtime.
    """
    found = []
    with OpenclRunner() as runner:
        runtime = runner.start()
        for shape in shapes:
            row = {**row_of(spec, made, shape), "edge_inputs": [], "options": list(OPTIONS)}
            result = runner.run({"plain_scratch": [], **row})
            sizes = dict(zip(spec.sizes, shape, strict=True))
            share, atol = result.tolerance_used, atol_at(spec, shape)
            found.append(Check(sizes, result.status, result.reason, atol, share))
    return runtime, found


def _text(made: Lowered) -> str:
    body = without_helpers(made.text)
    known = {name: text for name, text in _FUNCTIONS.items() if re.search(rf"\b{name}\b", body)}
    missing = sorted(
        {word for word in _LEFT.findall(body) if word not in known and not _has_word(word)}
    )
    if missing:
        line = f"--target opencl: nothing there is {missing[0]}; take a schedule of core simt"
        raise SettingsError(line)
    bytes_ = max([int(launch["shared_bytes"]) for launch in listed(made.launch)])
    body = re.sub(r"#include[^\n]*\n", "", body)
    body = body.replace("__device__ __forceinline__ ", "").replace("__device__ ", "")
    body = _DYNAMIC.sub(lambda found: _shared(found, bytes_), body)
    body = body.replace("__shared__ ", "__local ")
    body = _KERNEL.sub(lambda found: _kernel(found, "__shfl" in made.text), body)
    return "\n".join([*_prelude(body), *known.values(), body])


def _has_word(word: str) -> bool:
    return any(re.match(rf"{word}\b", said) for said in WORDS)


def _prelude(body: str) -> list[str]:
    lines = ["#pragma OPENCL EXTENSION cl_khr_fp64 : enable"]
    if "half" in body:
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp16 : enable")
        lines += ["#ifndef __half", "#define __half half", "#endif"]
    lines.append("struct Index3 { int x, y, z; };")
    for said, meant in WORDS.items():
        if re.search(rf"(?<!\w){re.escape(said.partition('(')[0])}\b", body):
            lines.append(f"#define {said} {meant}")
    return [*lines, ""]


def _shared(found: re.Match[str], bytes_: int) -> str:
    kind, name = found.groups()
    return (
        f"__local __align__(16) char {name}_bytes[{bytes_}];\n"
        f"    {kind}* const {name} = ({kind}*){name}_bytes;"
    )


def _kernel(found: re.Match[str], shuffles: bool) -> str:
    name, parameters = found.groups()
    arrays = _ARRAY.findall(parameters)
    own = "".join(f"\n    {kind}* {array} = {array}_given;" for kind, array in arrays)
    asked = "__attribute__((intel_reqd_sub_group_size(32))) " if shuffles else ""
    given = _ARRAY.sub(r"__global \1* \2_given", parameters)
    return f"__kernel {asked}void {name}({given})\n{{{own}"
