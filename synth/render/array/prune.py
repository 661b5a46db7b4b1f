"""Lines that nothing needs: places that became slices, sizes that no line reads any more."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from synth.render.breaks import TAB

_Assignment = ast.Assign | ast.AugAssign


def pruned(lines: Sequence[str], returned: Sequence[str]) -> list[str]:
    """The lines of a function's body without assignments to variables that no line reads, and
    without loops that are empty then; ``returned`` are texts of what comes after them."""
    head = "def f():\n"
    kept = "\n".join(lines).split("\n")
    while True:
        text = head + "\n".join([*kept, " " * TAB + "return " + ", ".join(returned)])
        gone = _unread(ast.parse(text).body[0])  # type: ignore[arg-type]
        if not gone:
            return kept
        kept = [line for at, line in enumerate(kept, start=2) if at not in gone]


def names_in(lines: Sequence[str]) -> set[str]:
    """Every name that lines of a body read."""
    tree = ast.parse("def f():\n" + "\n".join([*lines, " " * TAB + "pass"]))
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _unread(function: ast.FunctionDef) -> set[int]:
    """The numbers of lines that may go."""
    reads = _Reads()
    read = reads(function)
    gone: set[int] = set()
    statements = list(_statements([function]))
    for node in statements:
        if isinstance(node, _Assignment):
            names = _assigned(node)
            own = reads(node.value)
            if names and all(read[name] <= own[name] * (len(names) == 1) for name in names):
                gone.update(_span(node))
    for body in _blocks(statements):
        for place, node in enumerate(body):
            if isinstance(node, ast.Assign) and _set_again(node, body[place + 1 :], reads):
                gone.update(_span(node))
    for node in statements:
        if isinstance(node, ast.For | ast.If):
            spans = [_span(s) for s in [*node.body, *node.orelse]]
            if all(line in gone for span in spans for line in span):
                gone.update(_span(node))
    return gone


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, outer ones first."""
    yield from body
    for node in body:
        for field in ("body", "orelse"):
            yield from _statements(getattr(node, field, ()))


def _blocks(statements: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.For | ast.If):
            yield node.body
            if isinstance(node, ast.If):
                yield node.orelse


class _Reads:
    """How often a part of one tree reads each name, counted once: statements are asked about for
    each assignment before them."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, Counter[str]] = {}

    def __call__(self, node: ast.AST) -> Counter[str]:
        if node not in self._known:
            found: Counter[str] = Counter()
            _count(node, found)
            self._known[node] = found
        return self._known[node]


def _count(node: ast.AST, found: Counter[str]) -> None:
    """Names that are read; `ast.walk` takes three times as long, for it visits contexts too."""
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load):
            found[node.id] += 1
        return
    for field in node._fields:
        value = getattr(node, field, None)
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, ast.AST):
                _count(part, found)


def _set_again(node: ast.Assign, later: Sequence[ast.stmt], reads: _Reads) -> bool:
    """Whether a variable gets another value before anything reads this one."""
    names = _assigned(node)
    if len(names) != 1:
        return False
    for s in later:
        first = s.iter if isinstance(s, ast.For) else s
        if names[0] in reads(first):
            return False
        if isinstance(s, ast.For) and isinstance(s.target, ast.Name) and s.target.id == names[0]:
            return True
        if isinstance(s, ast.For) and names[0] in reads(s):
            return False
        if isinstance(s, ast.Assign) and names[0] in _assigned(s):
            return True
    return False


def changed_in_place(lines: Sequence[str], name: str) -> bool:
    """Whether lines of a body change an array in place, or never give its name to another one."""
    tree = ast.parse("def f():\n" + "\n".join([*lines, " " * TAB + "pass"]))
    nodes = list(ast.walk(tree))
    targets = [t for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
    targets += [n.target for n in nodes if isinstance(n, ast.AugAssign)]
    parts = [t for t in targets if not isinstance(t, ast.Name) and name in _all_names(t)]
    again = [n for n in nodes if isinstance(n, ast.AugAssign) and name in _all_names(n.target)]
    calls = [n for n in nodes if isinstance(n, ast.Expr) and name in _all_names(n)]
    body = tree.body[0]
    assert isinstance(body, ast.FunctionDef)
    whole = any(isinstance(s, ast.Assign) and name in _assigned(s) for s in body.body)
    return bool(parts or again or calls) or not whole


def _all_names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _span(node: ast.stmt) -> range:
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def _assigned(node: _Assignment) -> list[str]:
    """The variables of an assignment to nothing else."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names: list[str] = []
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        if not all(isinstance(part, ast.Name) for part in parts):
            return []
        names += [part.id for part in parts if isinstance(part, ast.Name)]
    return names
