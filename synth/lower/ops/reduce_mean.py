"""y = mean of each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "reduce_mean",
        "y[m] = mean of x[m, n] over n.",
        (Stat("found", "sum", "x_value", "found / n", "np.sum(v) / len(v)"),),
    )
)
