"""Formulas of a few numbers, applied element by element to arrays, numbers and structs."""

from __future__ import annotations

from generators.arithmetic.parts import (
    Given,
    Grid,
    coefficient,
    condition,
    elements,
    grid,
    parameters,
)
from generators.arithmetic.subjects import PHYSICS, Subject
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.endings import Site, write
from generators.kit.formulas import Formula, formulas, keys_of
from generators.kit.functions import PI, TWO_PI, least, most, sqrt
from generators.kit.masks import opposite
from generators.kit.naming import evaluated
from generators.program.dtypes import Scalar
from generators.program.expr import Const, Expr, Field, Var

MEASURES: tuple[Subject, ...] = (
    Subject(
        "Band",
        {"n": ("nir near_infrared", 0.2, 0.9), "r": ("red red_band", 0.05, 0.5)},
        formulas(
            ndvi=("ndvi index", lambda n, r: (n - r) / (n + r)),
            savi=("savi adjusted", lambda n, r: 1.5 * (n - r) / (n + r + 0.5)),
            simple_ratio=("ratio simple_index", lambda n, r: n / r),
        ),
    ),
    Subject(
        "Reading",
        {"m": ("measured observed", 0.5, 4.0), "e": ("expected reference nominal", 0.5, 4.0)},
        formulas(
            relative_error=("error deviation", lambda m, e: abs(m - e) / e),
            percent_change=("percent change", lambda m, e: 100.0 * (m - e) / e),
            gain=("gain_out quotient", lambda m, e: m / e),
        ),
    ),
    Subject(
        "Box",
        {
            "a": ("width widths", 0.5, 4.0),
            "b": ("height heights", 0.5, 4.0),
            "c": ("depth depths", 0.5, 4.0),
        },
        formulas(
            volume=("volume volumes", lambda a, b, c: a * b * c),
            surface=("surface skin_area", lambda a, b, c: 2.0 * (a * b + b * c + a * c)),
            face_diagonal=("diagonal face_diag", lambda a, b: sqrt(a * a + b * b)),
        ),
    ),
    Subject(
        "Cylinder",
        {"r": ("radius radii", 0.3, 2.0), "h": ("length height", 0.5, 4.0)},
        formulas(
            cylinder_volume=("volume volumes", lambda r, h: PI * r * r * h),
            side_area=("side_area shell", lambda r, h: TWO_PI * r * h),
        ),
    ),
    Subject(
        "Sample",
        {
            "x": ("x values samples", -2.0, 2.0),
            "m": ("mean center", -0.5, 0.5),
            "s": ("std spread sigma", 0.5, 1.5),
        },
        formulas(
            standard_score=("score z_score", lambda x, m, s: (x - m) / s),
            squared_score=("chi_square squared", lambda x, m, s: (x - m) / s * ((x - m) / s)),
        ),
    ),
    Subject(
        "Span",
        {
            "x": ("values raw level", 0.5, 4.0),
            "lo": ("low lower minimum", -1.0, 0.3),
            "h": ("high upper maximum", 5.0, 8.0),
        },
        formulas(
            rescaled=("scaled unit_value", lambda x, lo, h: (x - lo) / (h - lo)),
            headroom=("headroom left_over", lambda h, x, lo: (h - x) / (h - lo)),
        ),
    ),
    Subject(
        "Pixel",
        {"r": ("red r", 0.0, 1.0), "g": ("green g", 0.0, 1.0), "b": ("blue b", 0.0, 1.0)},
        formulas(
            luma=("luma gray", lambda r, g, b: 0.299 * r + 0.587 * g + 0.114 * b),
            brightness=("brightness average", lambda r, g, b: (r + g + b) / 3.0),
            chroma=("chroma color_range", lambda r, g, b: most(r, g, b) - least(r, g, b)),
        ),
    ),
    Subject(
        "Gradient",
        {"x": ("gx dx_field", -2.0, 2.0), "y": ("gy dy_field", -2.0, 2.0)},
        formulas(
            magnitude=("magnitude strength", lambda x, y: sqrt(x * x + y * y)),
            taxicab=("edge_sum taxicab_norm", lambda x, y: abs(x) + abs(y)),
        ),
    ),
    Subject(
        "Pair",
        {"a": ("a left first", 0.5, 4.0), "b": ("b right second", 0.5, 4.0)},
        formulas(
            harmonic_mean=("harmonic mean_out", lambda a, b: 2.0 * a * b / (a + b)),
            geometric_mean=("geometric root_mean", lambda a, b: sqrt(a * b)),
            rms=("rms_out quadratic", lambda a, b: sqrt(0.5 * (a * a + b * b))),
        ),
    ),
    Subject(
        "Item",
        {
            "p": ("price prices", 2.0, 9.0),
            "c": ("cost unit_cost", 0.5, 5.0),
            "q": ("quantity sold", 1.0, 8.0),
        },
        formulas(
            profit=("profit earnings", lambda p, c, q: (p - c) * q),
            margin=("margin profit_share", lambda p, c: (p - c) / p),
            revenue=("revenue turnover", lambda p, q: p * q),
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
    k: KernelBuilder, level: int, results: list[Formula], given: dict[str, Given], g: Grid
) -> str:
    """All results stored, the first in one of the ways of its level."""
    first, *more = results
    done = ""
    for result in more:
        out = k.out(result.outs, given[result.keys[0]].value.type, g.sizes)
        k.store(out, g.at, _value(k, level, result, given))
        done += f" {out.name} gets {_text(result, given)}."
    value = _value(k, level, first, given)
    return write(k, level, Site(g.sizes, g.at), (first.outs,), value) + done


def _guarded(
    k: KernelBuilder, level: int, results: list[Formula], given: dict[str, Given], g: Grid
) -> str:
    """All results stored where a condition holds; elsewhere a number, and nothing is computed."""
    test = condition(k, g)
    type_ = given[results[0].keys[0]].value.type
    outs = [k.out(r.outs, type_, g.sizes) for r in results]
    other = float(k.draw.value.choice((0, 0, -1)))
    with k.if_(opposite(test.value)):
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
    k: KernelBuilder, level: int, subject: Subject, results: list[Formula], s: Scalar, g: Grid
) -> dict[str, Given]:
    """Where the inputs come from: arrays, an array of structs, numbers or a struct of them."""
    shape = k.draw.shape
    keys = [key for key in subject.inputs if key in keys_of(results)]
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
    k: KernelBuilder, key: str, subject: Subject, results: list[Formula], given: Given
) -> Given:
    """An input in a local where formulas read it more than once, or now and then anyway."""
    reads = sum(result.reads(key) for result in results)
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


def _value(k: KernelBuilder, level: int, result: Formula, given: dict[str, Given]) -> Expr:
    """A result, written out or in a helper function."""
    values = {key: given[key].value for key in result.keys}
    return evaluated(k, 0.45 if level >= 3 else 0.0, result, values)


def _text(result: Formula, given: dict[str, Given]) -> str:
    return result.said({key: value.text for key, value in given.items()})
