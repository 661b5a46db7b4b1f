"""Names in the source of one function: which it takes from outside, what they mean, edits."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

Edit = tuple[int, int, str]


@dataclass(frozen=True)
class Source:
    """The text of one function definition, dedented, decorators included."""

    text: str
    node: ast.FunctionDef

    @staticmethod
    def parse(text: str) -> Source:
        """Raises ValueError when the text does not start with a function definition."""
        node = ast.parse(text).body[0]
        if not isinstance(node, ast.FunctionDef):
            raise ValueError("its source is no plain function definition")
        return Source(text, node)

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Where a node stands, as offsets into the UTF-8 bytes of ``text``."""
        starts = self._line_starts()
        return (
            starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    def _line_starts(self) -> list[int]:
        starts = [0]
        for line in self.text.encode().splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    def definition(self, edits: list[Edit]) -> str:
        """The text from ``def`` on, edited, closed by a newline."""
        data = self.text.encode()
        for start, end, new in sorted(set(edits), reverse=True):
            data = data[:start] + new.encode() + data[end:]
        # decorators stand before any edit, so this offset holds
        return data[self._line_starts()[self.node.lineno - 1] :].decode().rstrip() + "\n"

    def renamed(self, name: str) -> Edit:
        """The edit that gives the function another name."""
        start, _ = self.span(self.node)
        own = self.node.name.encode()
        at = self.text.encode().index(own, start + len("def "))
        return at, at + len(own), name

    def annotations(self) -> Iterator[tuple[str, ast.expr]]:
        """(parameter, annotation) of each annotated parameter; the result is ``return``."""
        arguments = self.node.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            if arg.annotation is not None:
                yield arg.arg, arg.annotation
        if self.node.returns is not None:
            yield "return", self.node.returns

    def outer_names(self) -> set[str]:
        """Names that the body and the defaults take from outside."""
        arguments = self.node.args
        defaults = [d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None]
        own = {arg.arg for arg in ast.walk(self.node) if isinstance(arg, ast.arg)}
        own |= {n.id for n in self._names() if not isinstance(n.ctx, ast.Load)}
        loaded = {n.id for n in self._names() if isinstance(n.ctx, ast.Load)}
        return (loaded - own) | {name for d in defaults for name in names_in(d)}

    def own_names(self) -> set[str]:
        """Names that the function binds itself."""
        own = {arg.arg for arg in ast.walk(self.node) if isinstance(arg, ast.arg)}
        return own | {n.id for n in self._names() if not isinstance(n.ctx, ast.Load)}

    def _names(self) -> Iterator[ast.Name]:
        for statement in self.node.body:
            yield from (n for n in ast.walk(statement) if isinstance(n, ast.Name))

    def attributes(self) -> Iterator[ast.Attribute]:
        """Every attribute access, outermost first; annotations included, decorators not."""
        parts: list[ast.AST] = [self.node.args, *self.node.body]
        if self.node.returns is not None:
            parts.append(self.node.returns)
        for part in parts:
            yield from (n for n in ast.walk(part) if isinstance(n, ast.Attribute))


def names_in(node: ast.AST) -> set[str]:
    """All names that stand in a piece of source."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


class Surroundings(Mapping[str, Any]):
    """What the names around a function mean: its closure, then its module, then the builtins."""

    def __init__(self, function: FunctionType) -> None:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._closure = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        self._module = function.__globals__

    def __getitem__(self, name: str) -> Any:
        for scope in (self._closure, self._module, vars(builtins)):
            if name in scope:
                return scope[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter({**vars(builtins), **self._module, **self._closure})

    def __len__(self) -> int:
        return len({**vars(builtins), **self._module, **self._closure})

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression; raises what Python raises."""
        code = compile(ast.Expression(node), "<annotation>", "eval")
        return eval(code, dict(self._module), dict(self._closure))

    def evaluates(self, node: ast.expr) -> bool:
        """Whether an expression has a value here."""
        try:
            self.evaluate(node)
        except Exception:  # noqa: BLE001 - an annotation may be any expression
            return False
        return True


def _is_filled(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
