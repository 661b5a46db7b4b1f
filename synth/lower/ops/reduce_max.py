"""y = max of each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "reduce_max",
        "y[m] = max of x[m, n] over n.",
        (Stat("found", "max", "x_value", "", "np.max(v)"),),
    )
)
