"""What the idioms on rigid bodies share: launches, types, quaternions and spatial vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.kit.records import Part
from generators.kit.sites import Names, Site, launch
from generators.kit.words import plural, plurals, say, snake, words
from generators.program.dtypes import FLOAT32, Quat, Scalar, Struct, Transform, Vec
from generators.program.expr import Const, Construct, Expr, Op, Var
from generators.program.ir import FieldInit

MOSTLY = {"each": 5, "last": 1, "shared": 2}
"""Weights of the ways of what is an array more often than a parameter."""

TUNED = {"shared": 6, "last": 1}
"""How often a number that someone tunes comes in each of the ways of ``given``."""


@dataclass(frozen=True)
class Rig(Site):
    """The threads of a kernel on bodies, and the float type of what it works on."""

    scalar: Scalar = FLOAT32

    @property
    def vec(self) -> Vec:
        return Vec(3, self.scalar)

    @property
    def six(self) -> Vec:
        return Vec(6, self.scalar)

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

    def gets(self, names: Names, value: Expr, text: str) -> str:
        """Store a value in a new output; the sentence that says so, after a blank."""
        return f" {self.put(names, value).name} gets {text}."


def rig(k: KernelBuilder, indices: Names, single: float = 0.0, **weights: int) -> Rig:
    """A launch over bodies, or over batches of them.

    ``single`` is the chance of single precision before a float type is drawn.
    """
    narrow = bool(single) and k.draw.shape.chance(single)
    scalar = FLOAT32 if narrow else k.draw.wide_float_type()
    s = launch(k, weights or {"list": 5, "batch": 4}, indices)
    return Rig(k, s.form, s.dims, s.at, s.inner, scalar)


class Items:
    """What is read at an index: structs in an array, or an array of each part."""

    whole: bool
    struct: Struct
    names: dict[str, str]
    fields: list[FieldInit]

    def __init__(
        self,
        k: KernelBuilder,
        titles: Names,
        parts: Mapping[str, Part],
        dims: Names,
        struct: float = 0.0,
        like: Items | None = None,
    ) -> None:
        """``like`` are other items of the same parts, whose struct these share."""
        self.k = k
        self.whole = like.whole if like else len(parts) > 1 and k.draw.shape.chance(struct)
        if not self.whole:
            self.arrays = {key: self._array(part, words(dims)) for key, part in parts.items()}
            self.said = {key: array.name for key, array in self.arrays.items()}
            return
        title = k.draw.word.choice(words(titles))
        if like is not None:
            self.names, self.fields, self.struct = like.names, like.fields, like.struct
        else:
            self.names = {key: k.draw.word.choice(words(part.names)) for key, part in parts.items()}
            self.fields = [part.field(self.names[key]) for key, part in parts.items()]
            self.struct = k.struct(k.name(title), *((f.name, f.type) for f in self.fields))
        self.one = snake(title)
        many = (plural(self.one), f"{self.one}_list", f"{self.one}_data")
        self.items = k.array(many, self.struct, words(dims), fields=self.fields)
        self.said = {key: f"{self.items.name}.{name}" for key, name in self.names.items()}

    def _array(self, part: Part, dims: tuple[str, ...]) -> Var:
        many = words(part.many) or plurals(words(part.names))
        return self.k.array(many, part.type, dims, low=part.low, high=part.high, init=part.init)

    def at(self, *index: Expr) -> dict[str, Expr]:
        """The parts of one item, by key."""
        if not self.whole:
            return {key: array[index] for key, array in self.arrays.items()}
        item = self.k.let((self.one, "item", "info"), self.items[index])
        return {key: field(item, name) for key, name in self.names.items()}


def six(r: Rig, top: Expr, bottom: Expr, b: BodyBuilder | None = None) -> Expr:
    """The spatial vector of two halves."""
    if r.scalar == FLOAT32:
        return fn("spatial_vector", top, bottom)
    parts: list[Expr] = []
    for half, names in ((top, "upper first"), (bottom, "lower last")):
        if isinstance(half, Construct):
            parts += [half.args[0]] * 3
            continue
        whole = (b or r.k).let(names, half) if isinstance(half, Op) else half
        parts += [whole[c] for c in range(3)]
    return make(r.six, *parts)


def adjoint(b: BodyBuilder, pose: Expr) -> Expr:
    """The matrix that moves twists by a pose."""
    rot = b.let("rot rm basis", fn("quat_to_matrix", fn("transform_get_rotation", pose)))
    shift = fn("skew", fn("transform_get_translation", pose))
    return fn("spatial_adjoint", rot, shift * rot)


def shortened(k: KernelBuilder, v: Var, limit: Expr, names: Names = "size v_len norm") -> str:
    """Shorten a vector to a limit; the words for it."""
    size = k.let(names, fn("length", v))
    with k.if_(size > limit):
        k.augment(v, "mul", limit / size)
    return f"shortened to length {say(k, limit)} where it is longer"


def renormalize(r: Rig, pose: Var) -> None:
    """Bring the rotation of a pose back to unit length."""
    place = fn("transform_get_translation", pose)
    r.k.assign(pose, make(r.pose, place, unit(fn("transform_get_rotation", pose))))


def product(k: KernelBuilder, a: Expr, b: Expr, share: float = 0.7) -> Expr:
    """One transform after another, by Warp's builtin with that chance."""
    return fn("transform_multiply", a, b) if k.draw.shape.chance(share) else a * b


def by_matrix(r: Rig, m: Expr, p: Expr) -> Expr:
    """A point moved by a 4x4 matrix."""
    h = r.k.let("h hom", m * make(Vec(4, r.scalar), p[0], p[1], p[2], r.real(1.0)))
    return make(r.vec, h[0], h[1], h[2])


def quat_dot(a: Expr, b: Expr) -> Expr:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


def unit(value: Expr) -> Expr:
    return fn("normalize", value)


def minus(value: Expr) -> Expr:
    """The negative, of a literal as a literal."""
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(f"-{value.value}", value.type)
    return -value
