"""What a thread makes of a row that it runs along: each value, their sum or their mean."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import cast
from generators.kit.naming import local
from generators.kit.sites import Names, Site
from generators.kit.words import words
from generators.program import ir
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Operand, Var

_FLOATS = {"sum": 1, "mean": 1, "each": 3}


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


_Maker = Callable[[_Row, Names, Var, Scalar], str]
_MAKERS: dict[str, _Maker] = {
    "sum": _sum,
    "mean": _mean,
    "each": _each,
}
