"""Names that a kernel's text may have: CUDA's and its own, none of the machine's or a compiler's.

A name that begins with `__`, or with `_` and a capital, is CUDA's (known from the headers that the
host run has, and from the prelude), or one that the text declares itself; a question about any
other would be answered otherwise on a device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

from validate.text import plain as plain_unit
from validate.text import plain_host
from validate.text.headers import cuda_include_dir
from validate.text.prelude import HEADERS, prelude

_RESERVED = re.compile(r"__\w+|_[A-Z]\w*")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_LITERAL = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|//[^\n]*")
_FUNCTION = re.compile(r"\b(__\w+)\s*\(")
_DECLARING = (
    "cuda_fp16.h*",
    "cuda_bf16.h*",
    "crt/*functions.h*",
    "sm_*.h*",
    "device_*functions.h*",
)
_DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)

DEVICE_MACROS = frozenset({"__CUDA_ARCH__", "__CUDACC__", "__cplusplus"})
"""What a text may ask about its compiler: the same on the host and on a device."""

_CUDA = DEVICE_MACROS | {
    "__VA_ARGS__",
    *("__global__", "__device__", "__host__", "__constant__", "__shared__", "__managed__"),
    *("__restrict__", "__restrict", "__forceinline__", "__noinline__", "__inline__", "__inline"),
    *("__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__grid_constant__", "__align__"),
    *("__half", "__half2", "__nv_bfloat16", "__nv_bfloat162", "__volatile__", "__attribute__"),
    *("__builtin_assume", "__builtin_expect", "__builtin_unreachable", "__builtin_popcount"),
    *("__builtin_popcountll", "__builtin_clz", "__builtin_clzll", "__builtin_ctz"),
    *("__builtin_assume_aligned", "__builtin_ctzll", "__builtin_nanf", "__builtin_inff"),
}
# Of compilers and machines: never a text's own, in whatever way it declares them.
_FOREIGN = re.compile(
    r"__(?:builtin|has_|tsan|sanitizer|asan|msan|ubsan|start|stop|cxa|gxx|GXX|GCC|GNUC|gnu|cpp"
    r"|clang|llvm|linux|unix|amd64|x86|i[3-6]86|k8|code_model|seg_|NO_|STDC|ARM|AARCH|arm|aarch"
    r"|EXCEPTIONS|DEPRECATED|RTTI|private_|SSE|AVX|MMX|tune|OPTIMIZE|CUDACC_|NVCC|NVCOMPILER"
    r"|float128|int128|fp16|bf16|typeof|auto_type|declspec|asm|func|extension|real|imag"
    r"|va_|thread_|nv_tex|sync_|atomic_|c11_|opencl|hip|HIP|CUDA_ARCH|CUDADEVRT|wp_|apple|APPLE)\w*"
    r"|__thread|_(?:Pragma|Float16|Float\d+|Complex|Imaginary|Atomic|Generic|Thread_local"
    r"|Static_assert"
    r"|Noreturn|Nonnull|Nullable|ExtInt|BitInt|Accum|Fract|Sat|Alignof|Alignas|Bool)"
    r"|_(?:GNU_SOURCE|LP64|WIN32|WIN64|MSC_VER|MSC_FULL_VER|REENTRANT|OPENMP|STDC\w*|GLIBC\w*|M_\w+)"
)
_GUARD = re.compile(r"_+[A-Za-z0-9_]*_(?:H|HPP|CUH|CU|INCLUDED)_*")
_CUDA_VALUE = re.compile(
    r"(?:M|FLT|DBL|LDBL|INT\d*|UINT\d*|LONG|ULONG|LLONG|ULLONG|SHRT|USHRT|CHAR|SCHAR|UCHAR|SIZE"
    r"|CUDART|HUGE|PTRDIFF)_\w+|INFINITY|NAN|NULL|EOF"
)
REFUSED: dict[str, str] = {
    **dict.fromkeys(("asm", "__asm", "__asm__"), "assembly"),
    **dict.fromkeys(("malloc", "free", "calloc", "realloc", "alloca"), "memory from the system"),
    **dict.fromkeys(("new", "delete"), "memory from the system"),
    **dict.fromkeys(("getcontext", "setcontext", "swapcontext", "makecontext"), "another context"),
    **dict.fromkeys(("linux", "unix", "i386"), "a question about the machine"),
    **dict.fromkeys(("typeid", "dynamic_cast", "throw", "try", "catch"), "what no kernel has"),
    **dict.fromkeys(("thread_local", "co_await", "co_yield", "co_return"), "what no kernel has"),
    **dict.fromkeys(("typeof", "__typeof__", "__int128", "concept"), "what is no CUDA C++17"),
}
_JUMP = re.compile(r"_*(?:sig|long|siglong|set|sigset)?_*(?:set|long)?jmp")


def is_reserved(name: str) -> bool:
    """Whether a name is the implementation's by the rules of C++."""
    return _RESERVED.fullmatch(name) is not None


def why_refused(name: str) -> str:
    """Why no text may have a word; empty when it may, as far as the word itself goes."""
    if name in REFUSED:
        return f"{name} ({REFUSED[name]})"
    if name.endswith("jmp") and _JUMP.fullmatch(name):
        return f"{name} (a jump out of the kernel)"
    if is_reserved(name) and name not in cuda_names() and _FOREIGN.fullmatch(name):
        return f"{name} (a name of the compiler's or the machine's)"
    return ""


def may_be_own(name: str) -> bool:
    """Whether a text may declare a reserved name: `__warp_sum`, and no `__LINE__`."""
    return _FOREIGN.fullmatch(name) is None and not name.endswith("__")


def why_not_asked(name: str, own: frozenset[str]) -> str:
    """Why `#if` may not ask for a name, of macros of the text's `own`; empty when it may."""
    if problem := why_refused(name):
        return problem
    known = name in DEVICE_MACROS or _GUARD.fullmatch(name) is not None
    if known or (name in own and may_be_own(name)):
        return ""
    if is_reserved(name) or (name in _host_macros() and not _CUDA_VALUE.fullmatch(name)):
        return f"a question about {name}"
    return ""


def why_not_defined(name: str) -> str:
    """Why a macro may not have a name; empty when it may."""
    strange = is_reserved(name) and not may_be_own(name) and not _GUARD.fullmatch(name)
    if strange or name in cuda_names() or name in reserved_words() or why_refused(name):
        return f"#define {name}"
    return ""


@lru_cache(maxsize=1)
def _host_text() -> str:
    folder = files("validate.host") / "cuda"
    texts = [part.read_text("utf-8") for part in folder.iterdir() if part.name.endswith(".h")]
    return _LITERAL.sub(" ", "\n".join(texts))


@lru_cache(maxsize=1)
def _host_macros() -> frozenset[str]:
    return frozenset(_DEFINED.findall(_host_text()))


def _declared() -> Iterator[str]:
    """Names of functions in CUDA's own headers: many are made by macros in ours."""
    folder = cuda_include_dir()
    for pattern in _DECLARING:
        for path in sorted(folder.glob(pattern)):
            yield from _FUNCTION.findall(path.read_text("utf-8", "replace"))


@lru_cache(maxsize=1)
def cuda_names() -> frozenset[str]:
    """Reserved names that are CUDA's."""
    words = {*_WORD.findall(_host_text()), *_WORD.findall(prelude(HEADERS))}
    words |= {*_declared(), *plain_unit.cuda_functions()}
    inside = {word for word in words if is_reserved(word) and not _FOREIGN.fullmatch(word)}
    return frozenset({word for word in inside if not word.endswith("__")} | _CUDA)


@lru_cache(maxsize=1)
def reserved_words() -> frozenset[str]:
    """Names that macros must not change: those that the judge's own text uses after a kernel's."""
    row = {"cuda_plain": 'extern "C" __global__ void kernel() {}', "kernels": ["kernel"]}
    _, _, after = plain_host.translation_unit([row]).partition('#line 1 "cuda_plain"')
    words = _WORD.findall(_LITERAL.sub("", after))
    inside = re.findall(r"\bpairsmith::(\w+(?:\.\w+)?)", plain_host.header_text())
    inside = [word for name in inside for word in name.split(".")]
    builtin = ("threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize")
    return frozenset({*words, *inside, *builtin} - {"kernel"})
