"""The functions of a row's CUDA text and their statements, as mutants need to see them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_HEAD = re.compile(r"(?:static CUDA_CALLABLE|extern \"C\" __global__) .*?(\w+)\(")
_DECLARED = re.compile(r"\s*(const )?(?!return )(\w[\w:<>, ]*[*&]?) (var_\w+)(?: = .*;|[,;)].*)")
_CALL = re.compile(r"(?:(var_\w+) = )?(?:(wp::)?(\w+)(<[^()]*>)?)\(([\w, ]*)\);")
WHOLE = re.compile(r"(-?\d+)((?:u?ll)?)")
REAL = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
_ELEMENT = re.compile(r"wp::array_t<(.*)>")
_COMPOSITE = re.compile(r"wp::(vec|mat|quat|transform)_t<(?:(\d+), )?(?:(\d+), )?(.*)>")


@dataclass(frozen=True)
class Call:
    """`target = prefix name template(args);`, a statement that is a single call.

    `target` is empty where the result is not kept, `prefix` is `wp::` or empty.
    """

    target: str
    prefix: str
    name: str
    template: str
    args: tuple[str, ...]

    def text(self, *, name: str | None = None, args: Sequence[str] | None = None) -> str:
        """The statement, with another name or other arguments."""
        kept = f"{self.target} = " if self.target else ""
        arguments = ", ".join(self.args if args is None else args)
        return f"{kept}{self.prefix}{name or self.name}{self.template}({arguments});"


def parse_call(statement: str) -> Call | None:
    """The call that a stripped line consists of, or None when it is something else."""
    match = _CALL.fullmatch(statement)
    if match is None:
        return None
    target, prefix, name, template, args = match.groups()
    return Call(
        target or "", prefix or "", name, template or "", tuple(args.split(", ")) if args else ()
    )


@dataclass(frozen=True)
class Function:
    """One function that runs in the forward pass: the kernel or a helper.

    `first` and `end` are 0-based positions in `lines`, the lines of the whole column; the function
    ends before `end`. `types` gives every variable's type as written, `constants` those that are
    declared `const`.
    """

    name: str
    is_kernel: bool
    first: int
    end: int
    lines: Sequence[str]
    types: dict[str, str]
    constants: frozenset[str]

    @cached_property
    def text(self) -> str:
        """The function's own lines."""
        return "\n".join(self.lines[self.first : self.end])

    def type_of(self, name: str) -> str:
        """The type of a variable, empty for what is no variable."""
        return self.types.get(name, "")

    def same_type(self, *names: str) -> bool:
        """Whether all are variables of one type."""
        found = {self.type_of(name) for name in names}
        return len(found) == 1 and "" not in found

    def occurrences(self, name: str) -> int:
        """How often a variable is named, its declaration included."""
        return len(re.findall(rf"\b{name}\b", self.text))

    def literal(self, name: str) -> float | None:
        """The value of a variable that only ever is one number as written in the text."""
        found = re.findall(rf"\b{name} = (.*);", self.text)
        if len(found) != 1:
            return None
        whole, real = WHOLE.fullmatch(found[0]), REAL.fullmatch(found[0])
        return int(whole[1]) if whole else float(found[0]) if real else None


def functions(text: str) -> Iterator[Function]:
    """The forward functions of a column, in order. Adjoints and what structs bring are left out."""
    lines = text.split("\n")
    first = 0
    while first < len(lines):
        head = _HEAD.match(lines[first])
        if head is None:
            first += 1
            continue
        end = lines.index("}", first) + 1
        if not head[1].startswith("adj_") and "// forward" in map(str.strip, lines[first:end]):
            yield _function(lines, first, end, head[1])
        first = end


def element_type(array_type: str) -> str:
    """The type of an array's elements, empty when it is no array."""
    match = _ELEMENT.fullmatch(array_type)
    return match[1] if match else ""


def scalar_of(type_name: str) -> str:
    """The scalar type in a scalar, vector, matrix, quaternion or transform, without `wp::`."""
    match = _COMPOSITE.fullmatch(type_name)
    return (match[4] if match else type_name).removeprefix("wp::")


def family(type_name: str) -> str:
    """`vec`, `mat`, `quat` or `transform` for a composite, else empty."""
    match = _COMPOSITE.fullmatch(type_name)
    return match[1] if match else ""


def extents(type_name: str) -> tuple[int, ...]:
    """How many components each index of a composite may name: `(3,)`, `(2, 3)`; else empty."""
    match = _COMPOSITE.fullmatch(type_name)
    if match is None:
        return ()
    if match[1] in ("quat", "transform"):
        return (4,) if match[1] == "quat" else (7,)
    return tuple(int(number) for number in (match[2], match[3]) if number)


def is_float(type_name: str) -> bool:
    """Whether the scalar of a type is a float."""
    return scalar_of(type_name).startswith("float")


def _function(lines: Sequence[str], first: int, end: int, name: str) -> Function:
    types: dict[str, str] = {}
    constants = set()
    for line in lines[first:end]:
        declared = _DECLARED.fullmatch(line)
        if declared is None:
            continue
        constant, type_name, variable = declared.groups()
        types[variable] = type_name.strip()
        if constant:
            constants.add(variable)
    is_kernel = "__global__" in lines[first]
    return Function(name, is_kernel, first, end, lines, types, frozenset(constants))
