"""Values of whole-array code: the text of an expression and the axes of the array that it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from generators.program import ir
from generators.program.dtypes import INT32, Mat, Quat, Scalar, Struct, Transform, Type, Vec
from synth.render.array.linear import Linear
from synth.render.doc import BINARY, PAREN, Doc, Prec, binary, listing, prefix, subscript
from synth.render.text import docstring
from validate.statuses import ArrayStatus


class NoForm(Exception):  # noqa: N818 - not an error: the kernel has no honest array version
    """Why a kernel has no whole-array version: of which kind, and by what."""

    def __init__(self, reason: ArrayStatus, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason


@dataclass(frozen=True, eq=False)
class Axis:
    """A dimension of arrays: the threads along one launch dimension, the turns of a loop, or the
    threads that a condition chose. ``extent`` is the text of its length, of which the first ``low``
    places and the last ``cut`` are left out."""

    name: str
    extent: str
    lanes: bool = False
    low: int = 0
    cut: int = 0


@dataclass(frozen=True)
class Value:
    """An expression with its axes, outermost first; components come after them.

    ``weak`` marks what only literals made: NumPy would give it its widest type. ``bare`` is the
    array that the text names as it is, so that a change of one would show in the other. ``number``
    marks what is a number of Python, as parameters that are no arrays are to PyTorch. ``linear`` is
    what a whole number is as a sum of symbols and places; ``view`` marks a part of an array that
    changes with it; ``thin`` is the number that all components of a vector or matrix are.
    """

    doc: Doc
    type: Type
    axes: tuple[Axis, ...] = ()
    weak: bool = False
    bare: str = ""
    number: bool = False
    linear: Linear | None = None
    view: bool = False
    thin: Value | None = None

    def of(self, doc: Doc, **more: object) -> Value:
        """The same axes and type under another text."""
        plain = {"bare": "", "linear": None, "view": False, "thin": None}
        return replace(self, doc=doc, **{**plain, **more})  # type: ignore[arg-type]


def place_on(axis: Axis) -> Value:
    """The place along an axis as a number."""
    return Value(Doc(axis.name), INT32, (axis,), linear=Linear(0, {axis: 1}))


def parts_of(type_: Type) -> int:
    """How many dimensions a value of that type has by itself."""
    if isinstance(type_, Scalar | Struct):
        return 0
    if isinstance(type_, Vec | Quat | Transform):
        return 1
    if isinstance(type_, Mat):
        return 2
    raise NoForm(ArrayStatus.COMPOSITE, "structs, transforms")


def union(values: Iterable[Value], order: Sequence[Axis]) -> tuple[Axis, ...]:
    """All axes of some values, in order."""
    found = {axis for value in values for axis in value.axes}
    return tuple(axis for axis in order if axis in found)


def aligned(value: Value, axes: Sequence[Axis], parts: int | None = None) -> Doc:
    """The text of a value with dimensions of one where it lacks an axis that comes after its first,
    and as many dimensions for components as ``parts`` where it has none."""
    inside = [axis in value.axes for axis in axes]
    own = parts_of(value.type)
    after = 0 if parts is None or own or not value.axes else parts
    if True not in inside:
        return value.doc
    pattern = [":" if there else "None" for there in inside[inside.index(True) :]]
    if "None" not in pattern and not after:
        return value.doc
    if "None" not in pattern:
        return subscript(value.doc, [Doc(t) for t in ["...", *["None"] * after]])
    while pattern[-1] == ":" and not after:
        pattern.pop()
    return subscript(value.doc, [Doc(t) for t in [*pattern, *["None"] * after]])


def shape_text(axes: Sequence[str], type_: Type) -> str:
    """The shape of an array of these lengths and its components: a length, or a tuple."""
    lengths = list(axes)
    lengths += [str(n) for n in getattr(type_, "shape", ())]
    return lengths[0] if len(lengths) == 1 else f"({', '.join(lengths)})"


_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def negated(doc: Doc) -> Doc:
    """The opposite of a condition: another comparison, or under ``~``."""
    if doc.text.startswith("~") and doc.prec == Prec.UNARY:
        return doc.parts[0]
    return _opposite(doc) or prefix("~", Prec.UNARY, doc)


def _opposite(doc: Doc) -> Doc | None:
    """Comparisons turned round, joined in the other way; None where there is anything else."""
    if doc.kind == PAREN:
        return _opposite(doc.parts[0])
    if doc.kind != BINARY or len(doc.marks) != 1:
        return None
    symbol = doc.marks[0].strip()
    if symbol in _NEGATED:
        return binary(_NEGATED[symbol], Prec.COMPARE, *doc.parts)
    if symbol in ("|", "&"):
        left, right = (_opposite(part) for part in doc.parts)
        other = ("&", Prec.BIT_AND) if symbol == "|" else ("|", Prec.BIT_OR)
        return binary(*other, left, right) if left is not None and right is not None else None
    return None


def both(left: Doc, right: Doc) -> Doc:
    return binary("&", Prec.BIT_AND, left, right)


def tuple_text(docs: Sequence[Doc]) -> Doc:
    """An index of several dimensions as a tuple; of one as it is."""
    if len(docs) == 1:
        return docs[0]
    inner = listing(docs)
    return Doc(f"({inner.text[1:-1]})")


def docstring_of(kernel: ir.Kernel) -> list[str]:
    """The lines of a kernel's docstring; one about its launch is no matter of whole arrays."""
    if not kernel.doc or kernel.doc.startswith("Launch"):
        return []
    return docstring(kernel.doc, 1)


JOINED = {
    "add": ("+", Prec.ADD),
    "sub": ("-", Prec.ADD),
    "mul": ("*", Prec.MUL),
    "div": ("/", Prec.MUL),
}
"""Operator and precedence of ``op=``."""

MOST_INLINE = 48
"""Characters of an expression that stands inside another one without a name."""


def tight(doc: Doc) -> str:
    """The text, in parentheses where a dot may not follow it."""
    return doc.text if doc.prec >= Prec.TIGHT else f"({doc.text})"
