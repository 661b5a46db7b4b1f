"""A backward body as a person would leave it: plain names, vectors made of their components."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import Quat, Vec
from generators.program.expr import Const, Construct, Expr, Var
from generators.program.walk import expressions, names_read, statements
from synth.gradient.sweep import LOCAL, renamed
from synth.gradient.terms import is_zero, negated, zero

_MADE_UP = re.compile(r"adj_value(_\d+)?|adj_\w+_after(_\d+)?")
"""Names of adjoints of what has no name in the program."""
_NUMBERED = re.compile(r"(.+?)_\d+")


def plainly_named(body: ir.Body, taken: Iterable[str], given: Iterable[str]) -> ir.Body:
    """A body whose variables have no number behind their names that nothing asks for any more.

    ``taken`` are names from outside the body, ``given`` names that people gave: they stay.
    """
    local = dict.fromkeys(s.name for s in statements(body) if isinstance(s, (*LOCAL, ir.For)))
    used, kept, new = {*local, *taken}, set(given), {}
    for name in local:
        numbered = _NUMBERED.fullmatch(name)
        if numbered is None or name in kept:
            continue
        wanted, number = numbered[1], 1
        while wanted in used and wanted != name:
            number += 1
            wanted = f"{numbered[1]}_{number}"
        if wanted != name:
            new[name] = wanted
            used = used - {name} | {wanted}
    return renamed(body, new)


def without_aliases(body: ir.Body) -> ir.Body:
    """A body without second names for variables that never change.

    Of the two names that of the program's own variable stays.
    """
    writes = Counter(s.name for s in statements(body) if isinstance(s, LOCAL))
    new: dict[str, str] = {}
    for block in _blocks(body):
        here = {s.name for s in block if isinstance(s, ir.Assign) and writes[s.name] == 1}
        for s in block:
            if isinstance(s, ir.Assign) and s.name in here and isinstance(s.value, Var):
                older = new.get(s.value.name, s.value.name)
                if older in here:
                    new[s.name] = older
    named = {older: name for name, older in reversed(new.items()) if _MADE_UP.fullmatch(older)}
    final = {name: named.get(older, older) for name, older in new.items()} | named
    return renamed(_without(body, set(new)), final)


def begun_once(body: ir.Body) -> ir.Body:
    """A body in which a variable begins with its value, and not with that of one that is made for
    it alone, or with a zero to which its value is added next."""
    writes = Counter(s.name for s in statements(body) if isinstance(s, LOCAL))
    reads = Counter(e.name for e in expressions(body) if isinstance(e, Var))
    new: dict[str, str] = {}
    for block in _blocks(body):
        begins = {
            s.name: s.value for s in block if isinstance(s, ir.Assign) and writes[s.name] == 1
        }
        for s in block:
            if not (isinstance(s, ir.Assign) and isinstance(s.value, Var)):
                continue
            older = s.value.name
            if older in begins and reads[older] == 1 and not names_read([begins[older]]):
                new[s.name] = older
    # The copy goes; what it was copied to has the name of what is left.
    return _summed(renamed(_without_copies(body, new), new))


def _without_copies(body: ir.Body, copies: Mapping[str, str]) -> ir.Body:
    def is_copy(s: ir.Statement) -> bool:
        return isinstance(s, ir.Assign) and s.value == Var(copies.get(s.name, ""), s.value.type)

    return _mapped(body, lambda block: [s for s in block if not is_copy(s)])


def _summed(body: ir.Body) -> ir.Body:
    def merged(block: Sequence[ir.Statement]) -> list[ir.Statement]:
        found: list[ir.Statement] = []
        for s in block:
            last = found[-1] if found else None
            if (
                isinstance(s, ir.AugAssign)
                and s.op in ("add", "sub")
                and isinstance(last, ir.Assign)
                and last.name == s.name
                and is_zero(last.value)
                and s.name not in names_read([s.value])
                and s.value.type == last.value.type
            ):
                value = s.value if s.op == "add" else negated(s.value)
                found[-1] = ir.Assign(s.name, value)
            else:
                found.append(s)
        return found

    return _mapped(body, merged)


def _mapped(
    body: ir.Body, change: Callable[[Sequence[ir.Statement]], list[ir.Statement]]
) -> ir.Body:
    """A body, and each within it, put through ``change``."""
    found: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            branches = tuple((test, _mapped(inner, change)) for test, inner in s.branches)
            s = ir.If(branches, _mapped(s.orelse, change))
        elif isinstance(s, ir.For):
            s = replace(s, body=_mapped(s.body, change))
        found.append(s)
    return tuple(change(found))


def _blocks(body: ir.Body) -> Iterator[ir.Body]:
    yield body
    for s in body:
        if isinstance(s, ir.For):
            yield from _blocks(s.body)
        elif isinstance(s, ir.If):
            for inner in (*(b for _, b in s.branches), s.orelse):
                yield from _blocks(inner)


def _without(body: ir.Body, names: set[str]) -> ir.Body:
    def kept(block: Sequence[ir.Statement]) -> list[ir.Statement]:
        return [s for s in block if not (isinstance(s, ir.Assign) and s.name in names)]

    return _mapped(body, kept)


def constructed(body: ir.Body) -> ir.Body:
    """A body in which a vector of zeros that is given its components next is made of these."""

    def merged(block: Sequence[ir.Statement]) -> list[ir.Statement]:
        found: list[ir.Statement] = []
        for s in block:
            last = found[-1] if found else None
            if isinstance(s, ir.SetComponent) and isinstance(last, ir.Assign):
                whole = _with_part(last, s)
                if whole is not None:
                    found[-1] = whole
                    continue
            found.append(s)
        return found

    return _mapped(body, merged)


def _with_part(s: ir.Assign, part: ir.SetComponent) -> ir.Assign | None:
    """The assignment with one component given, None where the component is not zero so far."""
    value, (index, *more) = s.value, part.indices
    if part.name != s.name or more or not isinstance(value.type, Vec | Quat):
        return None
    if not isinstance(value, Construct) or not isinstance(index, Const):
        return None
    if s.name in names_read([part.value]) or part.op not in ("", "add", "sub"):
        return None
    parts = _parts(value)
    place = int(index.value)
    if not is_zero(parts[place]):
        return None
    parts[place] = negated(part.value) if part.op == "sub" else part.value
    return replace(s, value=Construct(tuple(parts), value.type))


def _parts(value: Construct) -> list[Expr]:
    """The components of a vector; a vector of zeros may be written as one of them."""
    assert isinstance(value.type, Vec | Quat)
    size = value.type.size if isinstance(value.type, Vec) else 4
    if len(value.args) == size:
        return list(value.args)
    return [value.args[0] if size > 1 else zero(value.type.scalar)] * size
