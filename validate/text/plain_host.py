"""The C++ texts that run plain CUDA on the CPU: the headers that come before it, the runtime that
it is linked to, and the translation unit of one kernel or several."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

from validate.row.archs import MOST_SHARED_BYTES, most_shared_bytes
from validate.text import plain as plain_unit
from validate.text.helpers.tensor import without_helpers
from validate.text.launches import listed

RUNTIME_PARTS = (
    *("watch.h", "fences.h", "branches.h", "fibers.h", "copies.h"),
    *("products.h", "blocks.h", "sanitizers.h"),
)
_RUNTIME_NEEDS = ("types.h", "vectors.h", "place.h")

# Where C++ leaves open what happens, a device and this machine may do different things.
_UNDEFINED = (
    *("array-bounds", "shift-exponent", "float-cast-overflow"),
    *("integer-divide-by-zero", "return", "unreachable"),
)
# As the compiler proper takes them: the driver has other spellings.
FLAGS = (
    f"-fsanitize=thread,{','.join(_UNDEFINED)}",
    "-fsanitize-minimal-runtime",
    "-mllvm=-tsan-distinguish-volatile=1",
    "-fsanitize-coverage-type=3",
    "-fsanitize-coverage-trace-pc",
    "-fsanitize-coverage-trace-cmp",
    "-ftrivial-auto-var-init=pattern",
    # As a device has it.
    "-mlong-double-64",
    # Variables that nobody writes lie where others do.
    "-fkeep-persistent-storage-variables",
    # Else every text would make them anew.
    "-fpch-instantiate-templates",
    # A text asks for its compiler in vain: it sees what a device's compiler defines.
    "-undef",
    "-D__CUDACC__=1",
    "-D__CUDA_ARCH__=900",
    "-D__NVCC__=1",
)


SECTIONS = ("shared", "bss", "data", "rodata")
"""Where a kernel's variables lie, by `section_name`: shared memory first."""

_DYNAMIC_SHARED = re.compile(
    r"\bextern\s+((?:volatile\s+)?)__shared__\s+((?:__align__\s*\(\s*\d+\s*\)\s*)?[\w:]+(?:\s+[\w:]+)*)"
    r"\s+(\w+)\s*\[\s*\]\s*;"
)
_DYNAMIC_ALIGNMENT = re.compile(r"\bextern\s+__shared__\s+__align__\s*\(\s*(\d{1,4})\s*\)")
_LEAST_ALIGNMENT = 16
_ALIGNED_STRUCT = re.compile(
    r"(\bstruct\s+(?:__align__|alignas)\s*\(\s*(2|4|8|16|32)\s*\)\s*\w+\s*\{[^{}():=]*;)\s*\}"
)
_C_LINKAGE = re.compile(r'\bextern\s+"C"\s+(?=__global__)')
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*$", re.MULTILINE)
_NOT_WATCHED = (
    "#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation, "
    'no_sanitize("coverage", "undefined"))), apply_to = function)\n'
)
_ALLOCATION = "\n".join(
    (
        "typedef decltype(sizeof 0) size_t;",
        'extern "C" void* malloc(size_t);',
        'extern "C" void* calloc(size_t, size_t);',
        'extern "C" void* realloc(void*, size_t);',
        'extern "C" void free(void*);',
        'extern "C" void* memset(void*, int, size_t);\n',
    )
)
_OF_VARIABLES = re.compile(r"\b__(?:shared|device|constant)__\b")
# Characters: what is longer goes without a gap, so that no text is read over and over.
_LONGEST_DECLARATION = 8192
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def section_name(section: str, position: int) -> str:
    """The section of an object in which such variables of a kernel lie."""
    return f"pairsmith_{section}_{position}"


@lru_cache(maxsize=1)
def header_text() -> str:
    """All that stands before kernels; it is precompiled."""
    texts = "".join(_part(name) for name in plain_unit.PARTS)
    return f"{_NOT_WATCHED}{texts}#pragma clang attribute pop\n"


def runtime_text() -> str:
    """What kernels are linked to: threads, the watch over memory, what sanitizers call."""
    needed = "".join(_part(name) for name in _RUNTIME_NEEDS)
    parts = "".join(_part(f"runtime/{name}") for name in RUNTIME_PARTS)
    return f"#define PAIRSMITH_RUNTIME\n{needed}{_ALLOCATION}{parts}"


def _part(name: str) -> str:
    path = files("validate.host") / "cuda" / name
    return f'#line 1 "{name}"\n{path.read_text(encoding="utf-8")}\n'


def translation_unit(rows: Sequence[Mapping[str, Any]]) -> str:
    """One translation unit, without the headers; position i gives the C functions that
    `plain_launch.load_plain` looks for.

    Of a row `cuda_plain` is read, and `kernels` or else `plain_launch`: see `plain.launched`.
    """
    return "".join(_section(position, row) for position, row in enumerate(rows))


def _section(position: int, row: Mapping[str, Any]) -> str:
    text = without_helpers(row["cuda_plain"])
    alignment = max([_LEAST_ALIGNMENT, *map(int, _DYNAMIC_ALIGNMENT.findall(text))])
    shared = section_name("shared", position)
    dynamic = f"pairsmith_dynamic_{position}"
    body = _DYNAMIC_SHARED.sub(rf"\1\2* const \3 = reinterpret_cast<\1\2*>({dynamic});", text)
    body = _with_gaps(_INCLUDE.sub("", _C_LINKAGE.sub("", _placed(body))), shared)
    kept, of_dynamic = "", ", nullptr, 0"
    if dynamic in body:
        place = f'__attribute__((section("{shared}")))'
        most = _most_shared(row)
        first = _gap(place).replace("@", "first")
        kept = f"{first} alignas({alignment}) static char {dynamic}[{most}] {place};\n"
        of_dynamic = f", {dynamic}, {most}"
    own, ranges = f"pairsmith_row_{position}", _ranges(position)
    kernels = list(enumerate(plain_unit.launched(row)))
    pointers = "".join(f"const auto pairsmith_entry_{k} = &{name};\n" for k, name in kernels)
    places = f"pairsmith_places_{position}"
    entries = "".join(
        _entry(position, k, f"{own}::pairsmith_entry_{k}", places) for k, _ in kernels
    )
    return (
        f"{ranges[0]}{kept}#undef __shared__\n"
        f'#define __shared__ static __attribute__((section("{shared}"), aligned(16)))\n'
        f"{_sections_are(position)}"
        # Without a name, what it holds is the unit's own; variables lie in the order of the text.
        f"namespace {own} {{ namespace {{\n{_LEADING_GAPS}"
        f'{plain_unit.overloads(body)}#line 1 "cuda_plain"\n{body}\n#line 1 "host_calls"\n'
        f'#pragma clang section bss="" data="" rodata=""\n'
        f"{pointers}}} }}\n"
        f"static const pairsmith::places_t {places} = {{ {ranges[1]}{of_dynamic} }};\n"
        f"{_NOT_WATCHED}{entries}#pragma clang attribute pop\n"
    )


def _most_shared(row: Mapping[str, Any]) -> int:
    launches = listed(row.get("plain_launch") or ())
    return max([MOST_SHARED_BYTES, *(most_shared_bytes(one.get("opt_in")) for one in launches)])


def _entry(position: int, number: int, kernel: str, places: str) -> str:
    """The C names of one kernel of a row, of a pointer to it: its launch, and what it takes."""
    name = f"{position}_{number}"
    return (
        f'extern "C" void pairsmith_plain_{name}(void** values, pairsmith::launch_t* launch, '
        f"pairsmith::watch_t* watch)\n{{\n"
        f"    pairsmith::run_grid(pairsmith::caller_of({kernel}), "
        f"reinterpret_cast<void (*)()>({kernel}), {places}, values, launch, watch);\n}}\n"
        f'extern "C" extern const auto pairsmith_plain_signature_{name} = '
        f"pairsmith::signature_of({kernel});\n"
    )


def _ranges(position: int) -> tuple[str, str]:
    """Declarations of where the sections start and end, and what has them in order."""
    names = [section_name(section, position) for section in SECTIONS]
    declared = "".join(
        f'extern "C" char __{end}_{name}[] __attribute__((weak));\n'
        for name in names
        for end in ("start", "stop")
    )
    first, *others = [f"{{ __start_{name}, __stop_{name} }}" for name in names]
    return declared, f"{first}, {{ {', '.join(others)} }}"


def _sections_are(position: int) -> str:
    kinds = " ".join(f'{s}="{section_name(s, position)}"' for s in SECTIONS[1:])
    return f"#pragma clang section {kinds}\n"


def _gap(attribute: str = "", value: str = "") -> str:
    """A variable between others, so that what runs past the end of one is seen.

    Its name is found in the object: `plain_link` tells gaps from variables by it.
    """
    used = attribute or "__attribute__((used))"
    extra = " __attribute__((used))" if attribute else ""
    return f"static {used}{extra} unsigned char pairsmith_gap_@[512]{value};"


_LEADING_GAPS = (
    f"{_gap().replace('@', 'first')} {_gap(value=' = { 1 }').replace('@', 'first_data')}\n"
)


def _placed(text: str) -> str:
    """A text whose aligned structs of plain members notice a copy at an address that is no
    multiple of their alignment, as CUDA's own vectors do: a compiler may split such a copy."""
    if "union" in text:
        # A member of a union must be copied as bytes are.
        return text
    return _ALIGNED_STRUCT.sub(r"\1 PAIRSMITH_PLACED(\2) }", text)


def _with_gaps(text: str, shared: str) -> str:
    """A text with a gap behind each variable in shared or device memory."""
    parts, start, count = [], 0, 0
    shared_gap = _gap(f'__attribute__((section("{shared}")))')
    variable_gaps = f"{_gap()} {_gap(value=' = { 1 }')}"
    for word, end in _declared(text):
        if end < start:
            continue
        gap = shared_gap if word == "__shared__" else variable_gaps
        count += 1
        first = gap.replace("@", f"{count}", 1).replace("@", f"{count}_data", 1)
        parts += [text[start:end], " ", first]
        start = end
    return "".join([*parts, text[start:]])


def _declared(text: str) -> Iterator[tuple[str, int]]:
    """Of each declaration of a variable in such memory, its word and where it ends."""
    directives = [m.span() for m in re.finditer(r"^[ \t]*#[^\n]*", text, re.MULTILINE)]
    number = 0
    for match in _OF_VARIABLES.finditer(text):
        while number < len(directives) and directives[number][1] <= match.start():
            number += 1
        if number < len(directives) and directives[number][0] <= match.start():
            continue
        end = _end_of_variable(text, match.end(), match[0] == "__shared__")
        if end:
            yield match[0], end


def _end_of_variable(text: str, start: int, always: bool) -> int:
    """Where a declaration ends, past its semicolon; 0 for a function's."""
    depth, assigned = 0, always
    for at in range(start, min(len(text), start + _LONGEST_DECLARATION)):
        letter = text[at]
        if letter == ";" and depth == 0:
            return at + 1
        if letter in "({" and depth == 0 and not assigned and not _aligns(text, at):
            return 0
        if letter == "=" and depth == 0:
            assigned = True
        depth += _BRACKETS.get(letter, 0)
        if depth < 0:
            return 0
    return 0


def _aligns(text: str, at: int) -> bool:
    """Whether a parenthesis belongs to an alignment."""
    return text[:at].rstrip().endswith(("__align__", "alignas"))
