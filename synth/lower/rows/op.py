"""What the ops over rows share: operands, reference, tolerance, shapes."""

from __future__ import annotations

from synth.lower.op import Op, Operand, Sizes
from synth.lower.rows.plan import WARP, Form, Rows, read, schedule
from synth.lower.rows.text import lowered

_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53, "float16": 2.0**-24}


def operands(r: Rows) -> list[Operand]:
    """x, what is given for each column, and y."""
    given = [Operand(name, r.dtype, ("n",)) for name in r.form.given]
    shape = ("m", "n") if r.form.element else ("m",)
    return [Operand("x", r.dtype, ("m", "n")), *given, Operand("y", r.dtype, shape)]


def reference(r: Rows) -> str:
    """Plain Python that computes the op in float64."""
    names = ["x", *r.form.given, "y"]
    lines = ["import numpy as np", "", "", f"def {r.form.name}(dim, {', '.join(names)}):"]
    lines += ["    for row in range(x.shape[0]):", "        v = np.array(x[row], np.float64)"]
    lines += [f"        {stat.name} = {stat.python}" for stat in r.form.stats]
    lines.append(f"        y[row] = {r.form.python or r.form.stats[-1].name}")
    return "\n".join([*lines, ""])


def tolerance(r: Rows, sizes: Sizes) -> tuple[float, float]:
    """rtol and atol, each 4 (sqrt(n) + 8) u: roundings of n values walk at random, and functions
    and quotients add some units in the last place; float16 rounds once, to 2**-11. An element left
    out is off by more."""
    narrow = r.dtype == "float16"
    walked = 4.0 * (sizes["n"] ** 0.5 + 8.0) * _UNIT[r.dtype]
    least = 2.0**-24 if narrow else 0.0
    return walked + (2.0**-11 if narrow else 0.0), least + (0.0 if r.form.relative else walked)


def _shared_bytes(r: Rows) -> int:
    return 0 if r.threads == WARP else r.threads // WARP * (8 if r.dtype == "float64" else 4)


def shapes(r: Rows) -> list[tuple[int, ...]]:
    """Whole vectors in registers; ragged rows; one element; rows too long for registers."""
    longest = r.threads * r.held * r.group
    return [(3, min(longest, 4096)), (r.rows + 2, 37), (1, 1), (2, 8), (2, longest + r.group)]


def rows_op(form: Form) -> Op:
    """An op over rows."""
    return Op(
        name=form.name,
        sizes=("m", "n"),
        dtypes=("float32", "float64", "float16"),
        fields={},
        schedule=schedule,
        read=lambda dtype, fields, said: read(form, dtype, fields, said),
        shared_bytes=_shared_bytes,
        lower=lowered,
        operands=operands,
        reference=reference,
        tolerance=tolerance,
        shapes=shapes,
        work=lambda r, sizes: sizes["m"] * max(sizes["n"], r.threads),
    )
