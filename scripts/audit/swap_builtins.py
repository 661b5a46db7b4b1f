"""Replaces a builtin's call by another of the same type and asks whether an output changes.

Nothing to run: scripts/measure/rows/breadth.py uses it for `--swap-rows`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from generators.build.body import identity
from generators.program import ir
from generators.program.dtypes import (
    BOOL,
    INT32,
    Mat,
    Quat,
    Scalar,
    Struct,
    Transform,
    Type,
    Vec,
    scalar_of,
)
from generators.program.expr import Cast, Construct, Expr, Extent, Op, literal, op
from generators.program.op_spec import VARIADIC
from generators.program.ops import OPS
from generators.program.samplers import SAMPLERS
from generators.program.serialise import from_json
from generators.program.signatures import OpTypeError
from generators.program.statements import Atomic, For, Sample
from synth.render.reference import module as render_reference
from validate.oracle.compare import compare
from validate.oracle.reference import ReferenceFailed, run_reference
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes

Row = dict[str, Any]

_INFIX = frozenset(
    {
        *("add", "sub", "mul", "div", "floordiv", "mod", "neg", "bit_and", "bit_or", "bit_xor"),
        *("invert", "lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"),
    }
)
_SPELLED = {"min_element": "min", "max_element": "max"}
_TRIES = 6


def _nodes(value: Any) -> Iterator[Any]:
    """Every node of a tree, the outer one first."""
    if isinstance(value, tuple):
        for item in value:
            yield from _nodes(item)
    elif is_dataclass(value):
        yield value
        for f in fields(value):
            yield from _nodes(getattr(value, f.name))


def _rebuilt(value: Any, target: Any, new: Any) -> Any:
    """A tree with one node, known by identity, replaced."""
    if value is target:
        return new
    if isinstance(value, tuple):
        return tuple(_rebuilt(item, target, new) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {f.name: getattr(value, f.name) for f in fields(value)}
        changed = {name: _rebuilt(part, target, new) for name, part in parts.items()}
        return replace(value, **changed)
    return value


def builtin_of(node: Any) -> str:
    """The builtin that a node calls by name, or ``""``."""
    if isinstance(node, Op) and node.op not in _INFIX:
        return _SPELLED.get(node.op, node.op)
    if isinstance(node, Cast):
        return node.type.name
    if isinstance(node, Atomic):
        return f"atomic_{node.op}"
    if isinstance(node, Extent):
        return "len"
    if isinstance(node, For):
        return "range"
    return node.sampler if isinstance(node, Sample) else ""


def alternatives(node: Any) -> Iterator[Any]:
    """Nodes of the same type that could stand there: other builtins first, then plain values."""
    if isinstance(node, Atomic):
        for other in ("max", "min", "add", "sub", "exch"):
            if other != node.op:
                yield Atomic(other, node.array, node.indices, node.value)
    elif isinstance(node, Sample):
        for name, (choices, type_) in SAMPLERS.items():
            fits = type_ == node.type and tuple(a.type for a in node.args) in choices
            if fits and name != node.sampler:
                yield Sample(node.name, name, node.state, node.args)
        if node.sampler == "randu" and not node.args:
            bounds = tuple(literal(value, node.type) for value in (0, 1000))
            yield replace(node, args=bounds)
        if node.args:
            yield Sample(node.name, node.sampler, node.state, (node.args[0], node.args[1] + 1))
    elif isinstance(node, For):
        yield replace(node, stop=node.start)
        yield replace(node, start=op("add", node.start, literal(node.step, INT32)))
    elif isinstance(node, Op):
        yield from _other_ops(node)
        yield from (a for a in node.args if a.type == node.type)
        yield from _plain_values(node.type)
    else:
        yield from _plain_values(node.type)


def _other_ops(node: Op) -> Iterator[Expr]:
    types = [a.type for a in node.args]
    for name, spec in OPS.items():
        if name == node.op or spec.arity in (0, VARIADIC):
            continue
        try:
            if spec.result(types) == node.type:
                yield Op(name, node.args, node.type)
        except (OpTypeError, ValueError):
            continue


def _plain_values(type_: Type) -> Iterator[Expr]:
    if isinstance(type_, Struct):
        return
    if type_ == BOOL:
        yield from (literal(value, BOOL) for value in (False, True))
        return
    values = [literal(value, scalar_of(type_)) for value in (1, 0)]
    if isinstance(type_, Scalar):
        yield from values
    elif isinstance(type_, Quat | Transform):
        yield identity(type_)
        parts = [literal(v, type_.scalar) for v in (0.6, 0.0, 0.0, 0.8)]
        turned = Construct(tuple(parts), Quat(type_.scalar))
        if isinstance(type_, Transform):
            moved = Construct((literal(1, type_.scalar),), Vec(3, type_.scalar))
            yield Construct((moved, turned), type_)
        else:
            yield turned
    elif not (isinstance(type_, Mat) and type_.rows == type_.cols == 1):
        yield from (Construct((value,), type_) for value in values)


def is_noticed(row: Row, program: ir.Program, node: Any) -> bool | None:
    """Whether some alternative changes an output; None when none of them can be computed."""
    args, sizes = row["args"], own_sizes(row["sizes"])
    inputs = draw_inputs(args, sizes, row["input_seed"])
    dim = evaluate_all(row["launch"]["dim"], sizes)
    name = row["kernel_name"]
    want = run_reference(row["reference"], name, args, dim, inputs)
    verdict: bool | None = None
    for _, new in zip(range(_TRIES), alternatives(node), strict=False):
        try:
            changed = _rebuilt(program, node, new)
            got = run_reference(render_reference.render(changed), name, args, dim, inputs)
        except (ReferenceFailed, TypeError, ValueError, OpTypeError):
            continue
        verdict = any(
            compare(got[arg["name"]], want[arg["name"]], arg["rtol"], arg["atol"]) is not None
            for arg in args
            if arg["name"] in got
        )
        if verdict:
            return True
    return verdict


def swaps_seen(rows: Sequence[Row], rows_each: int) -> dict[str, str]:
    """For each builtin, in how many of the first rows that call it a swap was noticed."""
    tried: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    unable: defaultdict[str, int] = defaultdict(int)
    for row in rows:
        program = from_json(row["program"])
        found = {}
        for node in _nodes((program.functions, program.kernel)):
            if name := builtin_of(node):
                found.setdefault(name, node)
        for name, node in found.items():
            if tried[name] + unable[name] >= rows_each:
                continue
            noticed = is_noticed(row, program, node)
            if noticed is None:
                unable[name] += 1
            else:
                tried[name] += 1
                seen[name] += noticed
    return {
        name: f"{'seen' if seen[name] else 'not seen'} {seen[name]}/{tried[name]}"
        for name in sorted({*tried, *unable})
    }
