"""The least number of statements that a reference is sure to run, from its text and its arguments.

A bound on statements (:mod:`validate.oracle.effort`) is met by running up to it, which is most of
what references at wide shapes take. How often a loop over a range of sizes turns is known before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import CodeType

from validate.oracle.effort import statements_of

FORESEEN = "__foreseen__"
"""What the function is called, and below what it calls to add up terms."""
ADDED = "__added__"

_KNOWN_CALLS = ("len", "min", "max")
_BUILTINS = frozenset({*_KNOWN_CALLS, "range"})
_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue, ast.Try, ast.With)
_ENDS_LOOP = (ast.Return, ast.Raise, ast.Break, ast.Try, ast.With)
_ENDS_FUNCTION = (ast.Return, ast.Raise, ast.Try, ast.With)
_LOOPS = (ast.For, ast.While)
Known = frozenset[str]
Functions = Mapping[str, ast.FunctionDef]


def foresight(tree: ast.Module, kernel_name: str) -> CodeType | None:
    """Code that defines ``FORESEEN``, which takes what the reference takes and gives the least
    number of statements that its budget pays for where it comes to its end; None where nothing is
    to be said. Names of loops whose turns differ are added up by ``ADDED``, a function of an
    iterable of numbers, of which none is negative.
    """
    kernel = next((n for n in tree.body if _is_function(n) and n.name == kernel_name), None)  # type: ignore[attr-defined]
    if not isinstance(kernel, ast.FunctionDef) or not _has_plain_arguments(kernel):
        return None
    nodes = list(ast.walk(tree))
    if _bound(tree) & _BUILTINS or any(isinstance(n, (ast.Nonlocal, ast.Global)) for n in nodes):
        return None
    known = frozenset(_arguments(kernel)) - _bound(kernel)
    least = _total(kernel.body, known, {})
    made = ast.FunctionDef(FORESEEN, kernel.args, [ast.Return(least)], [])
    module = ast.fix_missing_locations(ast.Module([made], []))
    return compile(module, "<foresight>", "exec")


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef)


def _arguments(function: ast.FunctionDef) -> list[str]:
    return [arg.arg for arg in function.args.args]


def _has_plain_arguments(function: ast.FunctionDef) -> bool:
    of = function.args
    return not (of.defaults or of.kwonlyargs or of.posonlyargs or of.vararg or of.kwarg)


def _bound(node: ast.AST) -> Known:
    """Names that are written anywhere in a node, its functions included."""
    found = {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.ctx.__class__ != ast.Load
    }
    return frozenset(found)


def _total(body: list[ast.stmt], known: Known, functions: Functions) -> ast.expr:
    """What a turn or a call with this body takes at least."""
    total: ast.expr = ast.Constant(statements_of(body))
    for term in _terms(body, known, functions):
        total = ast.BinOp(total, ast.Add(), term)
    return total


def _terms(body: list[ast.stmt], known: Known, functions: Functions) -> Iterator[ast.expr]:
    """What the loops and calls take that are sure to be reached."""
    here = dict(functions)
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            here[statement.name] = statement
            continue
        term = None
        if isinstance(statement, ast.For):
            term = _loop(statement, known, here)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            term = _called(statement.value, known, here)
        if term is not None:
            yield term
        if _may_leave(statement):
            return


def _may_leave(statement: ast.stmt) -> bool:
    """Whether what stands behind a statement may not be reached because of it."""
    ways = _ENDS_FUNCTION if isinstance(statement, _LOOPS) else _LEAVES
    return any(isinstance(node, ways) for node in ast.walk(statement))


def _ends_early(body: list[ast.stmt]) -> bool:
    """Whether a loop with this body may end before its range does."""
    for statement in body:
        ways = _ENDS_FUNCTION if isinstance(statement, _LOOPS) else _ENDS_LOOP
        if any(isinstance(node, ways) for node in ast.walk(statement)):
            return True
    return False


def _loop(loop: ast.For, known: Known, functions: Functions) -> ast.expr | None:
    over, target = loop.iter, loop.target
    counts = isinstance(over, ast.Call) and _is_name(over.func, {"range"}) and not over.keywords
    if not counts or not isinstance(target, ast.Name) or loop.orelse or _ends_early(loop.body):
        return None
    assert isinstance(over, ast.Call)
    if not all(_is_known(argument, known) for argument in over.args):
        return None
    written = frozenset().union(*map(_bound, loop.body))
    turn = _total(loop.body, (known | {target.id}) - written, functions)
    if _mentions(turn, {target.id}):
        each = ast.comprehension(ast.Name(target.id, ast.Store()), over, [], 0)
        return _call(ADDED, ast.GeneratorExp(turn, [each]))
    count = _call("len", over)
    # A loop without turns does not come to what stands in it.
    return ast.BoolOp(ast.And(), [count, ast.BinOp(count, ast.Mult(), turn)])


def _called(call: ast.Call, known: Known, functions: Functions) -> ast.expr | None:
    """What a call takes of a function of the kernel's own, which sees the kernel's variables."""
    function = functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
    if function is None or call.keywords or not _has_plain_arguments(function):
        return None
    names = _arguments(function)
    if len(names) != len(call.args):
        return None
    written = frozenset().union(*map(_bound, function.body))
    given = {n: a for n, a in zip(names, call.args, strict=True) if _is_known(a, known)}
    inside = (known - frozenset(names)) | frozenset(given)
    # What it calls in its turn sees other variables than it does.
    total = _total(function.body, inside - written, {})
    used = [name for name in given if _mentions(total, {name})]
    if not used:
        return total
    takes = ast.arguments([], [ast.arg(name) for name in used], None, [], [], None, [])
    return ast.Call(ast.Lambda(takes, total), [given[name] for name in used], [])


def _is_known(e: ast.expr, known: Known) -> bool:
    """Whether an expression is a whole number that sizes and counters decide."""
    match e:
        case ast.Constant():
            return type(e.value) is int
        case ast.Name():
            return e.id in known
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            return _is_known(e.left, known) and _is_known(e.right, known)
        case ast.UnaryOp(op=ast.USub()):
            return _is_known(e.operand, known)
        case ast.Subscript(slice=ast.Constant()):
            return _is_name(e.value, {"dim"} & known) or (
                isinstance(e.value, ast.Attribute)
                and e.value.attr == "shape"
                and _is_name(e.value.value, known)
            )
        case ast.Call(func=ast.Name(), keywords=[]):
            return _is_name(e.func, _KNOWN_CALLS) and all(_is_known(a, known) for a in e.args)
    return False


def _is_name(e: ast.expr, names: frozenset[str] | set[str] | tuple[str, ...]) -> bool:
    return isinstance(e, ast.Name) and e.id in names


def _mentions(e: ast.expr, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(e))


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])
