"""Plain CUDA texts of rows: their kernels, what they may hold, and the program of several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from validate.text.helpers.tensor import without_helpers
from validate.text.launches import listed

PARTS = (
    *(
        "types.h",
        "vectors.h",
        "words.h",
        "place.h",
        "stdint.h",
        "float.h",
        "constants.h",
        "math.h",
        "special.h",
    ),
    *("choose.h", "rounding.h", "convert.h", "integer.h", "lanes.h", "narrow.h", "half.h"),
    *("narrow_math.h", "memory.h", "std.h", "atomics.h", "block.h", "tensor.h", "groups.h"),
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

HEADERS = frozenset(
    {
        *(
            "cuda_fp16.h",
            "cuda_bf16.h",
            "cuda_runtime.h",
            "cuda_runtime_api.h",
            "device_launch_parameters.h",
        ),
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
    r"\b(?:__sync|__shfl|__ballot|__any_|__all_|__reduce_|__match_|__activemask|cooperative_groups)\w*"
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


def kernel_names(text: str) -> list[str]:
    """Names of the kernels that a plain text defines with C linkage."""
    return _KERNEL.findall(_COMMENT.sub(" ", text))


def launched(row: Mapping[str, Any]) -> list[str]:
    """The kernels of a row in C++, each once, in the order in which they are launched.

    `kernels` of a row names them where its launches do not. A launch that names none is of the
    first in the text.
    """
    first = kernel_names(row["cuda_plain"])[:1]
    said = row.get("kernels") or [one.get("kernel") for one in listed(row["plain_launch"])]
    return list(dict.fromkeys(name or first[0] for name in said))


def meets(text: str) -> bool:
    """Whether threads of a kernel may wait for each other: then each needs a stack of its own."""
    return _MEETS.search(_COMMENT.sub(" ", text)) is not None


def fault(text: Any) -> str:
    """Why a plain text must not be compiled to code for this machine; empty when it may.

    What it may reach is itself and the headers of `validate/host/cuda`: no other code, no file.
    """
    if not isinstance(text, str) or "\0" in text:
        return "is no text"
    bare = _COMMENT.sub(" ", without_helpers(text))
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


def cuda_program(rows: Sequence[Mapping[str, Any]]) -> str:
    """One CUDA program for NVRTC; a row alone as it stands, several in a namespace each."""
    if len(rows) == 1:
        return f'#line 1 "cuda_plain"\n{rows[0]["cuda_plain"]}'
    texts = [row["cuda_plain"] for row in rows]
    needed = sorted({line[0].strip() for text in texts for line in _INCLUDE.finditer(text)})
    parts = ["".join(f"{line}\n" for line in needed)]
    for position, text in enumerate(texts):
        names = kernel_names(text)
        entries = zip(names, cuda_entries(rows, position), strict=True)
        defined = "".join(f"#define {name} {entry}\n" for name, entry in entries)
        parts.append(
            f"{defined}namespace pairsmith_row_{position} {{\n{overloads(text)}"
            f'#line 1 "{position}/cuda_plain"\n{_INCLUDE.sub("", text)}\n}}\n'
        )
        parts += [f"#undef {name}\n" for name in names]
    return "".join(parts)


def cuda_entries(rows: Sequence[Mapping[str, Any]], position: int) -> list[str]:
    """The names that the kernels of a row bear in `cuda_program`."""
    names = kernel_names(rows[position]["cuda_plain"])
    if len(rows) == 1:
        return names
    return [f"pairsmith_kernel_{position}_{number}" for number in range(len(names))]


@lru_cache(maxsize=1)
def _headers() -> dict[str, str]:
    folder = files("validate.host") / "cuda"
    return {name: folder.joinpath(name).read_text(encoding="utf-8") for name in PARTS}


@lru_cache(maxsize=1)
def cuda_functions() -> frozenset[str]:
    """Functions that the headers define outside namespaces and that CUDA has without a header."""
    text = "".join(_headers()[name] for name in _EVERYWHERE)
    text = _INNER.sub("", text)
    made = re.findall(r"\bPAIRSMITH_(\w+)\((\w+)", text)
    names = {name + end for macro, name in made for end in _MADE_NAMES.get(macro, ())}
    own = re.findall(r"^(?:template <[^>]*> )?inline [\w: ]+[ *&](\w+)\(", text, re.MULTILINE)
    return frozenset({*names, *own, "max", "min"})


def overloads(text: str) -> str:
    """Declarations that let a text's functions overload CUDA's, as they do outside namespaces."""
    own = set(_DEVICE_FUNCTION.findall(text)) & cuda_functions()
    return "".join(f"using ::{name};\n" for name in sorted(own))
