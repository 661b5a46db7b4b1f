"""The C++ text that runs plain CUDA kernels of several rows on the CPU."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

PARTS = (
    *("types.h", "words.h", "stdint.h", "float.h", "constants.h", "math.h", "special.h"),
    *("choose.h", "rounding.h", "convert.h", "integer.h", "lanes.h", "narrow.h", "half.h"),
    *("narrow_math.h", "watch.h", "memory.h", "std.h", "atomics.h", "block.h", "groups.h"),
    "call.h",
)

# Those of them whose functions CUDA has without a header of its own, and the macros there that
# define functions: what stands behind the name that a macro is given.
_EVERYWHERE = (
    *("math.h", "special.h", "choose.h", "rounding.h", "convert.h", "integer.h", "lanes.h"),
    *("memory.h", "atomics.h"),
)
_INNER = re.compile(
    r"^namespace pairsmith \{.*?^\}  // namespace pairsmith$|^#define (?:[^\n]*\\\n)*[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
_MADE_NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("UNARY", "BINARY", "TO_WHOLE", "SCALED"), ("", "f")),
    **dict.fromkeys(("BESSEL", "BESSEL_OF_ORDER"), ("", "f")),
    **dict.fromkeys(("PAIR", "PARTED", "QUOTIENT", "BY_MODE", "HALF_LANES", "CHOICE"), ("",)),
    **dict.fromkeys(("LOAD", "STORE", "VECTOR_ADDS"), ("",)),
    **dict.fromkeys(("ATOMIC", "WHOLE_ATOMIC", "SWAP"), ("", "_block", "_system")),
    **dict.fromkeys(("LANES", "LANE_SUMS"), ("2", "4")),
    "ROUNDED": ("_rn", "_rz", "_ru", "_rd"),
    "RELU": ("_s32_relu",),
}

# As the compiler proper takes them: the driver has other spellings.
FLAGS = (
    "-fsanitize=thread",
    "-fsanitize-coverage-type=3",
    "-fsanitize-coverage-trace-pc",
)

HEADERS = frozenset(
    {
        *("cuda_fp16.h", "cuda_runtime.h", "cuda_runtime_api.h", "device_launch_parameters.h"),
        *("math.h", "cmath", "math_constants.h", "stdint.h", "cstdint", "float.h", "cfloat"),
        *("limits.h", "climits", "stddef.h", "cstddef", "vector_types.h", "vector_functions.h"),
    }
)
"""Headers whose names stand here, as far as a kernel needs them; they are not read."""

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]*)[>\"][^\n]*$", re.MULTILINE)
_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+__shared__\s+((?:__align__\s*\(\s*\d+\s*\)\s*)?[\w:]+(?:\s+[\w:]+)*)\s+(\w+)\s*"
    r"\[\s*\]\s*;"
)
_MEETS = re.compile(
    r"\b(?:__sync|__shfl|__ballot|__any_|__all_|__reduce_|__match_|__activemask)\w*"
    r"|\bcooperative_groups\b"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(
    r'\bextern\s+"C"\s+__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+'
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\("
)
# Ways out of the text: to other code, to the machine, to what stands before it.
_FORBIDDEN = re.compile(
    r"\b(?:asm|__asm|__asm__|__attribute__|__declspec|_Pragma|typeid|goto\s*\*|pairsmith\w*)\b"
    r"|\b__(?:builtin|tsan|sanitizer)_\w+|\?\?|%:|\[\["
)
_ALLOWED_BUILTINS = ("__builtin_assume", "__builtin_expect", "__builtin_unreachable")
_DIRECTIVES = ["define", "undef", "pragma", "if", "ifdef", "ifndef", "elif", "else", "endif"]
_EXTERN = re.compile(r'\bextern\b(?!\s*"C"\s*__global__)')
_DEVICE_FUNCTION = re.compile(r"__device__[^;{}()]*?\b(\w+)\s*\(")
_DYNAMIC_BYTES = 49152
_SHARED = re.compile(r"\b__shared__\s[^;(){}=]*;")
# The first bytes are `gap_start` of call.h.
_GAP = (
    'static __attribute__((used, section("{shared}"))) unsigned char pairsmith_gap[512] = {{ '
    "0xd1, 0x3c, 0x7e, 0x95, 0x2b, 0xe8, 0x46, 0xaf, "
    "0x1d, 0xc3, 0xe7, 0x59, 0xb2, 0x8e, 0x64, 0xfa }};"
)
_NOT_WATCHED = (
    "#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation, "
    'no_sanitize("coverage"))), apply_to = function)\n'
)


def kernel_names(text: str) -> list[str]:
    """Names of the kernels that a plain text defines with C linkage."""
    return _KERNEL.findall(_COMMENT.sub(" ", text))


def with_kernel_name(text: str, name: str) -> str:
    """A text without comments, its kernel under another name where it is declared or defined."""
    return _KERNEL.sub(
        lambda m: m[0][: m.start(1) - m.start()] + name + m[0][m.end(1) - m.start() :], text
    )


def meets(text: str) -> bool:
    """Whether threads of a kernel may wait for each other: then each needs a stack of its own."""
    return _MEETS.search(_COMMENT.sub(" ", text)) is not None


def fault(text: Any) -> str:
    """Why a plain text must not be compiled to code for this machine; empty when it may.

    What it may reach is itself and the headers of `validate/host/cuda`: no other code, no file.
    """
    if not isinstance(text, str) or "\0" in text:
        return "is no text"
    bare = _COMMENT.sub(" ", text)
    for name in _INCLUDE.findall(bare):
        if name not in HEADERS:
            return f"error: includes {name}: only {', '.join(sorted(HEADERS))} can be included"
    bare = _DYNAMIC_SHARED.sub(" ", _INCLUDE.sub(" ", bare)).replace("\\\n", "")
    for directive in re.findall(r"^[ \t]*#[ \t]*(\w*)", bare, re.MULTILINE):
        if directive not in _DIRECTIVES:
            return f"error: directive #{directive} cannot stand in a kernel's text"
    for match in _FORBIDDEN.finditer(bare):
        if match[0] not in _ALLOWED_BUILTINS:
            return f"error: {match[0]} cannot stand in a kernel's text"
    if _EXTERN.search(bare):
        return 'error: extern can only stand as extern "C" __global__ or extern __shared__'
    return ""


def fault_or_no_kernel(text: Any) -> str:
    """As `fault`, or that there is no kernel in a text."""
    if log := fault(text):
        return log
    return "" if kernel_names(text) else 'error: there is no extern "C" __global__ void kernel'


def batches(
    rows: Sequence[Mapping[str, Any]], positions: Sequence[int], size: int
) -> list[list[int]]:
    """Positions of rows in batches of at most `size`; texts that cannot share stand alone."""
    sharing = [p for p in positions if shares(rows[p]["cuda_plain"])]
    found = [sharing[start : start + size] for start in range(0, len(sharing), size)]
    return [*found, *([p] for p in sorted({*positions} - {*sharing}))]


def shares(text: str) -> bool:
    """Whether a text can stand among others: macros of its own would reach them."""
    bare = _INCLUDE.sub("", _COMMENT.sub(" ", text))
    return "#" not in bare.replace("#pragma unroll", "") and bare.count("{") == bare.count("}")


def translation_unit(rows: Sequence[Mapping[str, Any]]) -> str:
    """One translation unit; position i gives the C functions that `plain_entry` names."""
    parts = [_shim()]
    for position, row in enumerate(rows):
        asked = (row.get("plain_launch") or {}).get("shared_bytes") or 0
        parts.append(_section(position, row["cuda_plain"], asked))
    return "".join(parts)


def cuda_program(rows: Sequence[Mapping[str, Any]]) -> str:
    """One CUDA program for NVRTC; a row alone as it stands, several in a namespace each."""
    if len(rows) == 1:
        return f'#line 1 "cuda_plain"\n{rows[0]["cuda_plain"]}'
    texts = [row["cuda_plain"] for row in rows]
    needed = sorted({line[0].strip() for text in texts for line in _INCLUDE.finditer(text)})
    parts = ["".join(f"{line}\n" for line in needed)]
    for position, text in enumerate(texts):
        (name, *_) = kernel_names(text)
        parts.append(
            f"#define {name} {cuda_entry(rows, position)}\n"
            f"namespace pairsmith_row_{position} {{\n{_overloads(text)}"
            f'#line 1 "{position}/cuda_plain"\n{_INCLUDE.sub("", text)}\n}}\n#undef {name}\n'
        )
    return "".join(parts)


def cuda_entry(rows: Sequence[Mapping[str, Any]], position: int) -> str:
    """The name that the kernel of a row bears in `cuda_program`."""
    if len(rows) == 1:
        return kernel_names(rows[position]["cuda_plain"])[0]
    return f"pairsmith_kernel_{position}"


@lru_cache(maxsize=1)
def _shim() -> str:
    texts = "".join(f'#line 1 "{name}"\n{text}\n' for name, text in _headers().items())
    return f"{_NOT_WATCHED}{texts}#pragma clang attribute pop\n"


@lru_cache(maxsize=1)
def _headers() -> dict[str, str]:
    folder = files("validate.host") / "cuda"
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in PARTS}


@lru_cache(maxsize=1)
def _cuda_functions() -> frozenset[str]:
    """Functions that the headers define outside namespaces and that CUDA has without a header."""
    text = "".join(_headers()[name] for name in _EVERYWHERE)
    text = _INNER.sub("", text)
    made = re.findall(r"\bPAIRSMITH_(\w+)\((\w+)", text)
    names = {name + end for macro, name in made for end in _MADE_NAMES.get(macro, ())}
    own = re.findall(r"^(?:template <[^>]*> )?inline [\w: ]+[ *&](\w+)\(", text, re.MULTILINE)
    return frozenset({*names, *own, "max", "min"})


def _overloads(text: str) -> str:
    """Declarations that let a text's functions overload CUDA's, as they do outside namespaces."""
    own = set(_DEVICE_FUNCTION.findall(text)) & _cuda_functions()
    return "".join(f"using ::{name};\n" for name in sorted(own))


def _with_gaps(text: str, shared: str) -> str:
    """A text with a gap behind each variable in shared memory: what runs past its end is seen."""
    count = 0

    def widened(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        gap = _GAP.format(shared=shared).replace("_gap", f"_gap_{count}")
        return f"{match[0]} {gap}"

    return _SHARED.sub(widened, text)


def _section(position: int, text: str, dynamic_bytes: int) -> str:
    (name, *_) = kernel_names(text)
    shared = f"pairsmith_shared_{position}"
    dynamic = f"pairsmith_dynamic_{position}"
    body = _DYNAMIC_SHARED.sub(rf"\1* const \2 = reinterpret_cast<\1*>({dynamic});", text)
    body = _with_gaps(_INCLUDE.sub("", body), shared)
    kept, unasked = "", ("nullptr", "nullptr")
    if body.count(dynamic):
        kept = (
            f"alignas(16) static char {dynamic}[{_DYNAMIC_BYTES}] "
            f'__attribute__((section("{shared}")));\n'
        )
        unasked = (f"{dynamic} + {dynamic_bytes}", f"{dynamic} + {_DYNAMIC_BYTES}")
    kernel = f"pairsmith_kernel_{position}"
    return (
        f'extern "C" char __start_{shared}[] __attribute__((weak));\n'
        f'extern "C" char __stop_{shared}[] __attribute__((weak));\n'
        f"{kept}#undef __shared__\n"
        f'#define __shared__ static __attribute__((section("{shared}")))\n'
        # Without a name, what it holds is the unit's own; variables lie in the order of the text.
        f"#define {name} {kernel}\nnamespace pairsmith_row_{position} {{ namespace {{\n"
        f'{_overloads(body)}#line 1 "cuda_plain"\n{body}\n}} }}\n'
        f'#line 1 "host_calls"\n#undef {name}\n'
        f"{_NOT_WATCHED}"
        f'extern "C" void pairsmith_plain_{position}(void** values, pairsmith::launch_t* launch, '
        "pairsmith::watch_t* watch)\n{\n"
        f"    launch->shared_base = __start_{shared};\n"
        f"    launch->shared_size = __stop_{shared} - __start_{shared};\n"
        f"    pairsmith::unasked = {unasked[0]};\n    pairsmith::unasked_end = {unasked[1]};\n"
        f"    pairsmith::run_grid(pairsmith_row_{position}::{kernel}, values, launch, watch);\n}}\n"
        f'extern "C" void pairsmith_plain_signature_{position}(pairsmith::signature_t* found)\n'
        f"{{ pairsmith::describe(pairsmith_row_{position}::{kernel}, found); }}\n"
        "#pragma clang attribute pop\n"
    )
