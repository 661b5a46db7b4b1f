"""o = softmax(q k^T / sqrt(d)) v, with an online softmax."""

from synth.lower.attention import op, plan
from synth.lower.attention.text import lowered
from synth.lower.op import Op

OP = Op(
    name="attention",
    sizes=("batch", "heads", "m", "n"),
    dtypes=("float32", "float16"),
    fields=plan.FIELDS,
    schedule=plan.schedule,
    read=plan.read,
    shared_bytes=lambda a: a.shared_bytes,
    lower=lowered,
    operands=op.operands,
    reference=op.reference,
    tolerance=op.tolerance,
    shapes=op.shapes,
    work=op.work,
    trials=op.trials,
)
