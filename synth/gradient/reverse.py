"""The adjoint of a body, from its last statement to its first.

Every float variable of the program has one adjoint, whatever becomes of the variable. It comes into
being with the first term that is added to it, so that nothing is ever added to a zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from generators.program import ir
from generators.program.dtypes import FLOAT16, FLOAT32, INT32, Quat, Struct, Type, scalar_of
from generators.program.expr import (
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Var,
    literal,
)
from generators.program.walk import names_read
from synth.gradient.held import IN_PLACE, key_of
from synth.gradient.primal import Env, Primal, Step, copied, is_sum_with, put, value_of
from synth.gradient.sweep import assigned, depends_on_order, swept
from synth.gradient.terms import (
    Undifferentiable,
    differentiable,
    has_floats,
    is_short,
    is_zero,
    negated,
    part_of,
    plus,
    zero,
)
from synth.gradient.vjp import of_component, vjp_of


@dataclass
class Block:
    """A block that is being reversed: its statements, the program's variables whose adjoint is
    there, those that are older than the block, and those whose adjoint it wants before it."""

    live: set[str]
    outer: set[str]
    out: list[ir.Statement] = field(default_factory=list)
    needed: set[str] = field(default_factory=set)


class Reverse:
    """Writes one backward body. ``gradients`` has the array of adjoints for each float array."""

    def __init__(
        self,
        primal: Primal,
        gradients: dict[str, Var],
        owned: set[str],
        given: set[str],
        constant: frozenset[str] = frozenset(),
    ) -> None:
        """``owned``: arrays no element of which two threads read; ``given``: structs by value;
        ``constant``: variables that nothing flows through."""
        self.constant = constant
        self.primal, self.names, self.given = primal, primal.names, given
        self.gradients, self.owned = gradients, owned
        self.carrying = {key.partition(".")[0] for key in gradients}
        self.types: dict[str, Type] = {}
        self.replayed = False

    def body(self, body: ir.Body, env: Env, block: Block) -> None:
        """Add a body and its adjoint to a block."""
        found, steps = self.primal.run(body, env)
        block.out += found
        for step in reversed(steps):
            self.step(step, block)

    def step(self, step: Step, block: Block) -> None:
        s = step.statement
        if isinstance(s, ir.Assign | ir.AugAssign):
            self._assignment(s, step, block)
        elif isinstance(s, ir.SetComponent):
            self._part_set(s, step, block)
        elif isinstance(s, ir.Store | ir.Atomic):
            self._store(s, step, block)
        elif isinstance(s, ir.If):
            self._condition(s, step, block)
        elif isinstance(s, ir.For):
            self._loop(s, step, block)

    def adjoint(self, name: str) -> Var:
        return Var(f"adj_{name}", self.types[name])

    def _assignment(self, s: ir.Assign | ir.AugAssign, step: Step, block: Block) -> None:
        assert step.result is not None
        self.types[s.name] = step.result.type
        if s.name not in block.live or not differentiable(step.result.type):
            return
        value = put(value_of(s, step.env), step.env)
        own, adjoint = step.env.get(s.name), self.adjoint(s.name)
        term = is_sum_with(value, own) if own is not None else None
        if own is not None and term is not None and own.name not in names_read([term[0]]):
            self.add(term[0], negated(adjoint) if term[1] else adjoint, block)
            return
        passed = adjoint
        if own is not None and own.name in names_read([value]):
            passed = Var(self.names.fresh(f"{adjoint.name}_after"), adjoint.type)
            block.out.append(ir.Assign(passed.name, adjoint))
            self._clear(s.name, block)
            self.add(value, passed, block, step.result)
            return
        self.add(value, passed, block, step.result)
        self._clear(s.name, block)

    def _clear(self, name: str, block: Block) -> None:
        """The adjoint of what the variable was before is nothing, as yet."""
        if name in block.outer:
            adjoint = self.adjoint(name)
            block.out.append(ir.Assign(adjoint.name, zero(adjoint.type)))
        else:
            block.live.discard(name)

    def _part_set(self, s: ir.SetComponent, step: Step, block: Block) -> None:
        assert step.result is not None
        self.types[s.name] = step.result.type
        if s.name not in block.live or not differentiable(step.result.type):
            return
        if s.op in ("mul", "div"):
            raise Undifferentiable("a component scaled in place")
        indices = tuple(put(i, step.env) for i in s.indices)
        part = Component(self.adjoint(s.name), indices, s.value.type)
        kept = Var(self.names.fresh(f"adj_{s.name}_part"), part.type)
        block.out.append(ir.Assign(kept.name, part))
        if not s.op:
            nothing = zero(part.type)
            block.out.append(ir.SetComponent(self.adjoint(s.name).name, indices, "", nothing))
        self.add(put(s.value, step.env), negated(kept) if s.op == "sub" else kept, block)

    def _store(self, s: ir.Store | ir.Atomic, step: Step, block: Block) -> None:
        value = s.value
        if isinstance(value, Construct) and isinstance(value.type, Struct):
            for (name, _), part in zip(value.type.fields, value.args, strict=True):
                self._stored(replace(s, value=part), key_of(s.array.name, name), step, block)
            return
        self._stored(s, s.array.name, step, block)

    def _stored(self, s: ir.Store | ir.Atomic, key: str, step: Step, block: Block) -> None:
        if key not in self.gradients:
            if has_floats(s.value.type):
                raise Undifferentiable("an array whose elements carry no gradient")
            return
        if isinstance(s, ir.Store) and s.op not in ("", "add", "sub"):
            raise Undifferentiable("scales what it has written")
        if isinstance(s, ir.Atomic) and s.op not in ("add", "sub"):
            raise Undifferentiable(f"atomic {s.op}")
        array = self.gradients[key]
        indices = tuple(put(i, step.env) for i in s.indices)
        load = Load(array, indices, s.value.type)
        value = put(s.value, step.env)
        if isinstance(value, Var) and s.op != "sub" and not array.name.endswith(IN_PLACE):
            self.add(value, load, block)
            return
        kept = Var(self.names.fresh(f"adj_{s.array.name}"), load.type)
        block.out.append(ir.Assign(kept.name, load))
        if isinstance(s, ir.Store) and not s.op and array.name.endswith(IN_PLACE):
            block.out.append(ir.Store(array, indices, "", zero(load.type)))
        self.add(put(s.value, step.env), negated(kept) if s.op == "sub" else kept, block)

    def _condition(self, s: ir.If, step: Step, block: Block) -> None:
        ((test, first),) = s.branches
        bodies, live = [], set(block.live)
        for body in (first, s.orelse):
            inner = Block(set(live), {*step.env} | block.outer)
            with self.names.block():
                self.body(body, dict(step.env), inner)
            self._declare(inner.needed, block)
            bodies.append(tuple(inner.out))
        block.out.append(ir.If(((put(test, step.env), bodies[0]),), bodies[1]))

    def _declare(self, needed: Iterable[str], block: Block) -> None:
        """Adjoints that a block within this one adds to: they start at zero before it."""
        for name in sorted(needed):
            if name in block.live:
                continue
            block.live.add(name)
            if name in block.outer:
                block.needed.add(name)
            else:
                adjoint = self.adjoint(name)
                block.out.append(ir.Assign(adjoint.name, zero(adjoint.type)))

    def _loop(self, s: ir.For, step: Step, block: Block) -> None:
        while True:
            with self.names.block():
                counter = Var(self.names.counter(s), INT32)
                starts = {
                    name: Var(self.names.fresh(f"{name}_at"), step.env[name].type)
                    for name in assigned(s.body)
                    if name in step.env
                }
                self.primal.source |= {new.name: name for name, new in starts.items()}
                inner = Block(set(block.live), {*step.env} | block.outer)
                env = {**step.env, **starts, s.name: counter}
                self.body(s.body, dict(env), inner)
                if not inner.needed - block.live:
                    block.out.append(self._turned(s, step, inner, counter, starts))
                    return
            self._declare(inner.needed, block)

    def _turned(
        self, s: ir.For, step: Step, inner: Block, counter: Var, starts: dict[str, Var]
    ) -> ir.Statement:
        """The loop of a body that is reversed, backwards where the order of its turns matters."""
        older = {self.adjoint(n).name for n in inner.outer if n in self.types}
        body, read = swept(inner.out, older)
        bounds = put(s.start, step.env), put(s.stop, step.env)
        if read & {v.name for v in starts.values()}:
            self.replayed = True
            begun = [ir.Assign(new.name, step.env[name]) for name, new in starts.items()]
            with self.names.block():
                again = self.names.counter(replace(s, name=f"{s.name}_before"))
                env = {**step.env, **starts, s.name: Var(again, INT32)}
                turn = tuple(copied(s.body, env, self.names))
            replay = ir.For(again, bounds[0], counter, s.step, turn)
            body = tuple(swept((*begun, replay, *body), older)[0])
        if not depends_on_order(body, older):
            return ir.For(counter.name, *bounds, s.step, body)
        return ir.For(counter.name, *_backwards(*bounds, s.step), -s.step, body)

    def add(self, e: Expr, g: Expr, block: Block, out: Expr | None = None) -> None:
        """Add what an expression with the cotangent ``g`` gives to the adjoints of its parts.

        ``out`` is a variable that holds its value.
        """
        if is_zero(g) or not differentiable(e.type) or isinstance(e, Const | Extent):
            return
        if isinstance(e, Field):
            self._add_to_field(e, g, block)
        elif isinstance(e, Var):
            self._add_to(e, g, block)
        elif isinstance(e, Load):
            self._add_to_element(e, g, block)
        elif isinstance(e, Cast):
            self._add_to_cast(e, g, block)
        elif isinstance(e, Component):
            self._add_to_part(e, g, block)
        elif isinstance(e, Construct):
            self._add_to_parts(e, g, block)
        elif isinstance(e, Op):
            vjp = vjp_of(e.op)
            if sum(self._reaches(a) for a in e.args) > 1 or not _is_linear(e):
                g = self._named(g, block, "adj")
            for a, term in zip(e.args, vjp(e.args, out or e, g), strict=True):
                if term is not None and self._reaches(a):
                    self.add(a, term, block)
        else:
            raise Undifferentiable(f"{type(e).__name__}")

    def _add_to_field(self, e: Field, g: Expr, block: Block) -> None:
        whole = e.value
        if isinstance(whole, Var) and whole.name in self.given:
            return
        if not isinstance(whole, Load):
            raise Undifferentiable("a field of a struct that is chosen")
        self._add_at(key_of(whole.array.name, e.name), whole, g, block)

    def _add_to_cast(self, e: Cast, g: Expr, block: Block) -> None:
        if isinstance(e.value, Load) and e.value.type == FLOAT16 and g.type == FLOAT32:
            self._add_to_element(e.value, g, block)
        elif differentiable(e.value.type):
            self.add(e.value, Cast(g, scalar_of(e.value.type)), block)

    def _reaches(self, e: Expr) -> bool:
        """Whether an expression depends on a variable or an array that carries a gradient."""
        if not differentiable(e.type):
            return False
        return any(n in self.primal.source or n in self.carrying for n in names_read([e]))

    def _named(self, g: Expr, block: Block, name: str) -> Expr:
        if is_short(g):
            return g
        new = Var(self.names.fresh(f"{name}_value"), g.type)
        block.out.append(ir.Assign(new.name, g))
        return new

    def _add_to(self, e: Var, g: Expr, block: Block) -> None:
        if e.name not in self.primal.source:
            return
        name = self.primal.source[e.name]
        if name in self.constant:
            return
        self.types[name] = e.type
        adjoint = self.adjoint(name)
        if name not in block.live and name not in block.outer:
            block.live.add(name)
            block.out.append(ir.Assign(adjoint.name, g))
            return
        if name not in block.live:
            block.live.add(name)
            block.needed.add(name)
        if isinstance(g, Op) and g.op == "neg":
            block.out.append(ir.AugAssign(adjoint.name, "sub", g.args[0]))
        else:
            block.out.append(ir.AugAssign(adjoint.name, "add", g))

    def _add_to_element(self, e: Load, g: Expr, block: Block) -> None:
        self._add_at(e.array.name, e, g, block)

    def _add_at(self, key: str, e: Load, g: Expr, block: Block) -> None:
        array = self.gradients.get(key)
        if array is None:
            raise Undifferentiable("an array whose elements carry no gradient")
        if g.type == FLOAT16:
            g = Cast(g, FLOAT32)
        if e.array.name in self.owned:
            block.out.append(ir.Store(array, e.indices, "add", g))
        elif scalar_of(g.type).bits < 32:
            raise Undifferentiable("no atomic add of float16")
        else:
            block.out.append(ir.Atomic("add", array, e.indices, g))

    def _add_to_part(self, e: Component, g: Expr, block: Block) -> None:
        if not isinstance(e.value, Var):
            whole = of_component(e.value, e, g)
            if whole is None:
                raise Undifferentiable("a component whose index is not a literal")
            self.add(e.value, whole, block)
            return
        if e.value.name not in self.primal.source:
            return
        name = self.primal.source[e.value.name]
        self.types[name] = e.value.type
        if name not in block.live:
            if name in block.outer:
                block.live.add(name)
                block.needed.add(name)
            else:
                self._declare([name], block)
        block.out.append(ir.SetComponent(self.adjoint(name).name, e.indices, "add", g))

    def _add_to_parts(self, e: Construct, g: Expr, block: Block) -> None:
        if not any(self._reaches(a) for a in e.args):
            return
        shape = getattr(e.type, "shape", None)
        if shape is None:
            raise Undifferentiable(f"{type(e.type).__name__}")
        g = g if isinstance(g, Construct) and len(g.args) > 1 else self._named(g, block, "adj")
        places = (
            [(k,) for k in range(shape[0])]
            if len(shape) == 1
            else [(r, c) for r in range(shape[0]) for c in range(shape[1])]
        )
        if isinstance(g, Construct) and len(g.args) == len(places):
            parts: Sequence[Expr] = g.args
        else:
            parts = [part_of(g, place) for place in places]
        if len(e.args) == 1 and not isinstance(e.type, Quat):
            total = parts[0]
            for part in parts[1:]:
                total = plus(total, part)
            self.add(e.args[0], total, block)
            return
        for a, part in zip(e.args, parts, strict=True):
            if self._reaches(a):
                self.add(a, part, block)


def _is_linear(e: Op) -> bool:
    return e.op in ("add", "sub", "neg", "mul", "div", "transpose")


def _backwards(start: Expr, stop: Expr, step: int) -> tuple[Expr, Expr]:
    """Start and stop of a range in the other direction."""
    if isinstance(start, Const) and isinstance(stop, Const):
        turns = range(int(start.value), int(stop.value), step)
        last = turns[-1] if turns else turns.start
        return literal(last, INT32), literal(turns.start - step, INT32)
    if step not in (1, -1):
        raise Undifferentiable("a stride over a range of unknown length")
    return _moved(stop, -step), _moved(start, -step)


def _moved(e: Expr, by: int) -> Expr:
    if isinstance(e, Const):
        return literal(int(e.value) + by, INT32)
    return e - 1 if by == -1 else e + 1
