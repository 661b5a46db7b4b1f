"""Calls of Warp's functions in the texts of rows, each kind compiled once and not once a row.

What a compiler spends on Warp's text goes into its calls: which of many overloads is meant, what
the templates behind it come to, the code of all that. Rows call the same functions with the same
types, so here a statement such as `var_3 = wp::add(var_1, var_2);` becomes a call, by address, of a
function that does just this for variables of these types. Nothing is guessed: only statements
whose every word is a variable declared once in its function, with a type of Warp's own, are
rewritten, and addresses of variables convert to no other type, so that a compiler refuses what
would mean something else. All other text stands as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from validate.text.warp_program import stays_inside

_TYPE = r"(?:const )?(?:wp::[\w:<>, ]+|bool|float|int|double)\*?"
_DECLARED = re.compile(rf"^ +({_TYPE}) (\w+)(?: = [^\n;]*)?;$", re.MULTILINE)
_PARAMETER = re.compile(rf"^    ({_TYPE}) ?&? ?\b(\w+)[,)]", re.MULTILINE)
_OF_WARP = re.compile(r"(?:wp::\w+|[<>,* \d]|\b(?:const|bool|float|int|double)\b)+")
_CALL = re.compile(r"^( +)(?:(\w+) = )?wp::(\w+)\((\w+(?:, \w+)*)\);$", re.MULTILINE)
_FUNCTION = re.compile(r"^(?!struct)\S[^\n]*\($.*?^\}$", re.MULTILINE | re.DOTALL)
_BODY = "\n{\n"
_ARRAY_BY_VALUE = re.compile(r"^(    )(wp::array_t<[\w:<>, ]+>) (\w+[,)])", re.MULTILINE)
_KERNEL_PARAMETER = re.compile(r"    ((?:const )?[\w:<>, ]+?)&? (\w+)")
_WARP_ALONE = re.compile(r"\bwp\b(?!::)")
_TABLE = "pairsmith_table"


@dataclass(frozen=True)
class Call:
    """A kind of call: the function of Warp, the types of what it is given, and that of what its
    result is assigned to (empty: nothing)."""

    function: str
    given: tuple[str, ...]
    result: str

    @property
    def _parameters(self) -> str:
        types = [*([self.result] if self.result else []), *self.given]
        return ", ".join(f"{text}* p{number}" for number, text in enumerate(types))

    def pointer(self, name: str) -> str:
        """The declaration of a pointer to a function that makes this call."""
        return f"void (*{name})({self._parameters});"

    def function_named(self, name: str) -> str:
        """The definition of a function that makes this call."""
        first = 1 if self.result else 0
        given = ", ".join(f"*p{first + number}" for number in range(len(self.given)))
        assigned = "*p0 = " if self.result else ""
        return (
            f"static void {name}({self._parameters}) {{ {assigned}wp::{self.function}({given}); }}"
        )


@dataclass(frozen=True)
class Kernel:
    """What a kernel takes, as its text says: launch dimensions, and types behind the bounds."""

    dimensions: int
    types: tuple[str, ...]


class SharedCalls:
    """The kinds of call in the texts of a batch, in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[Call, int] = {}

    @property
    def calls(self) -> list[Call]:
        """All kinds that `rewritten` has met."""
        return list(self._numbers)

    def rewritten(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row with its calls by address; the row itself where its text might say otherwise."""
        texts = [row["cuda_helpers"], row["cuda_forward"], row["cuda_backward"] or ""]
        if not stays_inside(row) or any(map(_names_warp_alone, texts)):
            return row
        columns = ("cuda_helpers", "cuda_forward", "cuda_backward")
        return {**row, **{c: self._text(row[c]) for c in columns if row[c]}}

    def table(self) -> str:
        """The declarations that rewritten texts need, and what hands them the addresses.

        `pairsmith_connect` takes an array of addresses in the order of `calls`.
        """
        pointers = "\n".join(c.pointer(f"call_{n}") for c, n in self._numbers.items())
        return (
            f"\nstruct {_TABLE}_t {{\n{pointers}\n}};\n"
            f"static const {_TABLE}_t* {_TABLE} = nullptr;\n"
            'extern "C" void pairsmith_connect(const void* table, pairsmith::launched_t* now)\n'
            f"{{ {_TABLE} = static_cast<const {_TABLE}_t*>(table); pairsmith::now = now; }}\n"
        )

    def _text(self, text: str) -> str:
        return _FUNCTION.sub(lambda match: self._function(match[0]), text)

    def _function(self, text: str) -> str:
        if _BODY not in text:
            return text
        if text.startswith('extern "C" __global__'):
            text = _with_arrays_by_reference(text)
        found = [*_DECLARED.findall(text), *_PARAMETER.findall(text)]
        times = Counter(name for _, name in found)
        types = {name: of.rstrip() for of, name in found if times[name] == 1 and _is_of_warp(of)}
        made = _CALL.sub(lambda match: self._call(match, types), text)
        if made == text:
            return text
        local = f"{_BODY}    const {_TABLE}_t* const pairsmith_calls = {_TABLE};\n"
        return made.replace(_BODY, local, 1)

    def _call(self, match: re.Match[str], types: Mapping[str, str]) -> str:
        indent, result, function, listed = match.groups()
        given = listed.split(", ")
        names = [*([result] if result else []), *given]
        found = [types[name] for name in names if name in types]
        if len(found) < len(names):
            return match[0]
        call = Call(function, tuple(found[len(names) - len(given) :]), found[0] if result else "")
        number = self._numbers.setdefault(call, len(self._numbers))
        return f"{indent}pairsmith_calls->call_{number}({', '.join(f'&{n}' for n in names)});"


@lru_cache(maxsize=4096)
def _is_of_warp(text: str) -> bool:
    """Whether a type is one of Warp's own; of a few types texts say over and over."""
    return _OF_WARP.fullmatch(text) is not None


def _names_warp_alone(text: str) -> bool:
    return "wp" in text.replace("wp::", "") and _WARP_ALONE.search(text) is not None


def _with_arrays_by_reference(text: str) -> str:
    """A kernel that takes headers of arrays by reference where it can: copies take long to
    compile."""
    head, _, body = text.partition(_BODY)

    def by_reference(match: re.Match[str]) -> str:
        return (
            match[0] if _opens(match[3][:-1], body) else f"{match[1]}const {match[2]}& {match[3]}"
        )

    return _ARRAY_BY_VALUE.sub(by_reference, head) + _BODY + body


def _opens(name: str, body: str) -> bool:
    """Whether a kernel looks into the header of an array, or writes to its copy."""
    found = f"{name}." in body or f"{name} =" in body
    return found and re.search(rf"\b{name}(?:\.| =)", body) is not None


def functions_of(calls: Sequence[Call]) -> str:
    """Functions that make calls, `pairsmith_functions`, the array of their addresses, and
    `pairsmith_connect`, which is handed what the launches of this process share."""
    made = "\n".join(call.function_named(f"call_{number}") for number, call in enumerate(calls))
    named = ", ".join(f"reinterpret_cast<void*>(call_{number})" for number in range(len(calls)))
    return (
        f"\nnamespace pairsmith {{\n{made}\n}}\n"
        f"namespace pairsmith {{ static void* const functions[] = {{ {named} }}; }}\n"
        'extern "C" void* const* pairsmith_functions() { return pairsmith::functions; }\n'
        'extern "C" void pairsmith_connect(const void*, pairsmith::launched_t* now)\n'
        "{ pairsmith::now = now; }\n"
    )


def kernel_of(text: str) -> Kernel | None:
    """What the kernel of a text takes; None where the text is not of Warp's form."""
    start, end = text.find("(\n"), text.find(f"){_BODY}")
    if not text.startswith('extern "C" __global__ void ') or not 0 < start < end:
        return None
    matches = [_KERNEL_PARAMETER.fullmatch(line) for line in text[start + 2 : end].split(",\n")]
    types = [match[1] for match in matches if match is not None]
    bounds = re.fullmatch(r"wp::launch_bounds_t<([1-4])>", types[0]) if types else None
    if bounds is None or len(types) != len(matches):
        return None
    return Kernel(int(bounds[1]), tuple(types[1:]))
