"""The values that an adjoint needs, computed again: each assignment under a name of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from generators.program import ir
from generators.program.dtypes import INT32
from generators.program.expr import Const, Expr, Extent, Load, Op, Var, op
from generators.program.walk import changed, expressions, operands, statements
from synth.gradient.sweep import LOCAL, Local, assigned
from synth.gradient.terms import Undifferentiable

Env = dict[str, Var]


@dataclass(frozen=True)
class Step:
    """A statement, its own expressions read before it, and the variable that it makes."""

    statement: ir.Statement
    env: Mapping[str, Var]
    result: Var | None = None


class Names:
    """Names in nested blocks: a counter's is taken where it can be seen, others for good, since the
    printers declare a name that two blocks assign once and with one type."""

    def __init__(self, taken: set[str]) -> None:
        self.scopes = [set(taken)]

    def fresh(self, wanted: str) -> str:
        """The name itself, or with the first number that makes it new."""
        name = self._free(wanted)
        self.scopes[0].add(name)
        return name

    def _free(self, wanted: str) -> str:
        name, number = wanted, 1
        while any(name in scope for scope in self.scopes):
            number += 1
            name = f"{wanted}_{number}"
        return name

    def counter(self, loop: ir.For) -> str:
        """A counter in the block of its loop; the printers give an end that is computed a name
        beside the loop, so that then no other loop there may have the counter's."""
        if not isinstance(loop.stop, Const | Extent | Var):
            return self.fresh(loop.name)
        name = self._free(loop.name)
        self.scopes[-1].add(name)
        return name

    @contextmanager
    def block(self) -> Iterator[None]:
        self.scopes.append(set())
        yield
        self.scopes.pop()


class Primal:
    """Runs through a body forwards: what is to be computed again, and the steps to be reversed."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.source: dict[str, str] = {}
        self.stored: set[str] = set()

    def run(self, body: ir.Body, env: Env) -> tuple[list[ir.Statement], list[Step]]:
        """The statements and steps of a body; ``env`` is left as it is after the body."""
        found: list[ir.Statement] = []
        steps: list[Step] = []
        for s in body:
            self._require_unwritten(s)
            before = dict(env)
            if isinstance(s, LOCAL):
                result = self._local(s, env, found)
                steps.append(Step(s, before, result))
                continue
            steps.append(Step(s, before))
            if isinstance(s, ir.If | ir.For):
                for name in assigned((s,)):
                    if name in env:
                        new = self.version(name, env[name])
                        found.append(ir.Assign(new.name, env[name]))
                        env[name] = new
                with self.names.block():
                    found += copied((s,), env, self.names)
        return found, steps

    def version(self, name: str, old: Var) -> Var:
        """A new variable for a later value of one of the program's variables."""
        new = Var(self.names.fresh(name), old.type)
        self.source[new.name] = name
        return new

    def _local(self, s: Local, env: Env, found: list[ir.Statement]) -> Var:
        if isinstance(s, ir.SetComponent):
            new = self.version(s.name, env[s.name])
            found.append(ir.Assign(new.name, env[s.name]))
            changed_part = replace(s, name=new.name)
            found.append(put(changed_part, env))
        else:
            value = put(value_of(s, env), env)
            new = self.version(s.name, Var(s.name, value.type))
            found.append(ir.Assign(new.name, value))
        env[s.name] = new
        return new

    def _require_unwritten(self, s: ir.Statement) -> None:
        """Only what an array holds at the start can be read again."""
        inner = [s, *statements((s,))] if isinstance(s, ir.For) else [s]
        if isinstance(s, ir.For):
            self.stored |= {o.array.name for o in inner if isinstance(o, ir.Store | ir.Atomic)}
        read = {
            e.array.name
            for o in inner
            for top in operands(o)
            for e in expressions((ir.Assign("_", top),))
            if isinstance(e, Load)
        }
        if read & self.stored:
            raise Undifferentiable("reads what it has written")
        if isinstance(s, ir.Store | ir.Atomic):
            self.stored.add(s.array.name)


def value_of(s: ir.Statement, env: Mapping[str, Var]) -> Expr:
    """What a variable becomes, ``v op= x`` written out."""
    if isinstance(s, ir.AugAssign):
        return op(s.op, Var(s.name, env[s.name].type), s.value)
    assert isinstance(s, ir.Assign)
    return s.value


def put(node: Any, env: Mapping[str, Var]) -> Any:
    """A statement or expression with the present names of the variables that it reads."""

    def change(part: Any) -> Any:
        return env.get(part.name, part) if isinstance(part, Var) else part

    return changed(node, change)


def copied(body: ir.Body, env: Mapping[str, Var], names: Names) -> list[ir.Statement]:
    """A body that computes its variables again, in place, without what it does to memory."""
    env = dict(env)
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            ((test, first),) = s.branches
            with names.block():
                then = tuple(copied(first, env, names))
            with names.block():
                orelse = tuple(copied(s.orelse, env, names))
            found.append(ir.If(((put(test, env), then),), orelse))
        elif isinstance(s, ir.For):
            with names.block():
                counter = Var(names.counter(s), INT32)
                inner = tuple(copied(s.body, {**env, s.name: counter}, names))
            bounds = put(s.start, env), put(s.stop, env)
            found.append(ir.For(counter.name, *bounds, s.step, inner))
        elif isinstance(s, LOCAL):
            new = put(s, env)
            if s.name not in env:
                assert isinstance(s, ir.Assign)
                env[s.name] = Var(names.fresh(s.name), s.value.type)
            found.append(replace(new, name=env[s.name].name))
    return found


def is_sum_with(e: Expr, own: Var) -> tuple[Expr, bool] | None:
    """The term x of ``own + x``, ``x + own`` or (then True) ``own - x``; None for other forms."""
    if not isinstance(e, Op) or e.op not in ("add", "sub"):
        return None
    a, b = e.args
    if a == own:
        return b, e.op == "sub"
    return (a, False) if b == own and e.op == "add" else None
