"""Mathematics: activations, distributions, softmax statistics, angles, tone curves."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.expr import Expr, Var
from generators.registry import Category, Title
from generators.stages import refine

CATEGORY = Category("math", "elementary functions as science, graphics and learning use them")

_OUTPUTS = ("out", "result", "dst", "output")
_LOCALS = ("value", "response", "shaped", "adjusted", "v")
_Form = Callable[[Expr], Expr]
_Pair = Callable[[Expr, Expr], Expr]


def _then(phrase: str) -> str:
    return f" The value is {phrase}." if phrase else ""


def _softplus(x: Expr) -> Expr:
    return fn("max", x, 0.0) + fn("log", 1.0 + fn("exp", -fn("abs", x)))


_ACTIVATIONS: dict[str, tuple[str, _Form]] = {
    "sigmoid": ("the logistic sigmoid", lambda x: 1.0 / (1.0 + fn("exp", -x))),
    "softplus": ("softplus, safe from overflow,", _softplus),
    "swish": ("swish, x / (1 + exp(-x)),", lambda x: x / (1.0 + fn("exp", -x))),
    "gelu": ("exact (erf) GELU", lambda x: 0.5 * x * (1.0 + fn("erf", x * 0.70710678))),
    "mish": ("mish, x * tanh(softplus(x)),", lambda x: x * fn("tanh", _softplus(x))),
    "elu": ("ELU with alpha 1", lambda x: fn("where", x > 0.0, x, fn("exp", x) - 1.0)),
    "hard_swish": (
        "x * clamp(x + 3, 0, 6) / 6",
        lambda x: x * fn("clamp", x + 3.0, 0.0, 6.0) / 6.0,
    ),
    "softsign": ("softsign, x / (1 + |x|),", lambda x: x / (1.0 + fn("abs", x))),
    "tanh_shrink": ("x - tanh(x)", lambda x: x - fn("tanh", x)),
    "smooth_abs": ("sqrt(x * x + 1) - 1", lambda x: fn("sqrt", x * x + 1.0) - 1.0),
}


@CATEGORY.idiom
def activation(k: KernelBuilder, level: int) -> Title:
    """A neural activation, at higher levels with bias, gate, residual and a helper function."""
    shape, type_ = k.draw.shape, k.draw.float_type()
    n = k.size("n", 48, 96)
    source = k.array(("x", "logits", "inputs", "features", "pre"), type_, n, low=-4.0, high=4.0)
    (i,) = k.thread(n)
    form = shape.choice(sorted(_ACTIVATIONS))
    phrase, apply = _ACTIVATIONS[form]
    entry: Expr = source[i]
    bias_form = shape.choice(("none", "array", "scalar") if level >= 2 else ("none", "scalar"))
    if bias_form == "array":
        entry = entry + k.array(("bias", "offsets"), type_, n, low=-1.0, high=1.0)[i]
    elif bias_form == "scalar":
        entry = entry + k.scalar(("bias", "shift"), type_, -1.0, 1.0)
    gated = level >= 3 and shape.chance(0.5)
    gate = k.array(("gate", "gates"), type_, n, low=-3.0, high=3.0) if gated else source
    out = k.out(_OUTPUTS, type_, n)
    signal = refine(k, entry, level, ("h", "u", "pre", "s"), scale=2.0)
    z = signal.value if isinstance(signal.value, Var) else k.let(("z", "h", "u"), signal.value)
    if level >= 3 and shape.chance(0.5):
        body = BodyBuilder(k.draw)
        x = Var(body.name("x"), type_)
        body.return_(apply(x))
        value: Expr = k.call(k.function(k.name(form), (x,), body, type_), z)
    else:
        value = apply(z)
    done = f"Apply {phrase} to {source.name}{'' if bias_form == 'none' else ' plus the bias'}"
    done += f", first {signal.phrase}" if signal.phrase else ""
    if gated:
        value = value / (1.0 + fn("exp", -gate[i]))
        done += f"; gate the result by the sigmoid of {gate.name}"
    if level >= 4 and shape.chance(0.5):
        value = z + value
        done += "; add the activation's argument as a residual"
    k.store(out, i, value)
    name = k.name(f"{form}_forward", f"apply_{form}", f"{form}_kernel", f"{form}_activation")
    return Title(name, f"{done}.")


_DISTRIBUTIONS: dict[str, tuple[str, _Pair]] = {
    "normal_pdf": ("normal density", lambda z, s: 0.39894228 / s * fn("exp", -0.5 * z * z)),
    "normal_logpdf": ("normal log-density", lambda z, s: -0.5 * z * z - fn("log", 2.5066283 * s)),
    "normal_cdf": ("normal CDF (erf)", lambda z, _: 0.5 * (1.0 + fn("erf", z * 0.70710678))),
    "normal_tail": ("upper normal tail (erfc)", lambda z, _: 0.5 * fn("erfc", z * 0.70710678)),
    "logistic_cdf": ("logistic CDF", lambda z, _: 1.0 / (1.0 + fn("exp", -z))),
    "laplace_logpdf": ("Laplace log-density", lambda z, s: -fn("abs", z) - fn("log", 2.0 * s)),
    "cauchy_pdf": ("Cauchy density", lambda z, s: 0.31830989 / (s * (1.0 + z * z))),
    "cauchy_cdf": ("Cauchy CDF", lambda z, _: 0.5 + 0.31830989 * fn("atan", z)),
    "gumbel_cdf": ("Gumbel CDF", lambda z, _: fn("exp", -fn("exp", -z))),
    "sech_pdf": ("hyperbolic secant density", lambda z, s: 0.5 / (s * fn("cosh", 1.5707963 * z))),
}


@CATEGORY.idiom
def distribution(k: KernelBuilder, level: int) -> Title:
    """A density or distribution function, at higher levels summed over mixture components."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_DISTRIBUTIONS))
    phrase, density = _DISTRIBUTIONS[form]
    n = k.size("n", 48, 96)
    x = k.array(("x", "samples", "observations", "points"), type_, n, low=-2.0, high=2.0)
    dim = k.size("m", 3, 6) if level >= 3 else n
    means = k.array(("means", "centers", "locations"), type_, dim, low=-1.0, high=1.0)
    weighted = level >= 3 and shape.chance(0.6)
    weights = k.array(("weights", "priors"), type_, dim, low=0.2, high=1.0) if weighted else x
    sigma = k.scalar(("sigma", "width", "spread"), type_, 0.5, 1.5)
    out = k.out(("out", "density", "likelihood", "result"), type_, n)
    (i,) = k.thread(n)
    done = f"the {phrase} of location {means.name} and scale {sigma.name} at each of {x.name}"
    signal = refine(k, x[i], level, ("xi", "sample", "point", "obs"), scale=1.2)
    if level < 3:
        z = k.let(("z", "standardized", "u"), (signal.value - means[i]) / sigma)
        value, done = density(z, sigma), f"Evaluate {done}"
    else:
        count = k.size_param(("components", "num_components"), dim)
        value = k.let(("total", "acc", "mixture"), k.lift(0.0, type_))
        with k.for_(("c", "comp", "component"), count) as c:
            z = k.let(("z", "standardized", "u"), (signal.value - means[c]) / sigma)
            part = density(z, sigma)
            k.augment(value, "add", weights[c] * part if weighted else part)
        done = f"Sum {done}{f', times {weights.name},' if weighted else ''} over all components"
    k.store(out, i, value)
    done += f", each sample first {signal.phrase}" if signal.phrase else ""
    name = k.name(*((f"eval_{form}", form) if level < 3 else (f"mixture_{form}", f"sum_{form}")))
    return Title(name, f"{done}.")


_ROW_STATS = {
    "logsumexp": ("log-sum-exp", 1.5, 3.5),
    "entropy": ("entropy of the softmax", 0.4, 1.6),
    "soft_maximum": ("softmax-weighted mean score", 0.5, 2.5),
}


@CATEGORY.idiom
def softmax_statistic(k: KernelBuilder, level: int) -> Title:
    """Row reductions through the shifted exponential, written stably."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    rows, cols = k.size("rows", 48, 80), k.size("cols", 4, 7)
    logits = k.array(("logits", "scores", "energies"), type_, (rows, cols), low=-3.0, high=3.0)
    form = shape.choice(sorted(_ROW_STATS))
    stat, low, high = _ROW_STATS[form]
    beta = prior = baseline = None
    if level >= 2:
        baseline = k.array(("baseline", "reference", "target"), type_, rows, low=low, high=high)
    if shape.chance(0.5):
        beta = k.scalar(("beta", "inverse_temperature", "sharpness"), type_, 0.8, 1.2)
    if level >= 3 and shape.chance(0.5):
        prior = k.array(("bias", "log_prior", "offsets"), type_, cols, low=-1.0, high=1.0)
    width = k.size_param(("num_classes", "num_cols", "width"), cols)
    out = k.out(("out", "result", "row_stat"), type_, rows)
    (r,) = k.thread(rows, names=(k.draw.word.choice(("row", "r", "i")),))

    def score(j: Expr | int) -> Expr:
        value: Expr = logits[r, j] if prior is None else logits[r, j] + prior[j]
        return value if beta is None else beta * value

    top = k.let(("top", "largest", "peak"), score(0))
    with k.for_(("j", "c", "col"), width, start=1) as j:
        k.assign(top, fn("max", top, score(j)))
    total = k.let(("total", "denom", "partition"), k.lift(0.0, type_))
    moment = None if form == "logsumexp" else k.let(("weighted", "moment"), k.lift(0.0, type_))
    k.used.discard(j.name)
    with k.for_(j.name, width) as j:
        if moment is None:
            k.augment(total, "add", fn("exp", score(j) - top))
        else:
            shifted = k.let(("shifted", "delta"), score(j) - top)
            weight = k.let(("e", "mass", "w"), fn("exp", shifted))
            k.augment(total, "add", weight)
            k.augment(moment, "add", weight * shifted)
    value: Expr = top + fn("log", total)
    if moment is not None:
        mean = moment / total
        value = fn("log", total) - mean if form == "entropy" else top + mean
    value = value if baseline is None else value - baseline[r]
    signal = refine(k, value, level, _LOCALS)
    k.store(out, r, signal.value)
    done = f"Compute the {stat} of each row of {logits.name}"
    done += f", with {prior.name} added to its columns" if prior else ""
    done += f", scaled by {beta.name}" if beta else ""
    done += f", less {baseline.name}" if baseline else ""
    name = k.name(f"row_{form}", f"{form}_rows", f"stable_{form}")
    return Title(name, f"{done}; subtract the row maximum in the exponent.{_then(signal.phrase)}")


_Angle = Callable[[Expr, Expr, Expr], Expr]
_ANGLES: dict[str, tuple[str, str, _Angle]] = {
    "heading": (
        "",
        "atan2(y, x) in degrees / 90",
        lambda x, y, _: fn("degrees", fn("atan2", y, x)) / 90.0,
    ),
    "elevation": ("r", "asin(y / r)", lambda x, y, r: fn("asin", y / r)),
    "tilt": ("r", "acos(y / r) - 1.5708", lambda x, y, r: fn("acos", y / r) - 1.5708),
    "log_radius": ("r", "log(r)", lambda x, y, r: fn("log", r)),
    "swirl": ("r", "x cos(r) - y sin(r)", lambda x, y, r: x * fn("cos", r) - y * fn("sin", r)),
    "rings": ("r", "sin(3 r) / r", lambda x, y, r: fn("sin", 3.0 * r) / r),
    "wrapped_turn": ("turn", "x - y wrapped to [-pi, pi)", lambda x, y, turn: _wrapped(turn)),
    "halfway": (
        "turn",
        "y plus half of x - y wrapped",
        lambda x, y, turn: y + 0.5 * _wrapped(turn),
    ),
}


def _wrapped(turn: Expr) -> Expr:
    return turn - 6.2831853 * fn("floor", turn / 6.2831853 + 0.5)


@CATEGORY.idiom
def planar_angle(k: KernelBuilder, level: int) -> Title:
    """Angles and polar coordinates of points, at higher levels averaged over beacons."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    form = shape.choice(sorted(_ANGLES))
    local, phrase, angle = _ANGLES[form]
    n = k.size("n", 48, 96)
    names = k.draw.word.choice((("px", "py"), ("xs", "ys"), ("east", "north")))
    px, py = (k.array(name, type_, n, low=-3.0, high=3.0) for name in names)
    around = level >= 3 and shape.chance(0.6)
    m = k.size("m", 3, 5) if around else n
    names = ("beacon_x", "beacon_y") if around else names
    bx, by = (k.array(b, type_, m, low=-1.0, high=1.0) for b in names) if around else (px, py)
    count = k.size_param(("num_beacons", "beacons"), m) if around else px
    out = k.out(("out", "angles", "result"), type_, n)
    (i,) = k.thread(n)
    done = f"Compute {phrase} of the points x = {px.name}, y = {py.name}"

    def measured(x: Expr, y: Expr) -> Expr:
        r = x if not local else fn("sqrt", x * x + y * y + 0.01) if local == "r" else x - y
        return angle(x, y, k.let(local, r) if local else r)

    if around:
        total = k.let(("total", "acc"), k.lift(0.0, type_))
        with k.for_(("b", "beacon"), count) as b:
            x, y = k.let(("x", "dx"), px[i] - bx[b]), k.let(("y", "dy"), py[i] - by[b])
            k.augment(total, "add", measured(x, y))
        value: Expr = total / cast(count, type_)
        done += f", less ({bx.name}, {by.name}) of each beacon, and take the mean over beacons"
    else:
        value = measured(k.let("x", px[i]), k.let("y", py[i]))
    signal = refine(k, value, level, _LOCALS)
    k.store(out, i, signal.value)
    done += ", where r = sqrt(x * x + y * y + 0.01)" if local == "r" else ""
    return Title(k.name(form, f"{form}_of_points"), f"{done}.{_then(signal.phrase)}")


_CURVES: dict[str, tuple[str, _Form]] = {
    "reinhard": ("c / (1 + c)", lambda c: c / (1.0 + c)),
    "shoulder": ("1 - exp(-1.5 c)", lambda c: 1.0 - fn("exp", -1.5 * c)),
    "gamma": ("(c + 0.01) to the power 0.45", lambda c: fn("pow", c + 0.01, 0.45)),
    "sigmoid": ("a sigmoid of 6 (c - 0.5)", lambda c: 1.0 / (1.0 + fn("exp", 3.0 - 6.0 * c))),
    "s_curve": ("c - 0.1 sin(2 pi c)", lambda c: c - 0.1 * fn("sin", 6.2831853 * c)),
    "solarize": ("1 - c where c > 0.5", lambda c: fn("where", c > 0.5, 1.0 - c, c)),
    "posterize": ("rounding to sixteenths", lambda c: fn("rint", c * 16.0) / 16.0),
}


@CATEGORY.idiom
def tone_curve(k: KernelBuilder, level: int) -> Title:
    """A chain of tone curves on a grey image, at higher levels with exposure and a blend."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    dims = (k.size("h", 7, 10), k.size("w", 7, 10)) if shape.chance(0.5) else (k.size("n", 60, 96),)
    image = k.array(("image", "luma", "pixels", "gray"), type_, dims, low=0.0, high=1.0)
    if blend := level >= 2 and shape.chance(0.7):
        other = k.array(("overlay", "base", "backdrop"), type_, dims, low=0.0, high=1.0)
        opacity = k.scalar(("opacity", "strength", "mix"), type_, 0.3, 0.8)
    out = k.out(("out", "graded", "toned", "dst"), type_, dims)
    at = k.thread(*dims, names=("y", "x") if len(dims) == 2 else ("i",))
    c = k.let(("c", "tone", "luminance"), image[at])
    forms = shape.sample(sorted(_CURVES), (level + 2) // 2)
    for form in forms:
        k.assign(c, _CURVES[form][1](c))
    steps = ", then ".join(_CURVES[form][0] for form in forms)
    done = f"Send each pixel c of {image.name} through {steps}"
    if blend:
        k.assign(c, fn("lerp", c, other[at], opacity))
        done += f", then blend toward {other.name} by {opacity.name}"
    value, phrase = (c - 0.5, "less 0.5") if level >= 3 else (c, "")
    signal = refine(k, value, level if level > 2 else 1, _LOCALS, 0.3)
    k.store(out, at, signal.value)
    phrase += f", then {signal.phrase}" if signal.phrase else ""
    name = k.name("tone_curve", "grade_pixels", "apply_curve", "tone_map")
    return Title(name, f"{done}.{_then(phrase)}")
