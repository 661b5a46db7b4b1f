"""Gradients of a, b and bias, of a product."""

from synth.lower.backward import matmul
from synth.lower.op import Op

OP = Op(
    name="matmul_backward",
    sizes=("m", "n", "k"),
    dtypes=("float32", "float64", "float16"),
    fields=matmul.FIELDS,
    schedule=matmul.schedule,
    read=matmul.read,
    shared_bytes=lambda p: p.of_a.shared_bytes,
    lower=matmul.lowered,
    operands=matmul.operands,
    reference=matmul.reference,
    tolerance=matmul.tolerance,
    shapes=matmul.shapes,
    work=matmul.work,
    trials=matmul.trials,
    archs=matmul.archs,
)
