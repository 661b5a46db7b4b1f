"""The program of a kernel's backward kernel."""

from __future__ import annotations

from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import Array, Struct
from generators.program.expr import Expr, Load, Var
from generators.program.walk import expressions, statements
from synth.gradient.dissolved import dissolved
from synth.gradient.held import IN_PLACE, Held, floats_of, held
from synth.gradient.kept import stored_once
from synth.gradient.maxima import running_maxima
from synth.gradient.primal import Names, Primal
from synth.gradient.reverse import Block, Reverse
from synth.gradient.straight import straightened
from synth.gradient.sweep import assigned, chained, swept
from synth.gradient.terms import Undifferentiable
from synth.gradient.tidy import begun_once, constructed, plainly_named, without_aliases
from synth.render.text import names_of
from validate.row.gradient import SUFFIX

NO_DERIVATIVE = "no output depends on an input by a derivative"


def backward_program(program: ir.Program, constant: frozenset[str] = frozenset()) -> ir.Program:
    """The program that makes of a program's inputs, and of the cotangents of its float outputs,
    the gradients of its float inputs; these have to be zero when it starts.

    Its parameters are those of the program that it uses, then the cotangents, then the gradients.
    ``constant`` are variables whose gradient is known to change nothing (:func:`maxima`).
    Raises :class:`synth.gradient.terms.Undifferentiable` for a program that has no backward here.
    """
    kernel = program.kernel
    if isinstance(kernel, ir.TiledKernel):
        raise Undifferentiable("tiles")
    grads = held(program)
    _require_gradients(program)
    arrays = {key: Var(grad.name, grad.type) for key, grad in grads.items()}
    whole = _reversible(program)
    names = Names(_outside(program, whole) | {grad.name for grad in grads.values()})
    given = {p.name for p in kernel.params if isinstance(p.type, Struct)}
    reverse = Reverse(Primal(names), arrays, _owned(kernel), given, constant)
    block = Block(set(), set())
    reverse.body(whole, {}, block)
    body, _ = swept(block.out, set())
    if not body:
        raise Undifferentiable(NO_DERIVATIVE)
    body = begun_once(without_aliases(body))
    body = constructed(chained(_plain_stores(body, {v.name for v in arrays.values()})))
    own = names_of(program)
    outside = _outside(program, ()) | {grad.name for grad in grads.values()}
    body = plainly_named(body, outside, own)
    return _program(program, body, grads)


def maxima(program: ir.Program) -> frozenset[str]:
    """Variables of a program that hold the largest value so far of a loop."""
    return running_maxima(_reversible(program))


def _reversible(program: ir.Program) -> ir.Body:
    fresh = Names(names_of(program) | set(program.kernel.threads)).fresh
    return stored_once(dissolved(straightened(program, fresh), fresh), fresh)


def _outside(program: ir.Program, body: ir.Body) -> set[str]:
    """What is named before the body begins, and the adjoints of what it names."""
    kernel = program.kernel
    found = {kernel.name, *kernel.threads, *(p.name for p in kernel.params), *ir.RESERVED}
    found |= {f.name for f in program.functions} | {s.name for s in program.structs}
    return found | {f"adj_{name}" for name in assigned(body)}


def _require_gradients(program: ir.Program) -> None:
    roles = [p.role for p in program.kernel.params if floats_of(p.type)]
    if not any(role != "out" for role in roles):
        raise Undifferentiable("no float input")
    if not any(role != "in" for role in roles):
        raise Undifferentiable("no float output")


def _owned(kernel: ir.Kernel) -> set[str]:
    """Arrays no element of which two threads read: each thread's place stands in all indices."""
    found: dict[str, list[tuple[Expr, ...]]] = {}
    for e in expressions(kernel.body):
        if isinstance(e, Load):
            found.setdefault(e.array.name, []).append(e.indices)
    written = {s.name for s in statements(kernel.body) if isinstance(s, ir.Assign | ir.AugAssign)}
    if written & set(kernel.threads):
        return set()
    owned = set()
    for name, uses in found.items():
        places = [
            tuple(
                next((k for k, i in enumerate(indices) if isinstance(i, Var) and i.name == t), -1)
                for t in kernel.threads
            )
            for indices in uses
        ]
        if -1 not in places[0] and len(set(places)) == 1:
            owned.add(name)
    return owned


def _plain_stores(body: ir.Body, gradients: set[str]) -> ir.Body:
    """A gradient that one statement alone adds to is stored: it starts at zero."""
    places: dict[str, list[ir.Statement]] = {}
    for s in statements(body):
        if isinstance(s, ir.Store | ir.Atomic):
            places.setdefault(s.array.name, []).append(s)
    single = {
        id(found[0])
        for name, found in places.items()
        if len(found) == 1 and name in gradients and not name.endswith(IN_PLACE)
    }
    return _stored(body, single, set())


def _stored(body: ir.Body, single: set[int], counters: set[str]) -> ir.Body:
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            branches = tuple((t, _stored(b, single, counters)) for t, b in s.branches)
            s = ir.If(branches, _stored(s.orelse, single, counters))
        elif isinstance(s, ir.For):
            s = replace(s, body=_stored(s.body, single, counters | {s.name}))
        elif isinstance(s, ir.Store) and id(s) in single and s.op == "add":
            indexed = {i.name for i in s.indices if isinstance(i, Var)}
            if counters <= indexed:
                s = replace(s, op="")
        found.append(s)
    return tuple(found)


def _program(program: ir.Program, body: ir.Body, grads: dict[str, Held]) -> ir.Program:
    kernel = program.kernel
    read = {v.name for v in expressions(body) if isinstance(v, Var)}
    read |= {e.array.name for e in expressions(body) if hasattr(e, "array")}
    written = {s.array.name for s in statements(body) if isinstance(s, ir.Store | ir.Atomic)}
    touched = read | written
    params = [
        replace(p, role="in") if isinstance(p.type, Array) else p
        for p in kernel.params
        if p.name in read
    ]
    given = [grad for grad in grads.values() if grad.name in touched]
    for grad in sorted(given, key=lambda grad: grad.of.role == "in"):
        start = grad.of.role == "in"
        # A cotangent that the kernel leaves as it is belongs to what it found as well.
        role = "inout" if grad.of.role != "out" and grad.name in written else "in"
        init = "reduction_identity" if start else "uniform"
        bounds = ("0", None) if start else ("-1", "1")
        params.append(ir.Param(grad.name, grad.type, role, grad.of.shape, init, *bounds))
    name = f"{kernel.name}{SUFFIX}"
    backward = replace(kernel, name=name, params=tuple(params), body=body, doc="")
    return replace(program, kernel=backward)
