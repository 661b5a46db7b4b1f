"""What is summed of the elements of tiles: squares, products, errors, losses, weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.tiles import applied, each
from generators.kit.functions import exp, log, most, where
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var

Other = Callable[[str, float, float], tuple[Var, str]]
"""Declares one more array with such names and values; gives its tile, and what it is called."""


@dataclass(frozen=True)
class Term:
    """A tile of what is summed, that in words, and what a kernel of it is called."""

    tile: Var
    words: str
    called: str
    squared: bool = False
    """Whether a root of the sum says something."""


def _plain(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    return Term(x, name, "sum")


def _squares(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    return Term(k.let("squares sq", each("mul", x, x)), f"{name}^2", "energy", True)


def _sizes(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    return Term(k.let("sizes mags", each("abs", x)), f"|{name}|", "abs_sum")


def _weighted(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    w, called = other("weights w", 0.2, 1.5)
    tile = k.let("weighted p", each("mul", x, w))
    return Term(tile, f"{called} * {name}", "weighted_sum")


def _products(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    y, called = other("y other", -2.0, 2.0)
    return Term(k.let("products p", each("mul", x, y)), f"{name} * {called}", "dot")


def _gap(k: KernelBuilder, x: Var, name: str, other: Other) -> tuple[Var, str]:
    y, called = other("y target reference", -2.0, 2.0)
    return k.let("d gap", each("sub", x, y)), f"{name} - {called}"


def _squared_errors(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    d, words = _gap(k, x, name, other)
    return Term(k.let("squares sq", each("mul", d, d)), f"({words})^2", "squared_error", True)


def _absolute_errors(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    d, words = _gap(k, x, name, other)
    return Term(k.let("sizes mags", each("abs", d)), f"|{words}|", "absolute_error")


def _weighted_squares(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    w, called = other("weights w", 0.2, 1.5)
    squares = k.let("squares sq", each("mul", x, x))
    tile = k.let("weighted p", each("mul", squares, w))
    return Term(tile, f"{called} * {name}^2", "weighted_energy", True)


def _weighted_errors(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    d, words = _gap(k, x, name, other)
    w, called = other("weights w", 0.2, 1.5)
    squares = k.let("squares sq", each("mul", d, d))
    tile = k.let("weighted p", each("mul", squares, w))
    return Term(tile, f"{called} * ({words})^2", "weighted_error", True)


def _huber_of(body: BodyBuilder, d: Var) -> Expr:
    size = body.let("size a", fn("abs", d))
    return where(size < 1.0, 0.5 * d * d, size - 0.5)


def _huber(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    d, words = _gap(k, x, name, other)
    called = helper(k, "huber huber_loss", [("d", FLOAT32)], _huber_of)
    tile = k.let("losses per_item", applied(k, called, d))
    said = f"the Huber loss of d = {words} (d^2 / 2 where |d| < 1, else |d| - 1 / 2)"
    return Term(tile, said, "huber_loss")


def _logistic(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    y, words = other("labels signs", -1.0, 1.0)
    margin = k.let("margin m", each("mul", x, y))

    def softplus(_: BodyBuilder, m: Var) -> Expr:
        return most(-m, 0.0) + log(1.0 + exp(-fn("abs", m)))

    called = helper(k, "logistic_loss softplus_neg", [("m", FLOAT32)], softplus)
    tile = k.let("losses per_item", applied(k, called, margin))
    said = f"log(1 + exp(-m)) with m = {words} * {name}, as max(-m, 0) + log(1 + exp(-|m|))"
    return Term(tile, said, "logistic_loss")


def _boltzmann(k: KernelBuilder, x: Var, name: str, other: Other) -> Term:
    beta = k.scalar("beta inv_temperature", FLOAT32, low=0.4, high=1.2)
    warm = k.let("energies bx", each("mul", x, beta))
    tile = k.let("e boltzmann", each("exp", each("neg", warm)))
    return Term(tile, f"exp(-{beta.name} * {name})", "partition_sum")


_TERMS = (
    (_plain, _squares, _sizes),
    (_squares, _weighted, _products),
    (_weighted, _products, _squared_errors, _absolute_errors),
    (_squared_errors, _absolute_errors, _weighted_squares, _boltzmann, _huber),
    (_weighted_squares, _weighted_errors, _huber, _logistic, _boltzmann),
)
"""What kernels of each level sum."""


def term(k: KernelBuilder, level: int, x: Var, name: str, other: Other) -> Term:
    """Draw what is summed of a tile of an array called ``name``."""
    return k.draw.shape.choice(_TERMS[level - 1])(k, x, name, other)
