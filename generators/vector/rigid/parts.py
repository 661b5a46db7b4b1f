"""What the idioms on rigid bodies share: launches, where inputs live, structs or plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.kit.pieces import constant, helper
from generators.program.dtypes import BOOL, Quat, Scalar, Transform, Type, Vec
from generators.program.expr import Const, Construct, Expr, Field, Load, Op, Var

Names = tuple[str, ...]

EACH = {"each": 1}
STATE = {"each": 6, "first": 1, "last": 1}
PROPERTY = {"each": 3, "first": 1, "last": 1, "shared": 3, "fixed": 1}
SETTING = {"shared": 3, "fixed": 2}
MOSTLY_ARRAY = {"each": 4, "first": 1, "last": 1, "shared": 2}


@dataclass(frozen=True)
class Rig:
    """The threads of a kernel: its float type, launch dimensions and thread indices."""

    k: KernelBuilder
    scalar: Scalar
    dims: Names
    at: tuple[Var, ...]

    @property
    def vec(self) -> Vec:
        return Vec(3, self.scalar)

    @property
    def quat(self) -> Quat:
        return Quat(self.scalar)

    @property
    def pose(self) -> Transform:
        return Transform(self.scalar)

    def imaginary(self, q: Expr) -> Expr:
        """The vector part of a quaternion."""
        return make(self.vec, q[0], q[1], q[2])

    def real(self, value: float) -> Expr:
        """A literal of the float type of this kernel."""
        return self.k.lift(value, self.scalar)

    def with_real(self, v: Expr, real: float) -> Expr:
        """The quaternion with vector part v."""
        return make(self.quat, v[0], v[1], v[2], self.real(real))

    def place(self, form: str) -> tuple[Names, tuple[Var, ...]]:
        """The shape of an array with one element for each thread, row or column; and an index."""
        if form == "first":
            return self.dims[:1], self.at[:1]
        if form == "last":
            return self.dims[-1:], self.at[-1:]
        return self.dims, self.at

    def given(
        self,
        plural: Names,
        single: Names,
        type_: Type,
        low: float | None = None,
        high: float | None = None,
        *,
        init: str = "uniform",
        forms: Mapping[str, int] = PROPERTY,
    ) -> Expr:
        """An input: of an array by thread, row or column, a parameter, or written out."""
        form = self.k.draw.shape.weighted(forms)
        if form in ("first", "last") and len(self.dims) == 1:
            form = "each"
        if form == "fixed" and isinstance(type_, Vec) and init != "unit":
            form = "shared"
        if form == "fixed":
            return self._fixed(type_, low, high, init)
        if form == "shared":
            return self.k.scalar(single, type_, low, high, init=init)
        dims, at = self.place(form)
        array = self.k.array(plural, type_, dims, low=low, high=high, init=init)
        return array[at]

    def _fixed(self, type_: Type, low: float | None, high: float | None, init: str) -> Expr:
        if isinstance(type_, Vec) and init == "unit":
            along = self.k.draw.shape.integer(0, type_.size - 1)
            parts = [float(c == along) for c in range(type_.size)]
            return make(type_, *(self.k.lift(part, type_.scalar) for part in parts))
        assert low is not None
        assert high is not None
        return self.k.lift(constant(self.k, low, high), type_)

    def store(self, names: Names, value: Expr) -> Var:
        """Declare an output of one element a thread and store it there."""
        out = self.k.out(names, value.type, self.dims)
        self.k.store(out, self.at, value)
        return out


def rig(
    k: KernelBuilder,
    index: Names,
    outer: Names,
    *,
    scalar: Scalar | None = None,
    grids: Mapping[int, int] | None = None,
) -> Rig:
    """Launch over bodies, over rows of bodies, or over batches of rows."""
    ndim = k.draw.shape.weighted(grids or {1: 5, 2: 4, 3: 1})
    scalar = scalar or k.draw.wide_float_type()
    if ndim == 1:
        dims: Names = (k.size("n", 48, 72),)
        names = [k.name(*index)]
    elif ndim == 2:
        dims = (k.size("m", 4, 7), k.size("n", 8, 11))
        names = [k.name(*outer), k.name(*index)]
    else:
        dims = (k.size("b", 2, 3), k.size("m", 3, 5), k.size("n", 5, 7))
        names = [k.name("batch", "world", "trial"), k.name(*outer), k.name(*index)]
    return Rig(k, scalar, dims, k.thread(*dims, names=names))


def told(value: Expr) -> str:
    """How a description calls an input: by its array, parameter or field, or its value."""
    match value:
        case Load():
            return value.array.name
        case Field() | Var():
            return value.name
        case Const():
            return str(value.value)
        case Construct():
            return f"({', '.join(map(told, value.args))})"
        case Op() if value.op == "neg":
            return f"-{told(value.args[0])}"
        case Op() if value.op == "ne":
            return told(value.args[0])
    raise TypeError(f"{type(value).__name__} is no input")


def inlined(
    k: KernelBuilder,
    chance: float,
    names: Names,
    args: Sequence[tuple[str, Expr]],
    build: Callable[..., Expr],
    doc: str = "",
) -> Expr:
    """``build(body, *args)`` in place or, with that chance, as a helper function."""
    if not k.draw.shape.chance(chance):
        return build(k, *(value for _, value in args))
    called = helper(k, names, [(name, value.type) for name, value in args], build, doc)
    return k.call(called, *(value for _, value in args))


_FLAG_TYPES = {"bool": 8, "int32": 2, "uint8": 2, "int8": 1, "uint32": 1, "uint16": 1, "int64": 1}


def mask(r: Rig, plural: Names, single: Names) -> Expr:
    """A flag for each body, row or column: a bool, or an integer that is 0 for no."""
    forms = {"each": 4, "last": 1}
    type_ = Scalar(r.k.draw.shape.weighted(_FLAG_TYPES))
    if type_ == BOOL:
        return r.given(plural, single, BOOL, forms=forms)
    return fn("ne", r.given(plural, single, type_, 0, 1, init="integers", forms=forms), 0)


_OPPOSITES = {"ne": "eq", "gt": "le", "lt": "ge"}


def unless(flag: Expr) -> Expr:
    """The opposite of a flag or a comparison."""
    if isinstance(flag, Op) and flag.op in _OPPOSITES:
        return fn(_OPPOSITES[flag.op], *flag.args)
    return fn("not", flag)


def is_set(flag: Expr) -> str:
    """The words for a flag that holds."""
    return f"{told(flag)} is {'not 0' if isinstance(flag, Op) else 'true'}"


def is_unset(flag: Expr) -> str:
    """The words for a flag that does not hold."""
    return f"{told(flag)} is {'0' if isinstance(flag, Op) else 'false'}"


def quat_dot(a: Expr, b: Expr) -> Expr:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


def maybe_named(b: BodyBuilder, names: Names, value: Expr, chance: float = 0.6) -> Expr:
    """A named intermediate, or the expression itself for one use."""
    return b.let(names, value) if b.draw.shape.chance(chance) else value


def unit(value: Expr) -> Expr:
    return fn("normalize", value)


def minus(value: Expr) -> Expr:
    """The negative, of a literal as a literal."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(f"-{value.value}", value.type)
    return -value
