"""y = (x - mean) / sqrt(variance + 1e-5) * weight + bias, over each row."""

from synth.lower.rows.op import rows_op
from synth.lower.rows.plan import Form, Stat

OP = rows_op(
    Form(
        "layer_norm",
        "y[m, n] = (x - mean of its row) / sqrt(variance + 1e-5) * weight[n] + bias[n].",
        (
            Stat("mean", "sum", "x_value", "mean / n", "np.sum(v) / len(v)"),
            Stat(
                "scale",
                "sum",
                "(x_value - mean) * (x_value - mean)",
                "1.0@f@ / sqrt@f@(scale / n + 1e-5@f@)",
                "1.0 / np.sqrt(np.sum(np.square(v - mean)) / len(v) + 1e-5)",
            ),
        ),
        element="(x_value - mean) * scale * weight_value + bias_value",
        given=("weight", "bias"),
        python="(v - mean) * scale * np.array(weight, np.float64) + np.array(bias, np.float64)",
    )
)
