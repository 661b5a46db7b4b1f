"""What a thread makes of a row that it runs along: a reduction, a scale, a running value."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import cast
from generators.kit.functions import least, most
from generators.kit.naming import local
from generators.kit.sites import Names, Site
from generators.kit.words import words
from generators.program import ir
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Operand, Var

_FLOATS = {"sum": 1, "mean": 1, "each": 3}
_LARGE = 1.0e6
"""Beyond what any kernel's values reach."""


class _Row:
    """The loop along a row: locals before it, steps within, statements after it."""

    def __init__(self, s: Site) -> None:
        self.s, self.k = s, s.k
        self.index = s.k.threads[-1]
        self.before: list[ir.Statement] = []

    @property
    def place(self) -> tuple[Expr, ...]:
        """The row's own index."""
        return self.s.at[:-1]

    def start(self, names: Names, value: Operand, type_: Scalar) -> Var:
        """A local that stands before the loop."""
        first = self.k.lift(value, type_)
        var = Var(self.k.name(*words(names)), first.type)
        self.before.append(ir.Assign(var.name, first))
        return var

    def out(self, names: Names, type_: Scalar) -> Var:
        """An output with an element for each row."""
        return self.k.out(words(names), type_, self.s.dims[:-1])

    def close(self, after: Callable[[Expr], list[ir.Statement]] | None = None) -> None:
        """Say how the loop is to stand in the kernel."""
        self.k.along_row(tuple(self.before), (lambda n: tuple(after(n))) if after else None)

    def store(self, out: Var, value: Expr) -> ir.Store:
        return ir.Store(out, self.place, "", value)


def row_result(s: Site, names: Names, value: Expr) -> str:
    """Launch a thread for each row instead of one for each element, and make something of the row's
    values, or store each; the sentence on it. Only where ``s.k.can_run_rows()``."""
    row, type_ = _Row(s), value.type
    if not isinstance(type_, Scalar) or not type_.is_float:
        out = s.out(names, value.type)
        s.k.store(out, s.at, value)
        row.close()
        return f" {out.name} gets it; one thread goes along {row.index}."
    how = s.k.draw.shape.weighted(_FLOATS)
    return _MAKERS[how](row, names, local(s.k, "value result val v", value), type_)


def _each(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    out = row.s.put(names, value)
    row.close()
    return f" {out.name} gets it; one thread goes along {row.index}."


def _sum(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    total = row.start("total acc row_sum", 0.0, type_)
    row.k.augment(total, "add", value)
    out = row.out("totals row_sums sums", type_)
    row.close(lambda n: [row.store(out, total)])
    return f" {out.name} gets its sum over {row.index}."


def _mean(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    total = row.start("total acc row_sum", 0.0, type_)
    row.k.augment(total, "add", value)
    out = row.out("means row_means averages", type_)
    row.close(lambda n: [row.store(out, total / cast(n, type_))])
    return f" {out.name} gets its mean over {row.index}."


def _largest(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    up = row.k.draw.shape.chance(0.5)
    top = row.start("top best" if up else "low lowest", -_LARGE if up else _LARGE, type_)
    row.k.assign(top, (most if up else least)(top, value))
    out = row.out("maxima peaks row_max" if up else "minima row_min lows", type_)
    row.close(lambda n: [row.store(out, top)])
    return f" {out.name} gets its {'largest' if up else 'smallest'} value over {row.index}."


def _best(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    """The place of the largest or smallest value, and that value."""
    k, up = row.k, row.k.draw.shape.chance(0.5)
    top = row.start("best top" if up else "lowest low", -_LARGE if up else _LARGE, type_)
    where = row.start("best_at winner arg", 0, INT32)
    with k.if_(value > top if up else value < top):
        k.assign(top, value)
        k.assign(where, row.s.at[-1])
    which = "largest" if up else "smallest"
    outs = row.out("best_index winners", INT32), row.out("best_value top_values", type_)
    row.close(lambda n: [row.store(outs[0], where), row.store(outs[1], top)])
    return f" {outs[0].name} gets the first {row.index} of its {which} value, {outs[1].name} that."


def _spread(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    """The variance by Welford's recurrence (B. P. Welford, Technometrics 4, 1962)."""
    k = row.k
    mean = row.start("mean avg", 0.0, type_)
    rest = row.start("m2 scatter", 0.0, type_)
    step = k.let("delta diff", value - mean)
    k.augment(mean, "add", step / cast(row.s.at[-1] + 1, type_))
    k.augment(rest, "add", step * (value - mean))
    outs = row.out("means row_means", type_), row.out("variances row_vars", type_)
    row.close(lambda n: [row.store(outs[0], mean), row.store(outs[1], rest / cast(n, type_))])
    done = f" {outs[0].name} and {outs[1].name} get its mean and variance over {row.index}, by "
    return f"{done}Welford's recurrence."


def _running(row: _Row, names: Names, value: Var, type_: Scalar) -> str:
    """Running sums, or running extremes."""
    k = row.k
    how = k.draw.shape.choice(("sum", "largest", "smallest"))
    first = {"sum": 0.0, "largest": -_LARGE, "smallest": _LARGE}[how]
    total = row.start("running carry so_far", first, type_)
    if how == "sum":
        k.augment(total, "add", value)
    else:
        k.assign(total, (most if how == "largest" else least)(total, value))
    out = row.s.put(names, total)
    row.close()
    what = "sum of it" if how == "sum" else f"{how} of it"
    return f" {out.name} gets the {what} from {row.index} = 0 up to here."


_Maker = Callable[[_Row, Names, Var, Scalar], str]
_MAKERS: dict[str, _Maker] = {
    "sum": _sum,
    "mean": _mean,
    "largest": _largest,
    "best": _best,
    "spread": _spread,
    "running": _running,
    "each": _each,
}
