"""Size expressions (`n`, `m*k`, `n+1`, `2*n`) and the shapes at which a row is tried."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import Any

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[0-9]+")

# Primes for 1, 2, 3 and 4 symbols: all different, so that a transposed dimension shows, neither
# square nor a power of two, and a launch over all symbols stays below 300 threads.
_PRIMES = {1: (251,), 2: (13, 19), 3: (5, 7, 3), 4: (3, 5, 2, 7)}
_MANY = (3, 5, 2, 7, 11, 13, 17, 19, 23, 29)

Term = tuple[int, tuple[str, ...]]


@lru_cache(maxsize=4096)
def parse(expression: str) -> tuple[Term, ...]:
    """Split a size expression into its terms, each a factor and the symbols multiplied with it.

    Raises ValueError when the text is not a sum of products of symbols and decimal integers.
    """
    terms: list[Term] = []
    for term in expression.replace(" ", "").split("+"):
        factor = 1
        symbols: list[str] = []
        for atom in term.split("*"):
            if _NUMBER.fullmatch(atom):
                factor *= int(atom)
            elif _SYMBOL.fullmatch(atom):
                symbols.append(atom)
            else:
                raise ValueError(
                    f"size expression {expression!r}: {atom!r} is neither a size nor a number"
                )
        terms.append((factor, tuple(symbols)))
    return tuple(terms)


def symbols(expression: str) -> set[str]:
    """The size symbols that an expression uses. Raises ValueError when it does not parse."""
    return {name for _, names in parse(expression) for name in names}


def evaluate(expression: str, sizes: Mapping[str, int]) -> int:
    """The value of a size expression. Raises ValueError for bad text or an unknown symbol."""
    total = 0
    for factor, names in parse(expression):
        product = factor
        for name in names:
            if name not in sizes:
                raise ValueError(f"size expression {expression!r}: no size is called {name!r}")
            product *= sizes[name]
        total += product
    return total


def evaluate_all(expressions: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The values of several expressions: a shape or a launch dim."""
    return tuple(evaluate(expression, sizes) for expression in expressions)


def own_sizes(row_sizes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The sizes a row is published with, by symbol."""
    return {entry["symbol"]: entry["value"] for entry in row_sizes}


def more_terms(row: Mapping[str, Any], shape: Sequence[str], sizes: Mapping[str, int]) -> float:
    """How many times as many threads there are at some sizes for each element of an array of this
    shape as at the row's own, 1 at least: so many more terms a sum over threads may have."""
    own = own_sizes(row["sizes"])
    here, before = (
        prod(evaluate_all(row["launch"]["dim"], of)) / max(1, prod(evaluate_all(shape, of)))
        for of in (sizes, own)
    )
    return max(1.0, here / before)


def awkward_sizes(row_sizes: Sequence[Mapping[str, Any]]) -> list[dict[str, int]]:
    """The shapes a row is run at: its own, the smallest it allows, and one of different primes.

    `row_sizes` is the row's `sizes` column. Every shape respects `min` and `multiple_of`; shapes
    that come out equal are listed once, the row's own always first.
    """
    smallest = {e["symbol"]: _round_up(e["min"], e["multiple_of"]) for e in row_sizes}
    shapes: list[dict[str, int]] = []
    for shape in (own_sizes(row_sizes), smallest, _prime_sizes(row_sizes)):
        if shape not in shapes:
            shapes.append(shape)
    return shapes


def middle(low: int, high: int) -> int:
    """The middle of a span of sizes in use: the geometric mean, at least 1."""
    return max(1, round((low * high) ** 0.5))


def describe(sizes: Mapping[str, int]) -> str:
    """A shape as `checks.shapes` names it: `n=64`, `m=11,k=13`."""
    return ",".join(f"{symbol}={value}" for symbol, value in sizes.items())


def described(text: str) -> dict[str, int]:
    """The sizes that `describe` made such a text of."""
    pairs = (part.split("=") for part in text.split(","))
    return {symbol: int(value) for symbol, value in pairs}


def _prime_sizes(row_sizes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    shape: dict[str, int] = {}
    used: set[int] = set()
    primes = _PRIMES.get(len(row_sizes), _MANY)
    for position, entry in enumerate(row_sizes):
        multiple = max(1, entry["multiple_of"])
        least = -(-entry["min"] // multiple)
        prime = primes[position % len(primes)]
        if multiple > 1:
            prime = min(prime, 7)
        while prime < least or prime in used or not _is_prime(prime):
            prime += 1
        used.add(prime)
        shape[entry["symbol"]] = prime * multiple
    return shape


def _round_up(value: int, multiple_of: int) -> int:
    multiple = max(1, multiple_of)
    return max(1, -(-value // multiple)) * multiple


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % d for d in range(2, int(number**0.5) + 1))
