"""The numbers of a kernel gathered in one struct, as people do when there are several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from typing import Any

from generators.build import KernelBuilder, field
from generators.build.registry import Idiom, Title
from generators.kit.words import listed
from generators.program import ir
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_SHARES = {3: 0.2, 4: 0.25, 5: 0.3}
"""How many kernels of a level with ``_SEVERAL`` numbers or more have them in a struct."""
_SEVERAL = 4


def with_struct(idiom: Idiom) -> Idiom:
    """An idiom whose numbers are, at higher levels and now and then, the fields of a struct."""

    @wraps(idiom)
    def drawn(k: KernelBuilder, level: int) -> Title:
        title = idiom(k, level)
        numbers = [p for p in k.params if isinstance(p.type, Scalar) and p.init == "uniform"]
        if len(numbers) < _SEVERAL or not k.draw.shape.chance(_SHARES.get(level, 0.0)):
            return title
        var = _gathered(k, numbers, title.kernel_name)
        names = listed([p.name for p in numbers])
        text = f"{title.description} The numbers {names} are fields of {var.name}."
        return Title(title.kernel_name, text)

    return drawn


def _gathered(k: KernelBuilder, numbers: list[ir.Param], kernel: str) -> Var:
    """Put the numbers into a struct parameter, and read its fields wherever they are read."""
    words = "".join(word.capitalize() for word in kernel.split("_"))
    struct = k.struct(k.name(f"{words}Params", "Params"), *((p.name, p.type) for p in numbers))
    inits = [ir.FieldInit(p.name, p.type, p.init, p.low, p.high) for p in numbers]
    k.params = [p for p in k.params if p not in numbers]
    var = k.scalar(("params", "cfg"), struct, fields=inits)
    read = {Var(p.name, p.type): field(var, p.name) for p in numbers}
    k.rewrite(lambda s: replaced(s, lambda e: read.get(e) if isinstance(e, Var) else None))
    return var


def replaced(node: Any, new: Callable[[Expr], Expr | None]) -> Any:
    """A statement or expression with some expressions replaced wherever they stand."""
    if isinstance(node, tuple):
        return tuple(replaced(part, new) for part in node)
    if isinstance(node, Expr) and (other := new(node)) is not None:
        return other
    if not is_dataclass(node) or isinstance(node, type):
        return node
    parts = {f.name: replaced(getattr(node, f.name), new) for f in fields(node)}
    return replace(node, **parts)
