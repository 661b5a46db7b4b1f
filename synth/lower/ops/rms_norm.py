"""y = x / sqrt(mean of squares + 1e-5) * weight, over each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "rms_norm",
        "y[m, n] = x / sqrt(mean square of its row + 1e-5) * weight[n].",
        (
            Stat(
                "scale",
                "sum",
                "x_value * x_value",
                "1.0@f@ / sqrt@f@(scale / n + 1e-5@f@)",
                "1.0 / np.sqrt(np.sum(np.square(v)) / len(v) + 1e-5)",
            ),
        ),
        element="x_value * scale * weight_value",
        given=("weight",),
        python="v * scale * np.array(weight, np.float64)",
    )
)
