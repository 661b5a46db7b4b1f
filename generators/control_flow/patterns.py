"""Short patterns in rows of codes: first matches, their number, the best alignment."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Step, both, counter, rows_of, same, take
from generators.control_flow.params import with_struct
from generators.kit.naming import BY_LEVEL, routine
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr

_FOUND = {
    "first": ("match position found", "the first column at which it matches, or -1"),
    "count": ("matches hits", "how often it matches"),
    "best": ("match position found", "the first column with the fewest differing codes"),
}


@idiom
@with_struct
def pattern_search(k: KernelBuilder, level: int) -> Title:
    """A short pattern in rows of codes: the first match, their number, or the best alignment."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 2}))
    s, codes, count = rows_of(k, "text sequence codes", type_, 0, 2, rows=(36, 56))
    size, form = shape.integer(2, 3), shape.choice(sorted(_FOUND))
    pattern = k.array(["pattern", "motif", "needle"], type_, str(size), low=0, high=2)
    out = s.out(_FOUND[form][0], INT32)
    apart = level >= 3 and form == "count" and shape.chance(0.6)
    done = f"Compare the {size} codes of {pattern.name} with each row of {codes.name}; {out.name} "
    done += f"gets {_FOUND[form][1]}{', matches not overlapping' * apart}."
    wild = k.draw.value.integer(0, 1) if level >= 2 and shape.chance(0.5) else None
    done += f" A code {wild} in {pattern.name} matches anything." if wild is not None else ""
    first: Expr = k.lift(0, INT32)
    if level >= 2 and shape.chance(0.5):
        start = s.read("start offset", INT32, 0, 2)
        done += f" The search begins at column {say(k, start)}."
        first = k.let("begin from_col", start)
    differ = _differ(k, level, type_, wild)
    found = k.let("found answer", k.lift(0 if form == "count" else -1, INT32))
    best = k.let("best fewest", k.lift(size + 1, INT32)) if form == "best" else found
    stop = None if apart or shape.chance(0.5) else count - (size - 1)
    at = found if stop is not None else k.let("j pos", first)
    going = at + size <= count
    with k.while_(going) if stop is None else k.for_("j pos", stop, start=first) as turn:
        j = at if turn is None else turn
        wrong = counter(k, "wrong misses" if form == "best" else "same matched")
        with k.for_("p q", size) as p:
            unequal = differ(codes[s.index(j + p)], pattern[p])
            counted = [(unequal, (wrong, wrong + 1))] if form == "best" else [(unequal, STOP)]
            take(k, counted, *[(wrong, wrong + 1)] * (form != "best"))
        hits: dict[str, list[Step]] = {
            "first": [[(same(wrong, size), (found, j), STOP)]],
            "count": [[(same(wrong, size), (found, found + 1), *[(j, j + (size - 1))] * apart)]],
            "best": [[(wrong < best, (best, wrong), (found, j))]],
        }
        take(k, *hits[form])
        if stop is None:
            k.augment(at, "add", 1)
    k.store(out, s.at, found)
    if form == "best" and shape.chance(0.7):
        done += f" {s.put('errors distance', best).name} gets that number."
    return Title(k.name("find_pattern match_motif scan_pattern search_rows"), done)


def _differ(k: KernelBuilder, level: int, type_: Scalar, wild: int | None) -> Callable[..., Expr]:
    """Whether a code is not the expected one, which may match anything."""

    def differs(_: BodyBuilder, code: Expr, expected: Expr) -> Expr:
        test = fn("ne", code, expected)
        return test if wild is None else both(test, fn("ne", expected, wild))

    params = {"code": type_, "expected": type_}
    return routine(k, BY_LEVEL[level], "differs is_mismatch", params, differs)
