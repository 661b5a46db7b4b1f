"""A block for each stretch of a list: updates of lists, sums, extremes, scans."""

from __future__ import annotations

from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.build.tiles import applied, blocks, each, joined, load, scanned, spread, store
from generators.kit.functions import sqrt
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32
from generators.program.expr import Expr, Var
from generators.tile.common import scaled, threads, width
from generators.tile.terms import term


def _list(
    k: KernelBuilder, names: str, count: str, size: int, low: float = -2.0, high: float = 2.0
) -> Var:
    return k.array(names, FLOAT32, f"{size}*{count}", low=low, high=high)


def _span(n: int) -> str:
    """The elements of a block, in words."""
    return f"elements {n} * i to {n} * i + {n - 1}"


@idiom
def tiled_axpy(k: KernelBuilder, level: int) -> Title:
    """Updates of whole lists: BLAS' axpy and its kin, stages of Runge-Kutta, optimisers."""
    forms = {1: "axpy", 2: "axpby axpy", 3: "three rk4 average", 4: "momentum rk4 average"}
    form = k.draw.shape.choice(forms.get(level, "adam adam momentum").split())
    count, n = k.size("tiles", 3, 9), width(k)
    if form in ("momentum", "adam"):
        return _optimiser(k, form, count, n)
    if form == "rk4":
        return _runge_kutta(k, count, n)
    if form == "average":
        return _average(k, count, n)
    names = ("x", "y", "z")[: 3 if form == "three" else 2]
    lists = [_list(k, name, count, n) for name in names]
    (i,) = blocks(k, count, threads=threads(k, n))
    total, said = None, []
    for array, factor in zip(lists, ("alpha", "beta", "gamma"), strict=False):
        tile: Var = k.let(f"{array.name}_tile t{array.name}", load(array, i * n, n))
        words = array.name
        if array is not lists[-1] or form != "axpy":
            more, called = scaled(k, tile, factor)
            tile, words = k.let(f"{array.name}_scaled s{array.name}", more), f"{called} * {words}"
        said.append(words)
        total = tile if total is None else k.let("total acc sum", each("add", total, tile))
    assert total is not None
    out = k.out("out result", FLOAT32, f"{n}*{count}")
    store(k, out, i * n, total)
    return Title(
        k.name("tiled_axpy", "add_lists", f"tile_{form if form != 'three' else 'axpbypcz'}"),
        f"Compute {out.name} = {' + '.join(said)}: block i takes {_span(n)}.",
    )


def _average(k: KernelBuilder, count: str, n: int) -> Title:
    """An exponential moving average, written over the old one."""
    new = _list(k, "x params latest", count, n)
    old = k.array("average ema shadow", FLOAT32, f"{n}*{count}", role="inout", low=-2.0, high=2.0)
    decay = k.scalar("decay momentum", FLOAT32, low=0.6, high=0.95)
    (i,) = blocks(k, count, threads=threads(k, n))
    kept = k.let("kept old_part", each("mul", k.let("tile held", load(old, i * n, n)), decay))
    fresh = each("mul", k.let("new_tile fresh", load(new, i * n, n)), 1.0 - decay)
    store(k, old, i * n, each("add", kept, k.let("added new_part", fresh)))
    return Title(
        k.name("ema_update", "update_average"),
        f"Exponential moving average: {old.name} becomes {decay.name} * {old.name} + (1 - "
        f"{decay.name}) * {new.name}; block i takes {_span(n)}.",
    )


def _runge_kutta(k: KernelBuilder, count: str, n: int) -> Title:
    """The last stage of the classical method."""
    y = _list(k, "y state", count, n)
    stages = [_list(k, f"k{s}", count, n) for s in (1, 2, 3, 4)]
    h = k.scalar("h dt", FLOAT32, low=0.05, high=0.5)
    (i,) = blocks(k, count, threads=threads(k, n))
    first, second, third, last = (k.let(f"{a.name}_tile", load(a, i * n, n)) for a in stages)
    inner = k.let("inner middle", each("add", second, third))
    ends = k.let("ends outer", each("add", first, last))
    slope = k.let("slope total", each("add", ends, each("mul", inner, 2.0)))
    step = k.let("step dy", each("mul", slope, h / 6.0))
    out = k.out("y_next new_state", FLOAT32, f"{n}*{count}")
    store(k, out, i * n, each("add", k.let("y_tile held", load(y, i * n, n)), step))
    return Title(
        k.name("rk4_combine", "runge_kutta_step"),
        f"The last stage of a Runge-Kutta step: {out.name} = {y.name} + {h.name} / 6 * (k1 + 2 * "
        f"(k2 + k3) + k4); block i takes {_span(n)}.",
    )


def _optimiser(k: KernelBuilder, form: str, count: str, n: int) -> Title:
    """SGD with momentum, or Adam (D. P. Kingma and J. Ba, 2015), in place."""
    size = f"{n}*{count}"
    w = k.array("weights params", FLOAT32, size, role="inout", low=-1.0, high=1.0)
    g = _list(k, "grads gradient", count, n, -1.0, 1.0)
    m = k.array(
        "velocity momentum_buf" if form == "momentum" else "m exp_avg",
        FLOAT32,
        size,
        role="inout",
        low=-0.5,
        high=0.5,
    )
    lr = k.scalar("lr learning_rate", FLOAT32, low=0.1, high=0.5)
    b1 = k.scalar("mu momentum" if form == "momentum" else "beta1", FLOAT32, low=0.5, high=0.9)
    (i,) = blocks(k, count, threads=threads(k, n))
    grad = k.let("grad g_tile", load(g, i * n, n))
    old = k.let("m_tile held", load(m, i * n, n))
    if form == "momentum":
        moved = k.let("m_new v_new", each("add", each("mul", old, b1), grad))
        step = k.let("step change", each("mul", moved, lr))
        said = f"{m.name} becomes {b1.name} * {m.name} + {g.name}, then {w.name} loses "
        said += f"{lr.name} * {m.name}"
    else:
        fresh = k.let("g_part fresh", each("mul", grad, 1.0 - b1))
        moved = k.let("m_new first", each("add", each("mul", old, b1), fresh))
        step, said = _adam(k, (size, n), i, grad, moved, lr)
        said = f"{m.name} becomes {b1.name} * {m.name} + (1 - {b1.name}) * {g.name}, {said}"
        said = said.replace("{g}", g.name).replace("{m}", m.name).replace("{w}", w.name)
    store(k, m, i * n, moved)
    store(k, w, i * n, each("sub", k.let("w_tile now", load(w, i * n, n)), step))
    what = "SGD with momentum" if form == "momentum" else "An Adam step"
    names = ("sgd_momentum", "momentum_step") if form == "momentum" else ("adam_step", "adam_tiles")
    return Title(k.name(*names), f"{what}, in place: {said}. Block i takes {_span(n)}.")


def _adam(
    k: KernelBuilder, of: tuple[str, int], i: Var, grad: Var, moved: Var, lr: Var
) -> tuple[Var, str]:
    """The second moment, which is updated, and the step; what is said of both."""
    size, n = of
    v = k.array("v exp_avg_sq", FLOAT32, size, role="inout", low=0.05, high=1.0)
    b2 = k.scalar("beta2", FLOAT32, low=0.8, high=0.95)
    c1 = k.scalar("bias1 correct1", FLOAT32, low=0.3, high=0.8)
    c2 = k.scalar("bias2 correct2", FLOAT32, low=0.3, high=0.8)
    old = k.let("v_tile spread_of", load(v, i * n, n))
    power = k.let("g_sq power", each("mul", each("mul", grad, grad), 1.0 - b2))
    var = k.let("v_new second", each("add", each("mul", old, b2), power))
    store(k, v, i * n, var)
    root = helper(k, "root_eps denom_of", [("s", FLOAT32)], lambda _, s: sqrt(s) + 1e-8)
    down = k.let("denom root", applied(k, root, each("div", var, c2)))
    step = k.let("step change", each("mul", each("div", moved, down), lr / c1))
    said = f"{v.name} becomes {b2.name} * {v.name} + (1 - {b2.name}) * {{g}}^2, then {{w}} loses "
    said += f"{lr.name} / {c1.name} * {{m}} / (sqrt({v.name} / {c2.name}) + 1e-8)"
    return step, said


@idiom
def block_total(k: KernelBuilder, level: int) -> Title:
    """Partial sums: a sum, mean or root of each stretch of a list."""
    count, n = k.size("tiles", 6, 14), width(k)
    x = _list(k, "x data samples", count, n)
    (i,) = blocks(k, count, threads=threads(k, n))

    def other(names: str, low: float, high: float) -> tuple[Var, str]:
        array = _list(k, names, count, n, low, high)
        return k.let(f"{array.name}_tile {array.name}_t", load(array, i * n, n)), array.name

    part = term(k, level, k.let("tile t", load(x, i * n, n)), x.name, other)
    total, what = k.let("total s", joined("sum", part.tile)), "sum"
    if k.draw.shape.chance(0.3):
        total, what = k.let("mean average", each("div", total, float(n))), "mean"
    if part.squared and k.draw.shape.chance(0.35):
        total, what = k.let("root norm", each("sqrt", total)), f"root of the {what}"
    out = k.out("sums partial" if what == "sum" else "results per_block", FLOAT32, (count,))
    store(k, out, i, total)
    return Title(
        k.name(f"block_{part.called}", f"tile_{part.called}"),
        f"Block i takes {_span(n)} of the lists and stores the {what} of {part.words} over them in "
        f"{out.name}[i].",
    )


@idiom
def block_extremes(k: KernelBuilder, level: int) -> Title:
    """The least and the largest element, magnitude or difference of each stretch of a list."""
    count, n = k.size("tiles", 9, 17), width(k)
    x = _list(k, "x data heights", count, n)
    (i,) = blocks(k, count, threads=threads(k, n))
    tile, said = _measured(k, level, k.let("tile t", load(x, i * n, n)), x.name, (count, n), i)
    kind = k.draw.shape.choice(("max", "min", "range", "both")[: 2 if level == 1 else 4])
    found = {}
    if kind != "min":
        found["largest"] = k.let("top largest", joined("max", tile))
    if kind != "max":
        found["least"] = k.let("bottom least", joined("min", tile))
    if kind == "range":
        value = k.let("gap extent_of", each("sub", found["largest"], found["least"]))
        found = {"largest less the least": value}
    told = []
    for words, value in found.items():
        out = k.out(f"{value.name}_out block_{value.name}", FLOAT32, (count,))
        store(k, out, i, value)
        told.append(f"the {words} {said} over them in {out.name}[i]")
    name = {"range": "block_range tile_spread", "both": "block_bounds tile_bounds"}
    return Title(
        k.name(name.get(kind, f"block_{kind} tile_{kind}")),
        f"Block i takes {_span(n)} of {x.name} and stores {' and '.join(told)}.",
    )


def _measured(
    k: KernelBuilder, level: int, tile: Var, name: str, of: tuple[str, int], i: Var
) -> tuple[Var, str]:
    """What extremes are taken of: elements, magnitudes, differences, lengths; in words."""
    count, n = of
    forms = ("plain", "size", "gap", "distance", "length", "relative")
    form = k.draw.shape.choice(forms[max(0, level - 2) : level + 1])
    if form == "plain":
        return tile, f"of {name}"
    if form == "size":
        return k.let("sizes mags", each("abs", tile)), f"|{name}|"
    names = "im imag_part" if form == "length" else "y reference"
    y = _list(k, names, count, n)
    second = k.let("y_tile q", load(y, i * n, n))
    if form == "length":
        power = each("add", each("mul", tile, tile), each("mul", second, second))
        lengths = k.let("lengths mags", each("sqrt", k.let("power sq", power)))
        return lengths, f"sqrt({name}^2 + {y.name}^2)"
    d = k.let("d gap_tile", each("sub", tile, second))
    if form == "gap":
        return d, f"{name} - {y.name}"
    sizes = k.let("sizes mags", each("abs", d))
    if form == "distance":
        return sizes, f"|{name} - {y.name}|"
    bound = helper(k, "one_plus_size scale_of", [("v", FLOAT32)], lambda _, v: 1.0 + abs(v))
    share = each("div", sizes, k.let("scale_tile", applied(k, bound, second)))
    return k.let("errors relative", share), f"|{name} - {y.name}| / (1 + |{y.name}|)"


@idiom
def block_scan(k: KernelBuilder, level: int) -> Title:
    """Prefix sums within each stretch of a list: inclusive, exclusive, with a carry, as shares."""
    count, n = k.size("tiles", 3, 9), k.draw.shape.choice((64, 128))
    positive = level >= 3 and k.draw.shape.chance(0.4)
    low = 0.1 if positive else -2.0
    x = _list(k, "weights mass" if positive else "x values data", count, n, low, 2.0)
    (i,) = blocks(k, count, threads=n)
    tile, said = k.let("tile t", load(x, i * n, n)), x.name
    if level > 1 and not positive and k.draw.shape.chance(0.5):
        steps = _list(k, "dt widths", count, n, 0.1, 1.0)
        width_tile = k.let("dt_tile steps_tile", load(steps, i * n, n))
        tile, said = k.let("areas parts", each("mul", tile, width_tile)), f"{said} * {steps.name}"
    value: Expr = k.let("sums prefix running", scanned(tile))
    each_one = "itself and those before it"
    if level > 1 and not positive and k.draw.shape.chance(0.5):
        value, each_one = k.let("before exclusive", each("sub", value, tile)), "those before it"
    out = k.out("out scanned", FLOAT32, f"{n}*{count}")
    text = f"the sum of {said} over {each_one} in its stretch"
    if positive:
        whole = k.let("whole total", joined("sum", tile))
        value = each("div", value, spread(whole, tile))
        text += ", as a share of the sum over the stretch"
    elif level > 3 and k.draw.shape.chance(0.7):
        carry = k.array("carry block_offsets", FLOAT32, (count,), low=-3.0, high=3.0)
        value = each("add", value, spread(k.let("offset base", load(carry, i, 1)), tile))
        text += f", plus {carry.name}[i]"
    store(k, out, i * n, value)
    more = ""
    if (not positive and level > 2) or (positive and k.draw.shape.chance(0.5)):
        last = whole if positive else k.let("whole total", joined("sum", tile))
        totals = k.out("totals block_sums", FLOAT32, (count,))
        store(k, totals, i, last)
        more = f" {totals.name}[i] gets the sum over the stretch."
    return Title(
        k.name("block_scan", "tile_prefix_sum") if not positive else k.name("block_cdf tile_cdf"),
        f"A scan by blocks: block i takes {_span(n)}, and {out.name} gets for each {text}.{more}",
    )
