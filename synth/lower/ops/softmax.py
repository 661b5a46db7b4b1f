"""y = exp(x - max) / sum of them, over each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "softmax",
        "y[m, n] = exp(x - largest of its row), by their sum.",
        (
            Stat("most", "max", "x_value", "", "np.max(v)"),
            Stat(
                "total", "sum", "exp@f@(x_value - most)", "", "np.sum(np.exp(v - most))", kept=True
            ),
        ),
        element="exp@f@(x_value - most) / total",
        of_kept="x_value / total",
        python="np.exp(v - most) / total",
        relative=True,
    )
)
