"""y = sum of each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "reduce_sum",
        "y[m] = sum of x[m, n] over n.",
        (Stat("found", "sum", "x_value", "", "np.sum(v)"),),
    )
)
