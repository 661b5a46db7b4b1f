"""Fixed point: integers that stand for numbers with a fixed number of fraction bits."""

from __future__ import annotations

from dataclasses import dataclass

from generators.arithmetic.parts import Grid, grid
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

INT64, INT16 = Scalar("int64"), Scalar("int16")
_TITLES = {
    "product": ("fixed_multiply", "q_multiply"),
    "square": ("fixed_square", "q_square"),
    "scale": ("fixed_scale", "apply_gain_q"),
    "multiply_add": ("fixed_multiply_add", "q_multiply_add"),
    "mix": ("fixed_blend", "q_lerp"),
    "dot": ("fixed_dot", "q_dot_product"),
    "horner": ("fixed_polynomial", "q_horner"),
}


@dataclass
class Fixed:
    """Numbers in a narrow type, their fraction bits, and the type of products."""

    k: KernelBuilder
    g: Grid
    level: int
    type: Scalar
    wide: Scalar
    bits: int
    rounds: bool
    multiply: str = ""

    @property
    def one(self) -> int:
        return 1 << self.bits

    def array(self, names: tuple[str, ...], dims: tuple[str, ...] | str, most: int) -> Var:
        return self.k.array(names, self.type, dims, low=0, high=most)

    def given(self, names: tuple[str, ...], most: int) -> tuple[Expr, str]:
        """A number of the thread in the wide type, or one that all threads share."""
        if self.k.draw.shape.chance(0.3):
            var = self.k.scalar(names, self.wide, most // 4, most)
            return var, var.name
        var = self.array(names, self.g.sizes, most)
        return cast(var[self.g.at], self.wide), var.name

    def shifted(self, product: Expr) -> Expr:
        """A product with its own fraction bits shifted out."""
        return (product + self.one // 2 if self.rounds else product) >> self.bits

    def times(self, a: Expr, b: Expr) -> Expr:
        """A product of two numbers, in a function from level 3 on now and then."""
        if self.level < 3 or (not self.multiply and not self.k.draw.shape.chance(0.6)):
            return self.shifted(a * b)
        if not self.multiply:
            params = [("a", self.wide), ("b", self.wide)]
            names = "fixed_mul q_mul mul_q"
            self.multiply = helper(self.k, names, params, self._product)
        return self.k.call(self.multiply, a, b)

    def _product(self, _: BodyBuilder, a: Expr, b: Expr) -> Expr:
        return self.shifted(a * b)


@idiom
def fixed_point(k: KernelBuilder, level: int) -> Title:
    """Products, blends and polynomials of fixed-point numbers, rounded, limited and masked."""
    shape = k.draw.shape
    type_ = shape.choice((INT16, INT32))
    bits = k.draw.value.choice((6, 7, 8) if type_ == INT16 else (8, 10, 12, 16))
    g = grid(k, {1: 5, 2: 3, 3: 1})
    wide = INT32 if type_ == INT16 else INT64
    f = Fixed(k, g, level, type_, wide, bits, shape.chance(0.5))
    forms = ["product", "square", "scale", "mix", "multiply_add"]
    form = shape.choice([*forms, "dot", "horner"] if level >= 3 else forms)
    mask = None
    if level >= 4 and shape.chance(0.6):
        mask = k.array("valid mask", INT32, g.sizes, low=0, high=2)
    out = k.out("out_q result_q dst_q", type_, g.sizes)
    done = f"For fixed-point numbers with {bits} fraction bits, compute q = "
    note = ""
    if mask is not None:
        with k.if_(fn("eq", mask[g.at], 0)):
            k.store(out, g.at, 0)
            k.return_()
        note = f" Where {mask.name} is 0, {out.name} gets 0."
    value, text = _FORMS[form](f)
    q = k.let("q value_q acc_q", value)
    how = f"rounded (add {f.one // 2}, shift right by {bits})"
    done += f"{text}, each product {how if f.rounds else f'shifted right by {bits}'}."
    done += _finished(f, q, form)
    k.store(out, g.at, cast(q, type_))
    return Title(k.name(*_TITLES[form]), f"{done} Products are taken in {wide}.{note}")


def _finished(f: Fixed, q: Var, form: str) -> str:
    """What becomes of the result: an offset, a floor, a limit."""
    k, done = f.k, ""
    shift = "offset" if form in ("dot", "horner") else k.draw.shape.choice(("offset", "floor"))
    chosen = [(), (), (shift,), ("limit",), (shift, "limit"), (shift, "limit")][f.level]
    if f.level < 3 and k.draw.shape.chance(0.5):
        chosen = (k.draw.shape.choice((shift, "limit")),)
    if "offset" in chosen:
        offset = k.scalar("offset_q bias_q", f.wide, f.one // 4, f.one)
        k.augment(q, "add", offset)
        done += f" Add {offset.name} to it."
    if "floor" in chosen:
        floor = k.scalar("threshold_q floor_q", f.wide, f.one // 4, f.one // 2)
        k.assign(q, fn("max", q - floor, 0))
        done += f" Then replace q by max(q - {floor.name}, 0)."
    if "limit" in chosen:
        top = 2 * f.one if "offset" in chosen or form == "horner" else f.one
        most = top if k.draw.shape.chance(0.5) else top - 1
        k.assign(q, fn("min", q, most))
        done += f" It is at most {most}."
    return done


def _product(f: Fixed) -> tuple[Expr, str]:
    (a, a_text), (b, b_text) = _first(f), f.given(("b_q", "level_q"), 2 * f.one)
    return f.times(a, b), f"{a_text} * {b_text}"


def _first(f: Fixed) -> tuple[Expr, str]:
    a = f.array("x_q a_q samples_q", f.g.sizes, 2 * f.one)
    return cast(a[f.g.at], f.wide), a.name


def _square(f: Fixed) -> tuple[Expr, str]:
    a, text = _first(f)
    x = f.k.let("x v", a)
    return f.times(x, x), f"{text} * {text}"


def _scale(f: Fixed) -> tuple[Expr, str]:
    a, text = _first(f)
    gain = f.k.scalar("gain_q scale_q", f.wide, f.one, 2 * f.one)
    return f.times(gain, a), f"{gain.name} * {text}"


def _mix(f: Fixed) -> tuple[Expr, str]:
    (a, a_text), (b, b_text) = _first(f), f.given(("b_q", "back_q"), 2 * f.one)
    t, t_text = f.given(("t_q", "share_q"), f.one)
    t = f.k.let("t share", t)
    text = f"{t_text} * {a_text} + ({f.one} - {t_text}) * {b_text} in one product sum"
    return f.shifted(t * a + (f.one - t) * b), text


def _multiply_add(f: Fixed) -> tuple[Expr, str]:
    (a, a_text), (b, b_text) = _first(f), f.given(("b_q", "gain_q"), 2 * f.one)
    c, c_text = f.given(("c_q", "addend_q"), f.one)
    return f.times(a, b) + c, f"{a_text} * {b_text} + {c_text}"


def _dot(f: Fixed) -> tuple[Expr, str]:
    """The sum of products along a short last axis, shifted once at the end."""
    k = f.k
    k.size("taps", 3, 5)
    x = f.array("x_q window_q", (*f.g.sizes, "taps"), f.one)
    w = f.array("w_q taps_q", "taps", f.one // 2)
    total = k.let("acc total", k.lift(0, f.wide))
    with k.for_("tap c", k.trip_count("num_taps length", "taps")) as tap:
        place = (*f.g.at, tap)
        k.augment(total, "add", cast(x[place], f.wide) * cast(w[tap], f.wide))
    return f.shifted(total), f"the sum of {x.name} * {w.name} along the last axis, as one product"


def _horner(f: Fixed) -> tuple[Expr, str]:
    """A quadratic or cubic polynomial of the number."""
    k = f.k
    x_array = f.array("x_q phase_q", f.g.sizes, f.one)
    degree = k.draw.shape.choice((2, 3))
    coeffs = f.array("coeffs_q poly_q", str(degree + 1), f.one)
    x = k.let("x v", cast(x_array[f.g.at], f.wide))
    value: Expr = cast(coeffs[degree], f.wide)
    for power in reversed(range(degree)):
        value = k.let("p acc partial", f.times(value, x) + cast(coeffs[power], f.wide))
    text = f"the polynomial of {x_array.name} with the coefficients {coeffs.name}, lowest first, "
    return value, f"{text}by Horner's rule"


_FORMS = {
    "product": _product,
    "square": _square,
    "scale": _scale,
    "mix": _mix,
    "multiply_add": _multiply_add,
    "dot": _dot,
    "horner": _horner,
}
