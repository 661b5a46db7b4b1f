"""Formulas written once: the code gives the name, the quantities read, how often, and the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any

from generators.build import BodyBuilder
from generators.build.draw import Draw, Stream
from generators.kit.text import bracketed, written
from generators.program.dtypes import FLOAT32, INT32, Type
from generators.program.expr import Const, Expr, Op, Var
from generators.program.ir import Assign, Comment
from generators.program.signatures import OpTypeError
from generators.program.walk import changed, names_read, operands, statements

Build = Callable[..., Expr]
"""A formula's code: its parameters are the keys of what it reads, ``lambda x, k: x / (k + x)``.

Where the first one is called ``body``, it may write statements there.
"""


_ALONE = re.compile(r"(\w\(|, )\(([^(),]*)\)(?=[,)])")
"""Brackets around the whole of an argument."""

BODY = "body"
"""The name of a formula's first parameter where its code writes statements."""


class _First(Stream):
    """Takes the first of all choices, and every chance."""

    def bits64(self) -> int:
        return 0


class _Sketch(Draw):
    def stream(self, purpose: str) -> Stream:
        return _First(purpose)

    spread = stream


@dataclass(frozen=True)
class Formula:
    """A formula: its name, names of an output of it (``outs``), its code.

    Its text is printed from the tree that the code makes. Where the code branches or loops,
    ``prose`` says it instead, with the keys in braces: ``"{x} where {x} > {k}, else 0"``. ``types``
    are those of the quantities, floats by default. ``words`` are a formula's own names for some of
    its keys, where those of its set would not say what it reads: the quantity's, then its array's.
    """

    name: str
    outs: str
    code: Build
    prose: str = ""
    types: tuple[Type, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def keys(self) -> list[str]:
        """The quantities that it reads: its parameters."""
        names = self._parameters
        return names[1:] if names[0] == BODY else names

    @cached_property
    def _parameters(self) -> list[str]:
        return list(signature(self.code).parameters)

    def build(self, b: BodyBuilder, *args: Expr) -> Expr:
        """The value of the formula; the statements it needs go to ``b``."""
        return self.code(b, *args) if self._parameters[0] == BODY else self.code(*args)

    def of(self, b: BodyBuilder, values: Mapping[str, Expr]) -> Expr:
        """The value for quantities given by key."""
        return self.build(b, *(values[key] for key in self.keys))

    def reads(self, key: str) -> int:
        """How often the code reads a quantity."""
        return self._uses[key]

    @cached_property
    def _uses(self) -> Counter[str]:
        body, value = self._sketch
        return Counter(names_read([value, *(e for s in statements(body) for e in operands(s))]))

    @property
    def plain(self) -> bool:
        """Whether it only reads one quantity as it is."""
        return isinstance(self._sketch[1], Var) and not self._sketch[0]

    def said(self, values: Mapping[str, str]) -> str:
        """The formula in words, with these texts for its quantities."""
        if self.prose:
            told = self.prose.format(**{key: bracketed(text) for key, text in values.items()})
            return _ALONE.sub(r"\1\2", told)
        statements, value = self._sketch
        return _told(statements, value, {key: values[key] for key in self.keys})

    @cached_property
    def _sketch(self) -> tuple[tuple[Any, ...], Expr]:
        """Statements and value with a variable for each key: of floats, or of whole numbers."""
        if self.types:
            return self._sketched(self.types)
        try:
            return self._sketched((FLOAT32,) * len(self.keys))
        except OpTypeError:
            return self._sketched((INT32,) * len(self.keys))

    def _sketched(self, types: tuple[Type, ...]) -> tuple[tuple[Any, ...], Expr]:
        body = BodyBuilder(_Sketch(0, "", 0, 0))
        body.used.update(self.keys)
        value = self.build(body, *map(Var, self.keys, types))
        statements = tuple(s for s in body.body() if not isinstance(s, Comment))
        names = {s.name for s in statements if isinstance(s, Assign)}
        if not self.prose and len(names) < len(statements):
            raise ValueError(f"formula {self.name} branches or loops: it needs prose")
        return statements, value


def _told(statements: Sequence[Assign], value: Expr, said: Mapping[str, str]) -> str:
    """The value, its locals written out where they are short or used once, else defined."""
    texts, defined = dict(said), []
    taken = {word for text in said.values() for word in re.findall(r"[A-Za-z_]\w*", text)}
    left = [(s.name, s.value) for s in statements]

    def leaf(e: Expr) -> str | None:
        return texts.get(e.name) if isinstance(e, Var) else None

    while left:
        (name, meaning), *left = left
        reads = Counter(names_read([value, *(tree for _, tree in left)]))
        if _short(meaning) or reads[name] < 2:
            left = [(other, _put(tree, name, meaning)) for other, tree in left]
            value = _put(value, name, meaning)
            continue
        texts[name] = next(n for n in (name, *"qrsuvwz") if n not in taken)
        taken.add(texts[name])
        defined.append(f"{texts[name]} = {written(meaning, leaf)}")
    whole = written(value, leaf)
    return f"{whole} with {', '.join(defined)}" if defined else whole


def _short(value: Expr) -> bool:
    """Whether a value is written out each time: a name, a number, a name's square."""
    if isinstance(value, Op) and value.op == "mul":
        return value.args[0] == value.args[1] and isinstance(value.args[0], Var)
    return isinstance(value, Var | Const)


def _put(node: Any, name: str, new: Expr) -> Any:
    """An expression with another in the place of a variable."""
    return changed(node, lambda e: new if isinstance(e, Var) and e.name == name else e)


def formulas(**entries: Build | tuple[str, Build]) -> tuple[Formula, ...]:
    """Formulas by name: their code, with names of an output before it where those differ."""
    found = []
    for name, entry in entries.items():
        outs, code = entry if isinstance(entry, tuple) else (name, entry)
        found.append(code if isinstance(code, Formula) else Formula(name, outs, code))
    return tuple(found)


@dataclass
class Shelf:
    """A set of formulas (``cards``) that is filled by :meth:`add` and :meth:`formula`."""

    cards: tuple[Formula, ...] = field(default=(), kw_only=True)

    def add(self, name: str, outs: str, code: Build, prose: str = "", **words: str) -> None:
        """Add a formula, as a rule one of a single expression: a lambda."""
        card = Formula(name, outs, code, prose, self.types_of(code), words)
        self.cards = (*self.cards, card)

    def formula(self, outs: str, prose: str = "", **words: str) -> Callable[[Build], Build]:
        """Decorator: add a function as a formula, which has the function's name."""

        def add(code: Build) -> Build:
            self.add(code.__name__.lstrip("_"), outs, code, prose, **words)
            return code

        return add

    def types_of(self, code: Build) -> tuple[Type, ...]:
        """The types of the quantities that a formula reads; none where all are floats."""
        return ()

    def card(self, name: str) -> Formula:
        return next(card for card in self.cards if card.name == name)


def keys_of(formulas: Sequence[Formula]) -> list[str]:
    """All that the formulas read, in the order in which they read it."""
    return list(dict.fromkeys(key for formula in formulas for key in formula.keys))


def read_once(formulas: Sequence[Formula]) -> list[str]:
    """The quantities that the formulas read once in all."""
    return [k for k in keys_of(formulas) if sum(f.reads(k) for f in formulas if k in f.keys) == 1]
