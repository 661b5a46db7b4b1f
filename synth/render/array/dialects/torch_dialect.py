"""How PyTorch makes, joins and reduces tensors."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program.dtypes import SIGNED, Scalar, Struct, Type, scalar_of
from synth.render.array.dialects.dialect import Dialect, Update
from synth.render.array.dialects.torch_functions import with_functions
from synth.render.array.dialects.torch_helpers import HELPERS, NEEDS
from synth.render.array.dialects.torch_ops import TORCH_OPS, extreme
from synth.render.array.values import NoForm, Value, tight, tuple_text
from synth.render.doc import Doc, Prec, attribute, binary, call, prefix
from validate.statuses import ArrayStatus

_TYPES = frozenset({"bool", "float16", "float32", "float64", *SIGNED, "uint8"})
"""What PyTorch computes with: it stores wider unsigned integers and has hardly an op of them."""
_SCATTERED = {"min": "amin", "max": "amax"}


class Torch(Dialect):
    """PyTorch; ``like`` is the text of a tensor on whose device new ones are made."""

    module = "torch"
    imports = ("import torch",)
    pi = "math"
    axis = "dim"
    keepdims = "keepdim"
    copy = "clone"
    ops = TORCH_OPS
    helpers = HELPERS
    needs = NEEDS
    numbers_differ = True
    clip = "clamp"
    wraps = False
    int_products = False
    reverses = False

    def __init__(self, like: str) -> None:
        self.like = like

    def inside(self, tensors: Sequence[str]) -> Torch:
        return Torch(tensors[0] if tensors else self.like)

    def scalar(self, type_: Type) -> str:
        return f"torch.{scalar_of(type_).name}"

    def widens(self, type_: Type) -> bool:
        return scalar_of(type_).name not in ("bool", "float32")

    def named(self, lines: Sequence[str]) -> Sequence[str]:
        return with_functions(lines)

    def check(self, type_: Type) -> None:
        if isinstance(type_, Struct):
            raise NoForm(ArrayStatus.COMPOSITE, "structs")
        if scalar_of(type_).name not in _TYPES:
            raise NoForm(ArrayStatus.FUNCTION, "unsigned words")

    def converted(self, doc: Doc, type_: Type, is_array: bool) -> Doc:
        return call(f"{tight(doc)}.to", [Doc(self.scalar(type_))])

    def typed(self, type_: Type) -> list[Doc]:
        return [Doc(f"dtype={self.scalar(type_)}"), Doc(f"device={self.like}.device")]

    def listed(self, items: Doc, type_: Type) -> Doc:
        return call("torch.tensor", [items, *self.typed(type_)])

    def made(self, how: str, args: Sequence[str], type_: Type) -> Doc:
        if how == "full" and not args[0].startswith("("):
            args = [f"({args[0]},)", *args[1:]]
        return super().made(how, args, type_)

    def repeated(self, widened: Doc, rank: int, shape: Sequence[int], type_: Type) -> Doc:
        if rank < 0:
            ones = self.made("ones", [str(tuple(shape) if len(shape) > 1 else shape[0])], type_)
            return binary("*", Prec.MUL, widened, ones)
        lengths = [*["-1"] * rank, *map(str, shape)]
        return call(f"{widened.text}.expand", [Doc(length) for length in lengths])

    def broadcast(self, doc: Doc, shape: Doc) -> Doc:
        return call(f"{tight(doc)}.expand", [shape])

    def broadcast_all(self, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        known = next((d for d, v in zip(docs, values, strict=True) if not v.number), None)
        if known is None:
            raise NoForm(ArrayStatus.COMPOSITE, "vectors of numbers in a helper")
        tensors = [
            call(f"{tight(known)}.new_tensor", [d]) if v.number else d
            for d, v in zip(docs, values, strict=True)
        ]
        return call("torch.broadcast_tensors", tensors)

    def joined(self, parts: Doc) -> Doc:
        return call("torch.cat", [parts, Doc("dim=-1")])

    def extreme(self, op: str, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        return extreme(op, docs, values)

    def turned(self, doc: Doc, order: Sequence[int]) -> Doc:
        if len(order) == 2:
            return attribute(doc, "T")
        return call(attribute(doc, "permute").text, [Doc(str(k)) for k in order])

    def places(self, mask: Doc, count: int) -> Doc:
        if count == 1:
            return call(f"{call('torch.nonzero', [mask]).text}.squeeze", [Doc("1")])
        return call("torch.nonzero", [mask, Doc("as_tuple=True")])

    def reduced(
        self, how: str, doc: Doc, axis: str = "", *, type_: Type | None = None, keep: bool = False
    ) -> Doc:
        if how == "prod" and "," in axis:
            raise NoForm(ArrayStatus.FUNCTION, "products over several dimensions")
        named = _SCATTERED.get(how, how) if axis else how
        return super().reduced(named, doc, axis, type_=type_, keep=keep)

    def running(self, doc: Doc, type_: Type) -> Doc:
        kept = [Doc(f"dtype={self.scalar(type_)}")] if scalar_of(type_).is_int else []
        return call("torch.cumsum", [doc, Doc("dim=-1"), *kept])

    def update(self, update: Update) -> Doc:
        if update.op not in ("add", "sub", "min", "max"):
            raise NoForm(ArrayStatus.SCATTER, "bits joined at indices")
        column = _column(update)
        whole = update.value.number or len(update.value.axes) == 1
        if column is not None and whole:
            return self._along(update, *column)
        if update.op in _SCATTERED or any(v.number for v in update.places):
            raise NoForm(ArrayStatus.SCATTER, "updates at several indices")
        new = self._tensor(update, update.indices[0])
        new = prefix("-", Prec.UNARY, new) if update.op == "sub" else new
        indices = tuple_text(update.indices)
        listed = indices if len(update.indices) > 1 else Doc(f"({indices.text},)")
        return call(f"{update.array}.index_put_", [listed, new, Doc("accumulate=True")])

    def _along(self, update: Update, array: str, index: Doc) -> Doc:
        """Updates at one index, along the first dimension of an array or of its column."""
        new = self._tensor(update, index)
        if update.op in _SCATTERED:
            if not isinstance(update.value.type, Scalar):
                raise NoForm(ArrayStatus.SCATTER, "extremes of components")
            how = Doc(f'"{_SCATTERED[update.op]}"')
            places = call(f"{tight(index)}.long", [])
            return call(f"{array}.scatter_reduce_", [Doc("0"), places, new, how])
        sign = [Doc("alpha=-1")] if update.op == "sub" else []
        return call(f"{array}.index_add_", [Doc("0"), index, new, *sign])

    def _tensor(self, update: Update, index: Doc) -> Doc:
        """What is joined as a tensor: one element for each index."""
        if not update.value.number:
            return update.new
        dtype = Doc(f"dtype={update.array}.dtype")
        if update.new.text in ("1", "1.0"):
            return call("torch.ones_like", [index, dtype])
        return call("torch.full_like", [index, update.new, dtype])


def _column(update: Update) -> tuple[str, Doc] | None:
    """The array, or its column of places that all updates share, and the only index in it."""
    vary = [k for k, value in enumerate(update.places) if value.axes]
    if len(update.axes) != 1 or len(vary) != 1:
        return None
    shared = [":" if k == vary[0] else d.text for k, d in enumerate(update.indices)]
    array = f"{update.array}[{', '.join(shared)}]" if len(shared) > 1 else update.array
    return array, update.indices[vary[0]]
