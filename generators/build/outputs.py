"""Side outputs: a kernel keeps its result and one more, and what only the others needed goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from generators.build.draw import Stream
from generators.build.siblings import are_siblings
from generators.program import ir
from generators.program.dtypes import Array, Struct, Type
from generators.program.expr import Call, Construct, Extent
from generators.program.prune import pruned
from generators.program.walk import expressions, names_read, operands, statements

MOST_SIDES = 1
KEPT = 0.35
"""How often a side output stays that nothing else needs."""


@dataclass
class Draft:
    """A program before it is put together; ``text`` is its description."""

    params: list[ir.Param]
    functions: list[ir.Function]
    structs: list[Struct]
    sizes: dict[str, ir.Size]
    body: ir.Body
    text: str


def slimmed(draft: Draft, launch: Sequence[str], draw: Stream) -> Draft:
    """The draft without the outputs that are too many, as far as each stands in a clause of its own
    that nothing else refers to: all but the result, and :data:`MOST_SIDES` more where one is kept.
    """
    written = [p for p in draft.params if p.role != "in"]
    groups = together(written)
    most = 1 + (MOST_SIDES if len(groups) < 2 or draw.chance(KEPT) else 0)
    if len(groups) <= most:
        return draft
    kept = _main(groups, draft.text)
    others = [g for g in groups if g is not kept]
    for group in draw.sample(others, len(others)):
        if len(groups) <= most:
            break
        shorter = without(draft, [p.name for p in group], launch)
        if shorter is not None:
            draft, groups = shorter, [g for g in groups if g is not group]
    return draft


def together(written: Sequence[ir.Param]) -> list[list[ir.Param]]:
    """Outputs by what they belong to: parts of one vector or pair, whose names differ in a part."""
    groups: list[list[ir.Param]] = []
    for p in written:
        same = [g for g in groups if _siblings(g[0], p)]
        if same:
            same[0].append(p)
        else:
            groups.append([p])
    return groups


def _siblings(a: ir.Param, b: ir.Param) -> bool:
    alike = (a.type, a.shape, a.role) == (b.type, b.shape, b.role)
    return alike and are_siblings(a.name, b.name)


def _main(groups: list[list[ir.Param]], text: str) -> list[ir.Param]:
    """The result proper: the outputs that get "it", else the first."""
    for group in groups:
        gets = (rf"\b{p.name} (?:gets? it|becomes)\b|added to {p.name}\b" for p in group)
        if any(re.search(pattern, text) for pattern in gets):
            return group
    return groups[0]


def without(draft: Draft, names: Sequence[str], launch: Sequence[str]) -> Draft | None:
    """The draft without these outputs; None where they cannot be taken out."""
    if reads_of(draft) & set(names):
        return None
    text = _shortened(draft.text, names)
    body = _without(draft.body, names)
    if text is None or not body:
        return None
    body = pruned(body)
    functions = _called(draft.functions, body)
    found = replace(draft, functions=functions, body=body, text=text)
    read = reads_of(found)
    stored = {s.array.name for s in statements(body) if isinstance(s, ir.Store | ir.Atomic)}
    params = [p for p in draft.params if p.name in read | stored]
    gone = {p.name for p in draft.params if p not in params}
    told, left = set(_words(draft.text)), set(_words(text))
    if not stored or left & gone or stored & told - left:
        return None
    sizes = sizes_in_use(draft.sizes, params, launch)
    structs = [s for s in draft.structs if s in _structs(params, functions, body)]
    return replace(found, params=params, sizes=sizes, structs=structs)


def reads_of(draft: Draft) -> set[str]:
    """What a draft reads, and the arrays of which it asks the length."""
    bodies = (draft.body, *(f.body for f in draft.functions))
    found = [e for body in bodies for e in expressions(body)]
    return set(names_read(found)) | {e.array.name for e in found if isinstance(e, Extent)}


def _shortened(text: str, names: Sequence[str]) -> str | None:
    """A description without the clause on these outputs; None where it is not one by itself."""
    found = re.split(r"(?<=[.;]) (?=[A-Za-z])", text)
    about = [n for n, clause in enumerate(found) if set(_words(clause)) & set(names)]
    if not about or about[0] == 0:
        return None
    for n in about:
        after = found[n + 1] if n + 1 < len(found) and n + 1 not in about else ""
        others = " ".join(clause for m, clause in enumerate(found) if m not in about)
        if not _alone(found[n], names, others) or re.search(r"\b(?:it|its|that|those)\b", after):
            return None
    about += [n - 1 for n in about if _leads(found[n - 1], found[n], found[n + 1 :])]
    left: list[str] = []
    for n, clause in enumerate(found):
        if n not in about:
            left.append(clause)
        elif clause.endswith(".") and left[-1].endswith(";"):
            left[-1] = f"{left[-1][:-1]}."
    return " ".join(left)


def _alone(clause: str, names: Collection[str], others: str) -> bool:
    """Whether a clause says what these outputs get, and nothing that the ``others`` speak of."""
    plain = _ALONE.fullmatch(clause)
    defined = re.findall(r"\b([A-Za-z_]\w*)'? = ", clause)
    apart = not any(re.search(rf"\b{word}\b", others) for word in defined)
    return plain is not None and (plain[1] or plain[2] or plain[3]) in names and apart


def _leads(clause: str, then: str, rest: Sequence[str]) -> bool:
    """Whether a clause only gives a name for the next one: ``Let p be that point.``"""
    named = re.fullmatch(r"Let (\w+) be [^=;]*[.;]", clause)
    return named is not None and not any(re.search(rf"\b{named[1]}\b", text) for text in rest)


_ALONE = re.compile(
    r"(\w+) gets? [^;]*[.;]|(?:add|subtract) [^=;]* (?:to|from) (\w+)\[[^=;]*[.;]"
    r"|(?:raise|lower) (\w+)\[[^=;]*[.;]"
)
"""A clause that does nothing but say what one output gets."""


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)


def sizes_in_use(
    sizes: Mapping[str, ir.Size], params: Sequence[ir.Param], launch: Sequence[str]
) -> dict[str, ir.Size]:
    """The sizes that shapes, values of parameters or the launch speak of."""
    told = {word for p in params for word in _sizes(p)} | set(_words(" ".join(launch)))
    return {symbol: size for symbol, size in sizes.items() if symbol in told}


def _sizes(p: ir.Param) -> list[str]:
    return _words(" ".join([*p.shape, p.init.partition(":")[2]]))


def _without(body: ir.Body, names: Collection[str]) -> ir.Body | None:
    """A body without stores to some arrays and without what only these needed; None where an arm of
    a branch would be empty."""
    left = _filtered(body, lambda s: isinstance(s, ir.Store | ir.Atomic) and s.array.name in names)
    if left is None:
        return None
    live = _live(left)
    return _filtered(left, lambda s: isinstance(s, _LOCAL) and s.name not in live)


_LOCAL = (ir.Assign, ir.AugAssign, ir.SetComponent, ir.SetField)


def _live(body: ir.Body) -> set[str]:
    """The locals on which anything that is stored depends, or where a thread goes."""
    needs: list[tuple[str, set[str]]] = []
    live: set[str] = set()

    def visit(block: ir.Body, around: set[str]) -> None:
        for s in block:
            read = around | set(names_read(operands(s)))
            if isinstance(s, ir.If):
                for arm in (*(arm for _, arm in s.branches), s.orelse):
                    visit(arm, read)
            elif isinstance(s, ir.For | ir.While):
                visit(s.body, read)
            elif isinstance(s, _LOCAL):
                needs.append((s.name, read))
            else:
                live.update(read)

    visit(body, set())
    while more := {n for name, read in needs if name in live for n in read} - live:
        live |= more
    return live


def _filtered(body: ir.Body, gone: Callable[[ir.Statement], bool]) -> ir.Body | None:
    """A body without some statements; None where one arm of a branch would be empty, not all."""
    left: list[ir.Statement] = []
    for s in body:
        if isinstance(s, ir.If):
            arms = [(test, _filtered(arm, gone)) for test, arm in s.branches]
            orelse = _filtered(s.orelse, gone)
            if any(arm is None for _, arm in arms) or orelse is None:
                return None
            if not any(arm for _, arm in arms) and not orelse:
                continue
            if not all(arm for _, arm in arms):
                return None
            left.append(ir.If(tuple((t, a) for t, a in arms if a), orelse))
        elif isinstance(s, ir.For | ir.While):
            inner = _filtered(s.body, gone)
            if inner is None:
                return None
            left += [replace(s, body=inner)] if inner else []
        elif not gone(s):
            left.append(s)
    return tuple(left)


def _called(functions: Sequence[ir.Function], body: ir.Body) -> list[ir.Function]:
    """The helpers that are still called, in order."""
    wanted, todo = set[str](), [body]
    while todo:
        for e in expressions(todo.pop()):
            if isinstance(e, Call) and e.function not in wanted:
                wanted.add(e.function)
                todo += [f.body for f in functions if f.name == e.function]
    return [f for f in functions if f.name in wanted]


def _structs(
    params: Sequence[ir.Param], functions: Sequence[ir.Function], body: ir.Body
) -> list[Type]:
    """The structs that are still used."""
    bodies = (body, *(f.body for f in functions))
    found: list[Type] = [p.type.element if isinstance(p.type, Array) else p.type for p in params]
    found += [t for f in functions for t in (f.result, *(v.type for v in f.params))]
    found += [e.type for b in bodies for e in expressions(b) if isinstance(e, Construct)]
    inner = [t for s in found if isinstance(s, Struct) for _, t in s.fields]
    return [t for t in (*found, *inner) if isinstance(t, Struct)]
