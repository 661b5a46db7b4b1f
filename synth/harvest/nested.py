"""Kernels inside functions that an import does not call, made without calling the function.

A kernel that takes nothing from its function but other definitions there means the same when only
these definitions run. They are compiled as they stand, with their own lines, in a function of the
same name without parameters: nothing else of the function's body is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from synth.harvest.find import is_kernel_decorator, one_line

_WARP_DEFINITIONS = frozenset({"func", "struct", "func_native", "func_grad", "func_replay"})
USES_LOCALS = "not reached: uses what the function around it makes"


def reach_nested(path: Path, namespace: Mapping[str, Any], made: set[int]) -> dict[int, str]:
    """Make the kernels inside functions, except those whose first lines are in ``made``.

    Returns the reason by first line for each that could not be made.
    """
    reasons: dict[int, str] = {}
    for function, outer in _functions(ast.parse(path.read_bytes()), frozenset()):
        for kernel in function.body:
            if isinstance(kernel, ast.FunctionDef) and _is_kernel(kernel):
                first = first_line(kernel)
                if first not in made:
                    reason = _make(function, kernel, outer, path, namespace)
                    if reason:
                        reasons[first] = reason
    return reasons


def first_line(node: ast.FunctionDef) -> int:
    """The line of the first decorator, where Python says that a function starts."""
    return min([d.lineno for d in node.decorator_list] + [node.lineno])


def _functions(
    node: ast.AST, outer: frozenset[str]
) -> Iterator[tuple[ast.FunctionDef, frozenset[str]]]:
    """Each function with the names that the functions around it bind."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef) and not _is_kernel(child):
            yield child, outer
            yield from _functions(child, outer | _bound(child.body) | _parameters(child))
        elif not isinstance(child, ast.FunctionDef):
            yield from _functions(child, outer)


def _make(
    function: ast.FunctionDef,
    kernel: ast.FunctionDef,
    outer: frozenset[str],
    path: Path,
    namespace: Mapping[str, Any],
) -> str:
    """Run the definitions that a kernel needs; why that cannot be, or "" when it is made."""
    before = [s for s in function.body if s.lineno < kernel.lineno and _is_definition(s)]
    needed = _needed([*before, kernel])
    kept = {id(statement) for statement in needed}
    rest = _bound([s for s in function.body if id(s) not in kept])
    if _used(needed) & (rest | _parameters(function) | outer):
        return USES_LOCALS
    tree = ast.parse(f"def {function.name}(): pass")
    tree.body[0].body = needed  # type: ignore[attr-defined]
    scope = dict(namespace)
    try:
        exec(compile(tree, str(path), "exec"), scope)
        scope[function.name]()
    except Exception as error:  # noqa: BLE001 - the definitions may be made to fail
        return f"not reached: {one_line(error)}"
    return ""


def _needed(definitions: list[ast.stmt]) -> list[ast.stmt]:
    """The last definition and those before it that it needs, directly or not."""
    needed = [definitions[-1]]
    for statement in reversed(definitions[:-1]):
        if _bound([statement]) & _used(needed) or _extends(statement, needed):
            needed.insert(0, statement)
    return needed


def _extends(statement: ast.stmt, needed: list[ast.stmt]) -> bool:
    """Whether a definition is the adjoint of a function that is needed."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    return any(
        isinstance(d, ast.Call)
        and {n.id for n in ast.walk(d) if isinstance(n, ast.Name)} & _used(needed)
        for d in statement.decorator_list
        if _decorator_name(d) in ("func_grad", "func_replay")
    )


def _is_definition(node: ast.stmt) -> bool:
    """A Warp function or struct, an import, or a constant: what runs without its function."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return any(_decorator_name(d) in _WARP_DEFINITIONS for d in node.decorator_list)
    if isinstance(node, ast.Assign):
        return not any(isinstance(n, ast.Call | ast.Await) for n in ast.walk(node.value))
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_kernel(node: ast.FunctionDef) -> bool:
    return any(is_kernel_decorator(d) for d in node.decorator_list)


def _decorator_name(node: ast.expr) -> str:
    target = node.func if isinstance(node, ast.Call) else node
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def _parameters(function: ast.FunctionDef) -> frozenset[str]:
    return frozenset(a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg))


def _bound(statements: list[ast.stmt]) -> frozenset[str]:
    """Names that statements bind in their function, what stands in nested functions aside."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def _used(statements: list[ast.stmt]) -> set[str]:
    """Names that statements take from around them."""
    return {name for statement in statements for name in _used_by(statement)}


def _used_by(statement: ast.stmt) -> set[str]:
    loaded = {
        n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }
    if not isinstance(statement, ast.FunctionDef):
        return loaded
    own = _bound(statement.body) | _parameters(statement)
    heads: list[ast.AST] = [*statement.decorator_list, *ast.iter_child_nodes(statement.args)]
    heads += [statement.returns] if statement.returns is not None else []
    outside = {n.id for h in heads for n in ast.walk(h) if isinstance(n, ast.Name)}
    return (loaded - own) | outside
