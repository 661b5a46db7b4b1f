"""The tables: CUDA C++, HIP and OpenCL C."""

from __future__ import annotations

from dataclasses import replace

from synth.render.cuda.dialect.opencl_names import BUILTINS, RESERVED
from synth.render.cuda.dialect.table import Dialect

_CUDA_VECTORS = {
    **{"int8": "char", "int16": "short", "int32": "int", "int64": "longlong"},
    **{"uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulonglong"},
    **{"float32": "float", "float64": "double"},
}
_OPENCL_VECTORS = {**_CUDA_VECTORS, "int64": "long", "uint64": "ulong"}

_CPP_WORDS = frozenset(
    {
        *("alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char"),
        *("class", "const", "constexpr", "continue", "default", "delete", "do", "double", "else"),
        *("enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if"),
        *("inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "operator"),
        *("or", "private", "protected", "public", "register", "return", "short", "signed"),
        *("sizeof", "static", "struct", "switch", "template", "this", "throw", "true", "try"),
        *("typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile"),
        *("while", "xor", "index", "stride", "dim3", "half"),
    }
)
"""Names that C++, or the text around a kernel's body, has for itself."""

CUDA = Dialect(
    name="cuda",
    title="CUDA",
    scalars={
        **{"bool": "bool", "int8": "signed char", "int16": "short", "int32": "int"},
        **{"int64": "long long", "uint8": "unsigned char", "uint16": "unsigned short"},
        **{"uint32": "unsigned int", "uint64": "unsigned long long", "float16": "__half"},
        **{"float32": "float", "float64": "double"},
    },
    vectors=_CUDA_VECTORS,
    stored={},
    suffixes={"uint32": "u", "int64": "ll", "uint64": "ull"},
    functions={},
    reserved=_CPP_WORDS,
    builtins=frozenset(),
    float_suffix="f",
    infinity={
        "float32": "__int_as_float(0x7f800000)",
        "float64": "__longlong_as_double(0x7ff0000000000000ll)",
    },
    kernel='extern "C" __global__ void ',
    launch_bounds="__launch_bounds__({threads}) ",
    function="__device__ __forceinline__ ",
    plain_function="__device__ ",
    global_="",
    local="",
    shared="__shared__ ",
    restrict="__restrict__",
    struct=("struct {align}{name} {{", "}};"),
    construct=("{type}{{", "make_{type}("),
    zeros="{}",
    thread="threadIdx.{letter}",
    block="blockIdx.{letter}",
    block_size="blockDim.{letter}",
    place="blockIdx.{letter} * blockDim.{letter} + threadIdx.{letter}",
    all_threads="blockDim.{letter} * gridDim.{letter}",
    barrier="__syncthreads();",
    head=(),
    half_head=("#include <cuda_fp16.h>", ""),
    overloads=True,
    unsigned_abs=False,
    shuffles=True,
)

HIP = replace(
    CUDA,
    name="hip",
    title="HIP",
    head=("#include <hip/hip_runtime.h>", ""),
    half_head=("#include <hip/hip_fp16.h>", ""),
    # Wavefronts have 64 lanes on some of its devices: what counts on 32 has no form.
    shuffles=False,
)

OPENCL = Dialect(
    name="opencl",
    title="OpenCL C",
    scalars={
        **{"bool": "bool", "int8": "char", "int16": "short", "int32": "int", "int64": "long"},
        **{"uint8": "uchar", "uint16": "ushort", "uint32": "uint", "uint64": "ulong"},
        **{"float16": "ushort", "float32": "float", "float64": "double"},
    },
    vectors=_OPENCL_VECTORS,
    # A bool has no fixed size there, and a kernel takes none.
    stored={"bool": "uchar"},
    suffixes={"uint32": "u", "int64": "l", "uint64": "ul"},
    functions={
        **{"__saturatef": "clamp", "__popc": "popcount", "__popcll": "popcount"},
        **{"erfinv": None, "erfcinv": None, "llabs": "abs"},
        **{"__float_as_int": "as_int", "__float_as_uint": "as_uint"},
        **{"__double_as_longlong": "as_long"},
    },
    reserved=(_CPP_WORDS - {"index", "stride"}) | RESERVED | {"index", "stride"},
    builtins=BUILTINS,
    float_suffix="",
    infinity={"float32": "INFINITY", "float64": "(double)INFINITY"},
    kernel="__kernel void ",
    launch_bounds="__attribute__((reqd_work_group_size({x}, {y}, {z}))) ",
    function="",
    plain_function="",
    global_="__global ",
    local="__local ",
    shared="__local ",
    restrict="restrict",
    struct=("typedef struct {{", "}} {name};"),
    construct=("({type}){{", "({type})("),
    zeros="{0}",
    thread="get_local_id({number})",
    block="get_group_id({number})",
    block_size="get_local_size({number})",
    place="get_global_id({number})",
    all_threads="get_global_size({number})",
    barrier="barrier(CLK_LOCAL_MEM_FENCE);",
    head=(),
    half_head=(),
    overloads=False,
    unsigned_abs=True,
    shuffles=False,
)

DIALECTS = {dialect.name: dialect for dialect in (CUDA, OPENCL, HIP)}
"""By the name that the command line has for each."""
