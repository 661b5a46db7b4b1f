"""How NumPy makes, joins and reduces arrays."""

from __future__ import annotations

from collections.abc import Sequence

from generators.program.dtypes import Scalar, Type
from synth.render.array.dialects.dialect import Dialect, Update
from synth.render.array.dialects.numpy_helpers import HELPERS, NEEDS
from synth.render.array.dialects.numpy_ops import NUMPY_OPS
from synth.render.array.values import Value, tight, tuple_text
from synth.render.doc import Doc, Prec, attribute, binary, call, subscript

_AT = {
    "add": "np.add",
    "sub": "np.subtract",
    "min": "np.minimum",
    "max": "np.maximum",
    "and": "np.bitwise_and",
    "or": "np.bitwise_or",
    "xor": "np.bitwise_xor",
}


class NumPy(Dialect):
    """NumPy: numbers are arrays without dimensions."""

    module = "np"
    imports = ("import numpy as np",)
    pi = "np"
    axis = "axis"
    keepdims = "keepdims"
    copy = "copy"
    ops = NUMPY_OPS
    helpers = HELPERS
    needs = NEEDS
    numbers_differ = False
    clip = "clip"
    wraps = True
    int_products = True
    reverses = True

    def scalar(self, type_: Type) -> str:
        scalar = type_ if isinstance(type_, Scalar) else type_.scalar  # type: ignore[union-attr]
        return "bool" if scalar.name == "bool" else f"np.{scalar.name}"

    def widens(self, type_: Type) -> bool:
        return self.scalar(type_) not in ("bool", "np.int32")

    def converted(self, doc: Doc, type_: Type, is_array: bool) -> Doc:
        name = Doc(self.scalar(type_))
        return call(f"{tight(doc)}.astype", [name]) if is_array else call(name.text, [doc])

    def listed(self, items: Doc, type_: Type) -> Doc:
        return call("np.array", [items, *self.typed(type_)])

    def repeated(self, widened: Doc, rank: int, shape: Sequence[int], type_: Type) -> Doc:
        text = str(tuple(shape) if len(shape) > 1 else shape[0])
        return binary("*", Prec.MUL, widened, self.made("ones", [text], type_))

    def broadcast(self, doc: Doc, shape: Doc) -> Doc:
        return call("np.broadcast_to", [doc, shape])

    def broadcast_all(self, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        return call("np.broadcast_arrays", docs)

    def joined(self, parts: Doc) -> Doc:
        return call("np.concatenate", [parts, Doc("axis=-1")])

    def extreme(self, op: str, docs: Sequence[Doc], values: Sequence[Value]) -> Doc:
        return call(f"np.{op}imum", docs)

    def turned(self, doc: Doc, order: Sequence[int]) -> Doc:
        if len(order) == 2:
            return attribute(doc, "T")
        return call(attribute(doc, "transpose").text, [Doc(str(k)) for k in order])

    def places(self, mask: Doc, count: int) -> Doc:
        return call("np.flatnonzero" if count == 1 else "np.nonzero", [mask])

    def running(self, doc: Doc, type_: Type) -> Doc:
        return call("np.cumsum", [doc, Doc("axis=-1")])

    def update(self, update: Update) -> Doc:
        at, new = f"{_AT[update.op]}.at", update.new
        outer, last = update.axes[:-1], update.axes[-1:]
        if outer and update.value.axes == last and len(update.indices) == 1:
            # Up to 2.5 NumPy reads past the end of one row of values for several rows of places.
            new = subscript(new, [*[Doc("None")] * len(outer), Doc(":")])
        return call(at, [Doc(update.array), tuple_text(update.indices), new])
