"""Kernels that functions make, reached by calling these functions with arguments that are known.

Called is a function of a module that does nothing but define and return: its arguments are those of
calls that stand in the modules at hand and can be evaluated there, and else follow from defaults
and annotations. So each kernel is one that the author's code makes; which constants it bakes in is,
for integers, a choice of ours.
"""

from __future__ import annotations

import ast
import enum
import inspect
import itertools
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from synth.harvest.find import is_kernel_decorator, one_line

_MOST_CALLS = 8
# A size as of a tile, and a factor: small, and neither the identity nor zero.
_INTEGER, _FLOAT = 4, 2.0
_ONLY_DEFINES = (
    *(ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign),
    *(ast.AugAssign, ast.If, ast.Return, ast.Assert, ast.Raise, ast.Pass),
)
_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.UnaryOp, ast.USub, ast.Load)

Known = Mapping[str, Sequence[tuple[ast.Call, Mapping[str, Any]]]]
"""Calls by the last name of what is called, each with the names of its module."""


def calls_in(sources: Sequence[tuple[bytes, Mapping[str, Any]]]) -> Known:
    """The calls in modules, given by their text and their names, in order."""
    found: dict[str, list[tuple[ast.Call, Mapping[str, Any]]]] = defaultdict(list)
    for text, names in sources:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                found[_last_name(node.func)].append((node, names))
    return found


def call_factories(
    text: bytes, names: Mapping[str, Any], made: set[int], known: Known
) -> dict[int, str]:
    """Call the factories of a module that have kernels whose first lines are not in ``made``.

    ``text`` and ``names`` are the module's. Returns why by first line for what was not made.
    """
    reasons: dict[int, str] = {}
    for factory in ast.parse(text).body:
        if not isinstance(factory, ast.FunctionDef):
            continue
        waiting = [line for line in _kernel_lines(factory.body) if line not in made]
        if waiting:
            reason = _call(factory, names.get(factory.name), known)
            reasons.update(dict.fromkeys(waiting, reason))
    return reasons


def _call(factory: ast.FunctionDef, function: Any, known: Known) -> str:
    """Call one factory with all that is known; why no call came to its end, or ""."""
    if not callable(function) or not _only_defines(factory):
        return "not reached: its function does more than define it"
    said = "not reached: nothing says what its function is called with"
    done = False
    for arguments in itertools.islice(_arguments(function, known), _MOST_CALLS):
        try:
            function(*arguments.args, **arguments.kwargs)
        except Exception as error:  # noqa: BLE001 - the user's function may raise anything
            said = f"not reached: its function raised {one_line(error)}"
        else:
            done = True
    return "" if done else said


def _kernel_lines(body: Sequence[ast.stmt]) -> Iterator[int]:
    """First lines of the kernels that a function's own statements define."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            if any(is_kernel_decorator(d) for d in statement.decorator_list):
                yield min([d.lineno for d in statement.decorator_list] + [statement.lineno])
        elif isinstance(statement, ast.If):
            yield from _kernel_lines([*statement.body, *statement.orelse])


def _only_defines(factory: ast.FunctionDef) -> bool:
    """Whether a function's statements define, assign, choose and return, and start nothing."""
    waiting: list[ast.stmt] = list(factory.body)
    returns = False
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, ast.Expr):
            if not isinstance(statement.value, ast.Constant):
                return False
            continue
        if not isinstance(statement, _ONLY_DEFINES):
            return False
        returns |= isinstance(statement, ast.Return) and statement.value is not None
        if isinstance(statement, ast.If):
            waiting += [*statement.body, *statement.orelse]
        elif not isinstance(statement, ast.FunctionDef | ast.ClassDef) and _launches(statement):
            return False
    return returns


def _launches(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Attribute) and node.attr.startswith("launch")
        for node in ast.walk(statement)
    )


def _arguments(function: Callable[..., Any], known: Known) -> Iterator[inspect.BoundArguments]:
    """What to call a function with: as it is called in the modules, else as it is declared."""
    plain = inspect.unwrap(function)
    try:
        signature = inspect.signature(plain)
    except (TypeError, ValueError):
        return
    seen = []
    for call, names in known.get(plain.__name__, ()):
        bound = _bound(call, names, function, signature)
        if bound is not None and bound.arguments not in seen:
            seen.append(bound.arguments)
            yield bound
    if seen:
        return
    choices = [_choices(p, _hints(plain)) for p in signature.parameters.values()]
    for values in itertools.product(*choices):
        yield inspect.BoundArguments(
            signature,
            dict(zip(signature.parameters, values, strict=True)),
        )


def _bound(
    call: ast.Call, names: Mapping[str, Any], function: Any, signature: inspect.Signature
) -> inspect.BoundArguments | None:
    """The arguments of a call of this function, where all can be evaluated in its module."""
    parts = [call.func, *call.args, *(k.value for k in call.keywords)]
    plain = all(isinstance(node, _PLAIN) for part in parts for node in ast.walk(part))
    if not plain or any(k.arg is None for k in call.keywords):
        return None
    try:
        called, *values = (_value(part, names) for part in parts)
        if called is not function:
            return None
        count = len(call.args)
        named = zip((str(k.arg) for k in call.keywords), values[count:], strict=True)
        return signature.bind(*values[:count], **dict(named))
    except (NameError, AttributeError, TypeError):
        return None


def _value(part: ast.expr, names: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(part), "<argument>", "eval"), dict(names))


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return {}


def _choices(parameter: inspect.Parameter, hints: Mapping[str, Any]) -> list[Any]:
    """Values that a parameter may have; none where nothing says."""
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return []
    found = _of_kind(hints.get(parameter.name))
    if parameter.default is not parameter.empty:
        default = parameter.default
        more = found if isinstance(default, bool | enum.Enum) or not found else []
        if isinstance(default, bool) and not more:
            more = [False, True]
        return [default, *(value for value in more if value != default)]
    return found


def _of_kind(kind: Any) -> list[Any]:
    if typing.get_origin(kind) is typing.Literal:
        return list(typing.get_args(kind))
    if not isinstance(kind, type):
        return []
    if kind is bool:
        return [False, True]
    if issubclass(kind, enum.Enum):
        return list(kind)
    if kind is int or kind.__name__ in ("int32", "int64", "uint32"):
        return [_INTEGER]
    if kind is float or kind.__name__ in ("float32", "float64"):
        return [_FLOAT]
    return []


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
