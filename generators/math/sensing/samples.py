"""Complex samples: an array of pairs, or two arrays of real and imaginary parts."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, make
from generators.program.dtypes import FLOAT32, Vec
from generators.program.expr import Expr, Operand, Var

PAIR = Vec(2, FLOAT32)
Complex = tuple[Expr, Expr]
Index = tuple[Operand, ...]


@dataclass(frozen=True)
class Style:
    """How a kernel keeps complex numbers: as pairs, or in parts with these endings."""

    ends: tuple[str, str] | None

    def declare(self, k: KernelBuilder, stems: str, dims: tuple[str, ...], bound: float) -> Samples:
        """An input."""
        stem = k.draw.word.choice(stems.split())
        if self.ends is None:
            return Samples(k, (k.array(stem, PAIR, dims, low=-bound, high=bound),))
        names = [f"{stem}_{end}" for end in self.ends]
        return Samples(k, tuple(k.array(n, FLOAT32, dims, low=-bound, high=bound) for n in names))

    def store(
        self, k: KernelBuilder, stems: str, dims: tuple[str, ...], at: Index, value: Complex
    ) -> str:
        """An output that gets a value; its name or names."""
        stem = k.draw.word.choice(stems.split())
        if self.ends is None:
            out = k.out(stem, PAIR, dims)
            k.store(out, at, make(PAIR, *value))
            return out.name
        outs = [k.out(f"{stem}_{end}", FLOAT32, dims) for end in self.ends]
        for out, part in zip(outs, value, strict=True):
            k.store(out, at, part)
        return f"{outs[0].name} and {outs[1].name}"


def style(k: KernelBuilder) -> Style:
    """One way for all of a kernel."""
    if k.draw.shape.chance(0.45):
        return Style(None)
    return Style(k.draw.word.choice((("re", "im"), ("i", "q"), ("real", "imag"))))


@dataclass(frozen=True)
class Samples:
    """An input of complex samples."""

    k: KernelBuilder
    arrays: tuple[Var, ...]

    @property
    def said(self) -> str:
        return " and ".join(a.name for a in self.arrays)

    def read(self, names: str, at: Index) -> Complex:
        """A sample under a name: one of a pair, or one for each part."""
        name = self.k.draw.word.choice(names.split())
        if len(self.arrays) == 1:
            value = self.k.let(name, self.arrays[0][at])
            return value[0], value[1]
        parts = [self.k.let(f"{name}_{e}", a[at]) for e, a in zip("ri", self.arrays, strict=True)]
        return parts[0], parts[1]


def gets(names: str) -> str:
    """One or two outputs with their verb."""
    return f"{names} get" if " and " in names else f"{names} gets"


def times(a: Complex, b: Complex) -> Complex:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def times_conjugate(a: Complex, b: Complex) -> Complex:
    """``a`` times the conjugate of ``b``."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


def power(a: Complex) -> Expr:
    return a[0] * a[0] + a[1] * a[1]


@dataclass(frozen=True)
class Total:
    """A complex sum."""

    k: KernelBuilder
    re: Var
    im: Var

    def add(self, value: Complex) -> None:
        self.k.augment(self.re, "add", value[0])
        self.k.augment(self.im, "add", value[1])

    @property
    def value(self) -> Complex:
        return self.re, self.im


def total(k: KernelBuilder) -> Total:
    names = k.draw.word.choice((("acc_re", "acc_im"), ("sum_re", "sum_im"), ("re", "im")))
    re, im = (k.let(name, k.lift(0.0, FLOAT32)) for name in names)
    return Total(k, re, im)
