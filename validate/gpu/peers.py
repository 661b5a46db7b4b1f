"""The reference of a row as array code, where it is elementwise: what NumPy or CuPy would run.

A reference says what one thread does. Where threads only compute (no branch, no loop over data, no
vectors), the same lines mean the same on whole arrays: `x[i]` at the thread's own index is the
array, `math.sin` the ufunc, a conditional expression `where`. Anything else has no peer here.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from typing import Any

from validate.row import dtypes

Row = Mapping[str, Any]
Peer = Callable[..., Any]

_UFUNCS = {
    "fabs": "abs",
    "pow": "power",
    "atan2": "arctan2",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_SAME = {
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log2", "log10"),
    *("log1p", "sqrt", "cbrt", "floor", "ceil", "trunc", "hypot", "degrees", "radians", "copysign"),
    *("exp2", "fmod"),
}


class NoPeer(Exception):  # noqa: N818 - most rows have none
    """The reference is not elementwise; the message says where."""


def peer_source(row: Row) -> str:
    """Array code of a row: a function `peer(xp, …)` of its inputs that gives its outputs.

    Parameters are the row's, less the outputs; results are the outputs in the row's order, as a
    tuple. Raises NoPeer.
    """
    if row["reference"] is None:
        raise NoPeer("no reference")
    if any(dtypes.parse(arg["dtype"]).kind != "scalar" for arg in row["args"]):
        raise NoPeer("an argument has components")
    function = next(
        node
        for node in ast.parse(row["reference"]).body
        if isinstance(node, ast.FunctionDef) and node.name == row["kernel_name"]
    )
    body, indices = _thread_body(function)
    dims = row["launch"]["dim"]
    whole = {arg["name"] for arg in row["args"] if arg["kind"] == "array" and arg["shape"] == dims}
    outs = [a["name"] for a in row["args"] if a["kind"] == "array" and a["role"] != "in"]
    lines = _Vectorised(indices, whole, {a["name"] for a in row["args"]}, set(outs))
    statements = [ast.unparse(ast.fix_missing_locations(lines.visit(node))) for node in body]
    if lines.written != set(outs):
        raise NoPeer("an output is not written once for each thread")
    names = [a["name"] for a in row["args"] if a["role"] != "out"]
    inside = "\n".join(f"    {line}" for text in statements for line in text.splitlines())
    results = ", ".join(f"result_{name}" for name in outs)
    return f"def peer(xp, {', '.join(names)}):\n{inside}\n    return ({results},)\n"


def peer_of(row: Row) -> Peer:
    """The compiled function of `peer_source`. Raises NoPeer."""
    namespace: dict[str, Any] = {"__name__": "peer"}
    exec(compile(peer_source(row), "<peer>", "exec"), namespace)
    found: Peer = namespace["peer"]
    return found


def _thread_body(function: ast.FunctionDef) -> tuple[list[ast.stmt], list[str]]:
    """Statements of one thread and the names of its indices."""
    inner = [node for node in function.body if isinstance(node, ast.FunctionDef)]
    if inner:
        return inner[0].body, [arg.arg for arg in inner[0].args.args]
    indices, body = [], list(function.body)
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    while len(body) == 1 and isinstance(body[0], ast.For):
        loop = body[0]
        if not (isinstance(loop.target, ast.Name) and "dim[" in ast.unparse(loop.iter)):
            break
        indices.append(loop.target.id)
        body = loop.body
    if not indices:
        raise NoPeer("no thread loop is found")
    return body, indices


class _Vectorised(ast.NodeTransformer):
    """Rewrites the lines of a thread; raises NoPeer at what has no array form here."""

    def __init__(
        self, indices: list[str], whole: set[str], params: set[str], outs: set[str]
    ) -> None:
        self.indices, self.whole, self.params, self.outs = indices, whole, params, outs
        self.written: set[str] = set()

    def generic_visit(self, node: ast.AST) -> ast.AST:
        allowed = (
            *(ast.Name, ast.Constant, ast.Load, ast.Store, ast.UnaryOp, ast.USub, ast.UAdd),
            *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow),
            *(ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq, ast.keyword),
        )
        if not isinstance(node, allowed):
            raise NoPeer(f"{type(node).__name__} in the reference")
        return super().generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        visited = self.generic_visit(node)
        if not isinstance(node.op, ast.Pow):
            return visited
        # What CuPy traces when it fuses knows no power of a number to an array.
        power = ast.Attribute(ast.Name("xp", ast.Load()), "power", ast.Load())
        return ast.Call(power, [node.left, node.right], [])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.indices or (node.id in self.whole):
            raise NoPeer(f"{node.id} by itself")
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Constant):
            return ast.Pass()
        raise NoPeer("an expression by itself")

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        (target,) = node.targets
        value = self.visit(node.value)
        if isinstance(target, ast.Name):
            return ast.Assign([target], value)
        name = self._own(target)
        if name not in self.outs or name in self.written:
            raise NoPeer(f"{name} is written twice")
        self.written.add(name)
        return ast.Assign([ast.Name(f"result_{name}", ast.Store())], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        value = self.visit(node.value)
        if isinstance(node.target, ast.Name):
            left: ast.expr = ast.Name(node.target.id, ast.Load())
            return ast.Assign([node.target], ast.BinOp(left, self._plain(node.op), value))
        name = self._own(node.target)
        if name not in self.outs or name in self.written:
            raise NoPeer(f"{name} is written twice")
        self.written.add(name)
        sum_ = ast.BinOp(ast.Name(name, ast.Load()), self._plain(node.op), value)
        return ast.Assign([ast.Name(f"result_{name}", ast.Store())], sum_)

    def _plain(self, operator: ast.operator) -> ast.operator:
        if not isinstance(operator, ast.Add | ast.Sub | ast.Mult | ast.Div):
            raise NoPeer(f"{type(operator).__name__} in place")
        return operator

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = self._own(node)
        if name in self.written:
            raise NoPeer(f"{name} is read after it is written")
        return ast.Name(name, ast.Load())

    def _own(self, node: ast.expr) -> str:
        """The array that a subscript takes at the thread's own index."""
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            index = ast.unparse(node.slice).strip("()").replace(" ", "").split(",")
            if node.value.id in self.whole and index == self.indices:
                return node.value.id
        raise NoPeer(f"{ast.unparse(node)} is not at the thread's own index")

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        parts = [self.visit(part) for part in (node.test, node.body, node.orelse)]
        return _call("where", parts)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if len(node.ops) != 1:
            raise NoPeer("a chain of comparisons")
        return super().generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        joined = self.visit(node.values[0])
        for value in node.values[1:]:
            joined = _call(name, [joined, self.visit(value)])
        return joined

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if ast.unparse(node) == "math.pi":
            return ast.Constant(math.pi)
        raise NoPeer(f"{ast.unparse(node)} has no array form here")

    def visit_Call(self, node: ast.Call) -> ast.AST:
        args = [self.visit(arg) for arg in node.args]
        function = ast.unparse(node.func)
        if function in ("min", "max") and len(args) == 2:
            return _call(f"{function}imum", args)
        if function == "abs":
            return _call("abs", args)
        module, _, name = function.partition(".")
        if module == "math" and (name in _SAME or name in _UFUNCS):
            return _call(_UFUNCS.get(name, name), args)
        raise NoPeer(f"{function} has no array form here")


def _call(name: str, args: list[Any]) -> ast.Call:
    function = ast.Attribute(ast.Name("xp", ast.Load()), name, ast.Load())
    return ast.Call(function, args, [])
