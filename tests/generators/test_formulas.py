"""Formulas say what they compute: the printed text, evaluated, gives the value of the tree."""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
import random
import re
from collections.abc import Callable
from functools import cache, reduce
from types import CodeType
from typing import Any

import numpy as np
import pytest

import generators
from generators.build import BodyBuilder
from generators.kit.formulas import Formula, Shelf
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, Scalar, Type, Vec
from generators.program.expr import Cast, Component, Const, Construct, Expr, Op, Var, literal
from generators.program.ir import Assign

NAMES = {
    name: getattr(math, name)
    for name in [
        "pi",
        "e",
        "sqrt",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "atan2",
        "sinh",
        "cosh",
        "tanh",
        "erf",
        "erfc",
        "floor",
        "ceil",
        "degrees",
        "radians",
        "copysign",
        "trunc",
    ]
} | {
    "min": min,
    "max": max,
    "where": lambda test, a, b: a if test else b,
    "clamp": lambda x, low, high: min(max(x, low), high),
    "lerp": lambda a, b, t: a + (b - a) * t,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x),
    "sign": lambda x: -1.0 if x < 0 else 1.0,
    "rint": round,
    "round": lambda x: math.floor(x + 0.5) if x > 0 else math.ceil(x - 0.5),
    "frac": lambda x: math.modf(x)[0],
    "abs": abs,
    "smoothstep": lambda a, b, x: (x - a) / (b - a),
}
NAMES |= {
    "min": lambda *parts: reduce(np.minimum, parts),
    "max": lambda *parts: reduce(np.maximum, parts),
    "argmin": np.argmin,
    "argmax": np.argmax,
    "dot": np.dot,
    "cross": np.cross,
    "length": np.linalg.norm,
    "length_sq": lambda v: np.dot(v, v),
    "normalize": lambda v: v / np.linalg.norm(v),
    "smooth_normalize": lambda v, delta: v / (np.linalg.norm(v) + delta),
    "cw_mul": lambda a, b: a * b,
    "cw_div": lambda a, b: a / b,
    "max_element": np.max,
    "min_element": np.min,
    "vector": lambda *parts: np.array(parts),
    **{
        name: lambda v, delta=order, order=order: (np.abs(v) ** order).sum() + delta
        for order, name in enumerate(("norm_l1", "norm_l2", "norm_huber", "norm_pseudo_huber"), 1)
    },
}
"""What words and ops mean here. Text and tree are read with one table, so that any meaning does
that tells arguments apart."""


PHRASES = {
    r"the componentwise product of (\w+) and (\w+)": r"cw_mul(\1, \2)",
    r"the (\w+) component of ([^()]+)": r"\1_element(\2)",
    "largest_element": "max_element",
    "smallest_element": "min_element",
    r"the sum of the sizes of the components of ([^()]+)": r"norm_l1(\1)",
    r"the length of ([^()]+)": r"norm_l2(\1)",
    r"the Huber norm of ([^()]+) at threshold (\w+)": r"norm_huber(\1, \2)",
    r"the pseudo-Huber norm of ([^()]+) at threshold (\w+)": r"norm_pseudo_huber(\1, \2)",
    r"\|([^|]*)\|\^2": r"length_sq(\1)",
    " where ": " if ",
    ", else ": " else ",
}
"""What texts say in words, and what it is in Python."""


def _found(value: object) -> list[Formula]:
    if isinstance(value, Formula):
        return [value]
    if isinstance(value, Shelf):
        return list(value.cards)
    if isinstance(value, tuple | list):
        return [f for part in value for f in _found(part)]
    return [f for part in vars(value).values() for f in _found(part)] if _holds(value) else []


def _holds(value: object) -> bool:
    return type(value).__name__ in ("Subject", "Ledger")


def _all() -> list[Formula]:
    found: list[Formula] = []
    for info in pkgutil.walk_packages(generators.__path__, "generators."):
        for value in vars(importlib.import_module(info.name)).values():
            found += _found(value)
    return [f for f in {id(f): f for f in found}.values() if not f.prose]


def _read(text: str, values: dict[str, Any]) -> Any:
    """What a text says, with its definitions."""
    whole, _, definitions = text.partition(" with ")
    known = dict(values)
    for part in re.split(r", (?=\w+ = )", definitions):
        if part:
            name, _, meaning = part.partition(" = ")
            known[name] = _value(meaning, known)
    return _value(whole, known)


def _value(text: str, values: dict[str, Any]) -> Any:
    return eval(_code(text), {"__builtins__": {}}, {**NAMES, **values})


@cache
def _code(text: str) -> CodeType:
    python = text
    for phrase, call in PHRASES.items():
        python = re.sub(phrase, call, python)
    python = re.sub(r"\|([^|]*)\|", r"abs(\1)", python).replace("^", "**")
    tree = ast.fix_missing_locations(_Vectors().visit(ast.parse(python, mode="eval")))
    return compile(tree, "<text>", "eval")


class _Vectors(ast.NodeTransformer):
    """``(a, b, c)`` in a text is a vector."""

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        parts = [self.visit(part) for part in node.elts]
        return ast.Call(ast.Name("vector", ast.Load()), parts, [])


INFIX: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "pow": lambda a, b: a**b,
    "lt": lambda a, b: a < b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b,
    "mod": lambda a, b: a % b,
    "floordiv": lambda a, b: a // b,
    "bit_and": lambda a, b: int(a) & int(b),
    "bit_or": lambda a, b: int(a) | int(b),
    "bit_xor": lambda a, b: int(a) ^ int(b),
    "lshift": lambda a, b: int(a) << int(b),
    "rshift": lambda a, b: int(a) >> int(b),
}


def _computed(formula: Formula, values: dict[str, Any]) -> Any:
    """The value of the tree, by its own walk."""
    statements, result = formula._sketch
    known = dict(values)

    def walk(e: Expr) -> Any:
        if isinstance(e, Const):
            return int(e.value) if e.type.is_int else float(e.value)
        if isinstance(e, Var):
            return known[e.name]
        if isinstance(e, Cast):
            return walk(e.value)
        if isinstance(e, Component):
            return walk(e.value)[tuple(walk(i) for i in e.indices)]
        if isinstance(e, Construct):
            return np.array([walk(a) for a in e.args])
        assert isinstance(e, Op), e
        args = [walk(a) for a in e.args]
        return INFIX.get(e.op, NAMES.get(e.op))(*args)  # type: ignore[misc]

    for statement in statements:
        assert isinstance(statement, Assign)
        known[statement.name] = walk(statement.value)
    return walk(result)


def _drawn(type_: Type, rng: random.Random) -> Any:
    if isinstance(type_, Vec):
        return np.array([_drawn(type_.scalar, rng) for _ in range(type_.size)])
    assert isinstance(type_, Scalar)
    return rng.randint(0, 300) if type_.is_int else rng.uniform(0.05, 1.9)


@pytest.mark.parametrize("formula", _all(), ids=lambda f: f.name)
def test_a_formula_says_what_it_computes(formula: Formula) -> None:
    text = formula.said({key: key.upper() for key in formula.keys})
    rng = random.Random(formula.name)
    compared = 0
    types = formula.types or (formula._sketch[1].type,) * len(formula.keys)
    for turn in range(400):
        if turn == 200 and compared >= 3:
            break
        # Temperatures are in kelvins: near 1 all of a formula of them overflows.
        scale = 1 if turn < 200 else 1000
        drawn = zip(formula.keys, types, strict=True)
        values = {key: _drawn(type_, rng) * scale for key, type_ in drawn}
        try:
            right = _computed(formula, values)
            said = _read(text, {key.upper(): value for key, value in values.items()})
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            continue  # outside the domain
        if isinstance(right, complex) or np.isnan(right).any():
            continue
        assert said == pytest.approx(right, rel=1e-4, abs=1e-6), text
        compared += 1
    assert compared >= 3, text


def test_there_are_formulas_to_compare() -> None:
    assert len(_all()) > 60


X, Y = Var("x", FLOAT32), Var("y", FLOAT32)


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (X - (Y - 1.0), "x - (y - 1)"),
        (X - Y - 1.0, "x - y - 1"),
        (X / (Y * X), "x / (y * x)"),
        (X * X * X, "x^3"),
        ((X + Y) * (X + Y), "(x + y)^2"),
        (-X * X, "-x^2"),
        (X**-Y, "x^(-y)"),
        ((X**Y) ** 2.0, "(x^y)^2"),
        (X + (-Y), "x + (-y)"),
        (2.0 / (3.1415927 * X), "2 / (pi * x)"),
        (X * 6.2831853, "x * (2 * pi)"),
        (abs(X - Y), "|x - y|"),
        (literal(-2.0, FLOAT32) * X, "-2 * x"),
    ],
)
def test_signs_bind_as_people_read_them(tree: Expr, text: str) -> None:
    assert written(tree) == text


def test_a_text_from_outside_is_bracketed_and_a_local_takes_a_free_name() -> None:
    def code(body: BodyBuilder, x: Expr) -> Expr:
        q = body.let("q", x + 1.0)
        return q / (q + 2.0)

    said = Formula("share", "share", code).said({"x": "q[i] / 255"})
    assert said == "r / (r + 2) with r = (q[i] / 255) + 1"


def test_branches_need_prose() -> None:
    def code(body: BodyBuilder, x: Expr) -> Expr:
        value = body.let("value", x)
        with body.if_(x > 0.0):
            body.assign(value, 1.0)
        return value

    with pytest.raises(ValueError, match="needs prose"):
        Formula("step", "step", code).said({"x": "x"})
