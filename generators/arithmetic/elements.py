"""Formulas of a few numbers, applied element by element to arrays, numbers and structs."""

from __future__ import annotations

from inspect import signature

from generators.arithmetic.parts import (
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    parameters,
)
from generators.arithmetic.subjects import PHYSICS, Result, Subject
from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, write
from generators.kit.pieces import helper
from generators.program.dtypes import Scalar
from generators.program.expr import Const, Expr, Field, Op, Var, op

MEASURES: tuple[Subject, ...] = (
    Subject(
        "Band",
        {"n": ("nir near_infrared", 0.2, 0.9), "r": ("red red_band", 0.05, 0.5)},
        (
            Result(
                "ndvi", "({n} - {r}) / ({n} + {r})", lambda n, r: (n - r) / (n + r), "ndvi index"
            ),
            Result(
                "savi",
                "1.5 * ({n} - {r}) / ({n} + {r} + 0.5)",
                lambda n, r: 1.5 * (n - r) / (n + r + 0.5),
                "savi adjusted",
            ),
            Result("simple_ratio", "{n} / {r}", lambda n, r: n / r, "ratio simple_index"),
        ),
    ),
    Subject(
        "Reading",
        {"m": ("measured observed", 0.5, 4.0), "e": ("expected reference nominal", 0.5, 4.0)},
        (
            Result(
                "relative_error",
                "|{m} - {e}| / {e}",
                lambda m, e: fn("abs", m - e) / e,
                "error deviation",
            ),
            Result(
                "percent_change",
                "100 * ({m} - {e}) / {e}",
                lambda m, e: 100.0 * (m - e) / e,
                "percent change",
            ),
            Result("gain", "{m} / {e}", lambda m, e: m / e, "gain_out quotient"),
        ),
    ),
    Subject(
        "Box",
        {
            "a": ("width widths", 0.5, 4.0),
            "b": ("height heights", 0.5, 4.0),
            "c": ("depth depths", 0.5, 4.0),
        },
        (
            Result("volume", "{a} * {b} * {c}", lambda a, b, c: a * b * c, "volume volumes"),
            Result(
                "surface",
                "2 * ({a} * {b} + {b} * {c} + {a} * {c})",
                lambda a, b, c: 2.0 * (a * b + b * c + a * c),
                "surface skin_area",
            ),
            Result(
                "face_diagonal",
                "sqrt({a} * {a} + {b} * {b})",
                lambda a, b: fn("sqrt", a * a + b * b),
                "diagonal face_diag",
            ),
        ),
    ),
    Subject(
        "Cylinder",
        {"r": ("radius radii", 0.3, 2.0), "h": ("length height", 0.5, 4.0)},
        (
            Result(
                "cylinder_volume",
                "3.14159 * {r} * {r} * {h}",
                lambda r, h: 3.14159 * r * r * h,
                "volume volumes",
            ),
            Result(
                "side_area", "6.28318 * {r} * {h}", lambda r, h: 6.28318 * r * h, "side_area shell"
            ),
        ),
    ),
    Subject(
        "Sample",
        {
            "x": ("x values samples", -2.0, 2.0),
            "m": ("mean center", -0.5, 0.5),
            "s": ("std spread sigma", 0.5, 1.5),
        },
        (
            Result(
                "standard_score", "({x} - {m}) / {s}", lambda x, m, s: (x - m) / s, "score z_score"
            ),
            Result(
                "squared_score",
                "(({x} - {m}) / {s})^2",
                lambda x, m, s: (x - m) / s * ((x - m) / s),
                "chi_square squared",
            ),
        ),
    ),
    Subject(
        "Span",
        {
            "x": ("values raw level", 0.5, 4.0),
            "lo": ("low lower minimum", -1.0, 0.3),
            "h": ("high upper maximum", 5.0, 8.0),
        },
        (
            Result(
                "rescaled",
                "({x} - {lo}) / ({h} - {lo})",
                lambda x, lo, h: (x - lo) / (h - lo),
                "scaled unit_value",
            ),
            Result(
                "headroom",
                "({h} - {x}) / ({h} - {lo})",
                lambda h, x, lo: (h - x) / (h - lo),
                "headroom left_over",
            ),
        ),
    ),
    Subject(
        "Pixel",
        {"r": ("red r", 0.0, 1.0), "g": ("green g", 0.0, 1.0), "b": ("blue b", 0.0, 1.0)},
        (
            Result(
                "luma",
                "0.299 * {r} + 0.587 * {g} + 0.114 * {b}",
                lambda r, g, b: 0.299 * r + 0.587 * g + 0.114 * b,
                "luma gray",
            ),
            Result(
                "brightness",
                "({r} + {g} + {b}) / 3",
                lambda r, g, b: (r + g + b) / 3.0,
                "brightness average",
            ),
            Result(
                "chroma",
                "max({r}, {g}, {b}) - min({r}, {g}, {b})",
                lambda r, g, b: fn("max", fn("max", r, g), b) - fn("min", fn("min", r, g), b),
                "chroma color_range",
            ),
        ),
    ),
    Subject(
        "Gradient",
        {"x": ("gx dx_field", -2.0, 2.0), "y": ("gy dy_field", -2.0, 2.0)},
        (
            Result(
                "magnitude",
                "sqrt({x} * {x} + {y} * {y})",
                lambda x, y: fn("sqrt", x * x + y * y),
                "magnitude strength",
            ),
            Result(
                "taxicab",
                "|{x}| + |{y}|",
                lambda x, y: fn("abs", x) + fn("abs", y),
                "edge_sum taxicab_norm",
            ),
        ),
    ),
    Subject(
        "Pair",
        {"a": ("a left first", 0.5, 4.0), "b": ("b right second", 0.5, 4.0)},
        (
            Result(
                "harmonic_mean",
                "2 * {a} * {b} / ({a} + {b})",
                lambda a, b: 2.0 * a * b / (a + b),
                "harmonic mean_out",
            ),
            Result(
                "geometric_mean",
                "sqrt({a} * {b})",
                lambda a, b: fn("sqrt", a * b),
                "geometric root_mean",
            ),
            Result(
                "rms",
                "sqrt(0.5 * ({a} * {a} + {b} * {b}))",
                lambda a, b: fn("sqrt", 0.5 * (a * a + b * b)),
                "rms_out quadratic",
            ),
        ),
    ),
    Subject(
        "Item",
        {
            "p": ("price prices", 2.0, 9.0),
            "c": ("cost unit_cost", 0.5, 5.0),
            "q": ("quantity sold", 1.0, 8.0),
        },
        (
            Result("profit", "({p} - {c}) * {q}", lambda p, c, q: (p - c) * q, "profit earnings"),
            Result("margin", "({p} - {c}) / {p}", lambda p, c: (p - c) / p, "margin profit_share"),
            Result("revenue", "{p} * {q}", lambda p, q: p * q, "revenue turnover"),
        ),
    ),
)


_COUNTS = {1: (1, 1), 2: (1, 1), 3: (1, 2), 4: (2, 2), 5: (2, 3)}
"""How many results of a subject a kernel of a level has."""


@idiom
def combine_elements(k: KernelBuilder, level: int) -> Title:
    """A formula of a subject element by element; at higher levels several, guarded and masked."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    subject = shape.choice(PHYSICS + MEASURES)
    g = grid(k, {1: 5, 2: 3, 3: 2})
    count = min(shape.integer(*_COUNTS[level]), len(subject.results))
    results = shape.sample(subject.results, count)
    given = _inputs(k, level, subject, results, s, g)
    varying = [key for key in given if not _shared(k, given[key].value)]
    limited = shape.sample(varying, min(_limits(k, level), len(varying)))
    last = "".join(_limited(k, key, subject, given) for key in limited)
    done = f"Compute {_text(results[0], given)} element by element."
    if level >= 4 and shape.chance(0.6):
        done += _guarded(k, level, results, given, g)
    else:
        done += _written(k, level, results, given, g)
    name = results[0].name
    return Title(k.name(f"{name}_kernel", f"compute_{name}", f"{name}_map"), done + last)


def _limits(k: KernelBuilder, level: int) -> int:
    """How many inputs are kept within bounds."""
    return k.draw.shape.integer(*{4: (0, 1), 5: (1, 2)}.get(level, (0, 0)))


def _written(
    k: KernelBuilder, level: int, results: list[Result], given: dict[str, Given], g: Grid
) -> str:
    """All results stored, the first in one of the ways of its level."""
    first, *more = results
    done = ""
    for result in more:
        out = k.out(tuple(result.outs.split()), given[_keys(result)[0]].value.type, g.sizes)
        k.store(out, g.at, _value(k, level, result, given))
        done += f" {out.name} gets {_text(result, given)}."
    value = _value(k, level, first, given)
    return write(k, level, Site(g.sizes, g.at), tuple(first.outs.split()), value) + done


def _guarded(
    k: KernelBuilder, level: int, results: list[Result], given: dict[str, Given], g: Grid
) -> str:
    """All results stored where a condition holds; elsewhere a number, and nothing is computed."""
    test = condition(k, g)
    type_ = given[_keys(results[0])[0]].value.type
    outs = [k.out(tuple(r.outs.split()), type_, g.sizes) for r in results]
    other = float(k.draw.value.choice((0, 0, -1)))
    with k.if_(_negated(test.value)):
        for out in outs:
            k.store(out, g.at, other)
        k.return_()
    done = f" {outs[0].name} gets it."
    for result, out in zip(results, outs, strict=True):
        k.store(out, g.at, _value(k, level, result, given))
        done += f" {out.name} gets {_text(result, given)}." if out != outs[0] else ""
    names = " and ".join(out.name for out in outs)
    return f"{done} Unless {test.text}, {names} get{'s' if len(outs) < 2 else ''} {other}."


def _inputs(
    k: KernelBuilder, level: int, subject: Subject, results: list[Result], s: Scalar, g: Grid
) -> dict[str, Given]:
    """Where the inputs come from: arrays, an array of structs, numbers or a struct of them."""
    shape = k.draw.shape
    keys = [key for key in subject.inputs if any(r.uses(key) for r in results)]
    wanted = {
        key: (tuple(subject.inputs[key][0].split()), s, *subject.inputs[key][1:]) for key in keys
    }
    own = [key for key in keys if shape.chance(0.65)] or keys[:1]
    shared = [key for key in keys if key not in own]
    structs = 0.0 if level < 2 or len(own) < 2 else 0.25
    loaded = elements(k, [wanted[key] for key in own], g, (subject.record,), structs)
    given = dict(zip(own, loaded, strict=True))
    if len(shared) > 1 and level >= 3 and shape.chance(0.5):
        record = (f"{subject.record}Params",)
        found = parameters(k, [wanted[key] for key in shared], record, 1.0)
        given |= zip(shared, found, strict=True)
    else:
        given |= {key: coefficient(k, *wanted[key], g, "sse") for key in shared}
    return {key: _local(k, key, subject, results, given[key]) for key in keys}


def _local(
    k: KernelBuilder, key: str, subject: Subject, results: list[Result], given: Given
) -> Given:
    """An input in a local where formulas read it more than once, or now and then anyway."""
    reads = sum(result.uses(key) for result in results)
    if isinstance(given.value, Var | Const) or not k.draw.shape.chance(0.9 if reads > 1 else 0.2):
        return given
    names = subject.inputs[key][0].split()
    free = [name for name in names if name not in k.used] or [f"{names[0]}_here"]
    return Given(k.let(free, given.value), given.text)


def _shared(k: KernelBuilder, value: Expr) -> bool:
    """Whether all threads have the same of a value: a literal, a number or a field of one."""
    while isinstance(value, Field):
        value = value.value
    return isinstance(value, Const) or value in [Var(p.name, p.type) for p in k.params]


def _limited(k: KernelBuilder, key: str, subject: Subject, given: dict[str, Given]) -> str:
    """An input is kept within a bound; says so."""
    names, low, high = subject.inputs[key]
    name, s = names.split()[0], given[key].value.type
    width = high - low
    if k.draw.shape.chance(0.5):
        bound = k.scalar((f"min_{name}", "at_least"), s, low + 0.2 * width, low + 0.4 * width)
        value, text = fn("max", given[key].value, bound), f"at least {bound.name}"
    else:
        bound = k.scalar((f"max_{name}", "at_most"), s, low + 0.6 * width, low + 0.8 * width)
        value, text = fn("min", given[key].value, bound), f"at most {bound.name}"
    done = f" In the formulas {given[key].text} counts as {text}."
    limited = k.let((f"{name}_kept", f"bounded_{name}"), value)
    given[key] = Given(limited, given[key].text)
    return done


def _value(k: KernelBuilder, level: int, result: Result, given: dict[str, Given]) -> Expr:
    """A result, written out or in a helper function."""
    keys = _keys(result)
    args = [given[key].value for key in keys]
    if level < 3 or not k.draw.shape.chance(0.45):
        return result.build(*args)

    def body(_: BodyBuilder, *values: Expr) -> Expr:
        return result.build(*values)

    params = [(key, value.type) for key, value in zip(keys, args, strict=True)]
    return k.call(helper(k, (result.name, f"{result.name}_of"), params, body), *args)


def _negated(test: Expr) -> Expr:
    turned = {"lt": "ge", "gt": "le", "ne": "eq"}
    if isinstance(test, Op) and test.op in turned:
        return op(turned[test.op], *test.args)
    return fn("not", test)


def _keys(result: Result) -> list[str]:
    """The inputs of a result, in the order in which its formula is given them."""
    return list(signature(result.build).parameters)


def _text(result: Result, given: dict[str, Given]) -> str:
    return result.text.format(**{key: value.text for key, value in given.items()})
