"""Gradients of x, weight and bias, of a convolution."""

from synth.lower.backward import conv
from synth.lower.conv import forward
from synth.lower.conv.plan import SIZES
from synth.lower.op import Op

OP = Op(
    name="conv2d_backward",
    sizes=SIZES,
    dtypes=("float32", "float64", "float16"),
    fields=conv.FIELDS,
    schedule=forward.small_tiles,
    read=conv.read,
    shared_bytes=lambda p: p.of_x.shared_bytes,
    lower=conv.lowered,
    operands=conv.operands,
    reference=conv.reference,
    tolerance=conv.tolerance,
    shapes=conv.shapes,
    work=conv.work,
    trials=conv.trials,
)
