"""Windows of planes without weights: pooling, erosion and dilation; gradients of images."""

from __future__ import annotations

from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, zero
from generators.matrix.large.core import Cells, at, cells
from generators.matrix.large.finish import finish
from generators.program.expr import Expr, Operand, Var

_NAMES = {
    2: (("i", "j"), ("row", "col"), ("y", "x")),
    3: (("c", "y", "x"), ("ch", "row", "col")),
    4: (("b", "c", "y", "x"), ("item", "ch", "row", "col")),
}
_LEADS = {2: (), 3: ("c",), 4: ("b", "c")}
_POOLS = ("max", "min", "mean", "root_mean_square", "range")


@idiom
def pool_planes(k: KernelBuilder, level: int) -> Title:
    """Pooling of blocks or overlapping windows; erosion and dilation at stride 1."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rank = shape.weighted({2: 4, 3: 4, 4: 2})
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 4, 6), k.size("w", 5, 7)
    side, step = shape.choice(((2, 2), (3, 2), (3, 1), (3, 3), (2, 1)))
    form = shape.choice(_POOLS)
    clamped = shape.chance(0.4)
    sizes = [s if step == 1 else f"{step}*{s}" for s in (h, w)]
    if not clamped and side > step:
        sizes = [f"{s}+{side - step}" for s in sizes]
    image = k.array(
        "image activations planes feature_map", scalar, (*leads, *sizes), low=-1.0, high=1.0
    )
    ends: list[Var] = []
    if clamped and side > step:
        names = (("height", "num_rows"), ("width", "num_cols"))
        ends = [k.size_param(n, s) for n, s in zip(names, sizes, strict=True)]
    c = cells(k, scalar, (*leads, h, w), *_NAMES[rank])
    lead, (y, x) = c.at[:-2], c.at[-2:]
    top = y if step == 1 else k.let("top y0 row0", step * y)
    left = x if step == 1 else k.let("left x0 col0", step * x)

    def pixel(a: Operand, b: Operand) -> Expr:
        row, col = top + a, left + b
        if ends:
            row, col = fn("min", row, ends[0] - 1), fn("min", col, ends[1] - 1)  # type: ignore[assignment]
        return image[at(*lead, row, col)]

    value = _pooled(c, form, side, image[at(*lead, top, left)], pixel)
    c.say(f"Take the {form.replace('_', ' ')} of the {side} x {side} window of")
    c.say(f"{'each plane of ' if leads else ''}{image.name} that starts at {step} times the")
    c.say(f"position{', positions limited to the image' if ends else ''}.")
    finish(c, level, value, "out pooled reduced", active=form != "root_mean_square", signed=False)
    return Title(k.name(f"pool_planes {form}_pool pool_{form} window_pool"), c.text)


def _pooled(c: Cells, form: str, side: int, first: Expr, pixel: object) -> Var:
    k = c.k
    assert callable(pixel)
    sums = form in ("mean", "root_mean_square")
    start = zero(c.scalar) if sums else first
    value = k.let("pooled acc best", start)
    other = k.let("lowest smallest", first) if form == "range" else value
    down, across = k.draw.word.choice((("di", "dj"), ("r", "q"), ("ky", "kx")))
    with k.for_(down, side) as a, k.for_(across, side) as b:
        entry = k.let("entry pixel v", pixel(a, b))
        if sums:
            k.augment(value, "add", entry if form == "mean" else entry * entry)
        else:
            k.assign(value, fn("min" if form == "min" else "max", value, entry))
        if form == "range":
            k.assign(other, fn("min", other, entry))
    if form == "range":
        k.augment(value, "sub", other)
    if form == "mean":
        k.augment(value, "div", float(side * side))
    if form == "root_mean_square":
        k.assign(value, fn("sqrt", value / float(side * side)))
    return value


_OPERATORS = ("sobel", "scharr", "prewitt", "central", "roberts")


@idiom
def image_gradient(k: KernelBuilder, level: int) -> Title:
    """Gradients of images by Sobel and kin: components, magnitude, direction."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    rank = shape.weighted({2: 5, 3: 4})
    leads = [k.size(s, 2, 3) for s in _LEADS[rank]]
    h, w = k.size("h", 6, 8), k.size("w", 6, 8)
    form = shape.choice(_OPERATORS)
    image = k.array(
        "image gray height_map field", scalar, (*leads, f"{h}+2", f"{w}+2"), low=-1.0, high=1.0
    )
    c = cells(k, scalar, (*leads, h, w), *_NAMES[rank])
    gx, gy = _components(c, form, image, level)
    c.say(f"At the inner pixel (row + 1, column + 1) of {'each plane of ' if leads else ''}")
    c.said[-1] = c.said[-1].rstrip() + f" {image.name}, {_ABOUT[form]}."
    if level >= 3 and shape.chance(0.5):
        for part, names in ((gx, ("gxs", "dx_out")), (gy, ("gys", "dy_out"))):
            target = c.write(names, part)
            c.say(f"{target.name} gets {'gx' if part is gx else 'gy'}.")
    value = _measure(c, gx, gy)
    if level >= 4 and shape.chance(0.5):
        target = c.write("direction angles", fn("atan2", gy, fn("abs", gx) + 0.1))
        c.say(f"{target.name} gets atan2(gy, |gx| + 0.1).")
    finish(c, level, value, "edges out gradient", active=False, signed=False)
    return Title(k.name(f"{form}_gradient image_gradient {form}_edges"), c.text)


_ABOUT = {
    "sobel": "gx and gy are the Sobel differences: weights 1, 2, 1 across, over 8",
    "scharr": "gx and gy are the Scharr differences: weights 3, 10, 3 across, over 32",
    "prewitt": "gx and gy are the Prewitt differences: weights 1, 1, 1 across, over 6",
    "central": "gx and gy are half the differences of the neighbours after and before",
    "roberts": "gx = u[1, 1] - u[2, 2] and gy = u[1, 2] - u[2, 1] by offsets from the position",
}


def _components(c: Cells, form: str, image: Var, level: int) -> tuple[Var, Var]:
    k = c.k
    lead, (y, x) = c.at[:-2], c.at[-2:]

    def u(a: int, b: int) -> Expr:
        return image[at(*lead, y + a if a else y, x + b if b else x)]

    if form == "roberts":
        return k.let("gx dx", u(1, 1) - u(2, 2)), k.let("gy dy", u(1, 2) - u(2, 1))
    if form == "central":
        return (
            k.let("gx dx", 0.5 * (u(1, 2) - u(1, 0))),
            k.let("gy dy", 0.5 * (u(2, 1) - u(0, 1))),
        )
    side, middle, over = {
        "sobel": (1.0, 2.0, 8.0),
        "scharr": (3.0, 10.0, 32.0),
        "prewitt": (1.0, 1.0, 6.0),
    }[form]

    def smooth(a: Expr, b: Expr, d: Expr) -> Expr:
        if form == "prewitt":
            return a + b + d
        return a + middle * b + d if form == "sobel" else side * a + middle * b + side * d

    across = [(u(i, 2), u(i, 0)) for i in range(3)]
    down = [(u(2, i), u(0, i)) for i in range(3)]
    use_helper = level >= 2 and k.draw.shape.chance(0.6)
    name = ""
    if use_helper:
        kinds = [(n, c.scalar) for n in ("a", "b", "d")]
        name = helper(
            k, f"{form}_weights smooth3 across", kinds, lambda _, a, b, d: smooth(a, b, d)
        )

    def sums(parts: list[Expr]) -> Expr:
        return k.call(name, *parts) if name else smooth(*parts)

    def side_of(pairs: list[tuple[Expr, Expr]]) -> Expr:
        return (sums([p for p, _ in pairs]) - sums([q for _, q in pairs])) / over

    return k.let("gx dx", side_of(across)), k.let("gy dy", side_of(down))


def _measure(c: Cells, gx: Var, gy: Var) -> Var:
    k = c.k
    form = k.draw.shape.choice(("length", "l1", "largest", "energy", "slope"))
    names = ("strength", "magnitude", "mag")
    if form == "length":
        c.say("The value is sqrt(gx^2 + gy^2 + 1e-6).")
        return k.let(names, fn("sqrt", gx * gx + gy * gy + 1.0e-6))
    if form == "l1":
        c.say("The value is |gx| + |gy|.")
        return k.let(names, fn("abs", gx) + fn("abs", gy))
    if form == "largest":
        c.say("The value is max(|gx|, |gy|).")
        return k.let(names, fn("max", fn("abs", gx), fn("abs", gy)))
    if form == "energy":
        c.say("The value is gx^2 + gy^2.")
        return k.let(names, gx * gx + gy * gy)
    by, text = c.factor("lam contrast", "lams contrasts", 0.5, 2.0)
    c.say(f"The value is 1 / (1 + {text} * (gx^2 + gy^2)).")
    return k.let("stop conductance", 1.0 / (1.0 + by * (gx * gx + gy * gy)))
