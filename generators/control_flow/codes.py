"""Rows of codes: small parsers, and searches for short patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, Step, both, counter, leave, rows_of, same, take
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Parser:
    """What it finds, in words; names of its running state and its result; what a code does."""

    text: str
    names: tuple[str, str]
    steps: Callable[[Expr, Var, Var, Expr, Expr], Sequence[Step]]
    """Of the code, the state, the result, the position, and whether the code is from 1 to 5."""
    result: Callable[[Var, Var, Var], Expr] = lambda best, run, pos: best


_PARSERS = {
    "depth": Parser(
        "the largest nesting depth of opening (1) and closing (2) codes; -1, and the end of the "
        "row, at a closing code where nothing is open",
        ("depth open_count", "deepest max_depth"),
        lambda c, run, best, pos, inner: [
            [(same(c, 1), (run, run + 1), (best, most(best, run))), (same(c, 2), (run, run - 1))],
            [(run < 0, (best, -1), STOP)],
        ],
    ),
    "numbers": Parser(
        "how many groups of neighbouring digit codes (1 to 5) there are",
        ("in_number inside", "groups num_groups"),
        lambda c, run, best, pos, inner: [
            [(inner, (best, best + (1 - run)), (run, 1)), (None, (run, 0))]
        ],
    ),
    "fields": Parser(
        "the length of the longest field, fields being separated by codes above 7",
        ("field_length width", "longest best"),
        lambda c, run, best, pos, inner: [
            [(c > 7, (run, 0)), (None, (run, run + 1), (best, most(best, run)))]
        ],
    ),
    "words": Parser(
        "the length of the longest word of letter codes (1 to 5)",
        ("length word_length", "longest best"),
        lambda c, run, best, pos, inner: [
            [(inner, (run, run + 1), (best, most(best, run))), (None, (run, 0))]
        ],
    ),
    "escape": Parser(
        "the length of the text once decoded: 9 escapes the next code, and 0 ends the text unless "
        "it is escaped",
        ("escaped pending", "counted num_codes"),
        lambda c, run, best, pos, inner: [
            [
                (same(run, 1), (run, 0), (best, best + 1)),
                (same(c, 9), (run, 1)),
                (same(c, 0), STOP),
                (None, (best, best + 1)),
            ]
        ],
    ),
    "commands": Parser(
        "what the register of a small machine holds in the end: it starts at 0; codes 1 to 3 are "
        "added to it, 4 doubles it, 5 clears it, 6 halts, others do nothing",
        ("unused clears", "register accum"),
        lambda c, run, best, pos, inner: [
            [
                (both(c >= 1, c <= 3), (best, best + c)),
                (same(c, 4), (best, best * 2)),
                (same(c, 5), (best, 0)),
                (same(c, 6), STOP),
            ]
        ],
    ),
    "fletcher": Parser(
        "the Fletcher-16 checksum, 256 * b + a: with each code, a becomes (a + code) modulo 255 "
        "and b becomes (b + a) modulo 255, both from 0 on",
        ("sum_a low_sum", "sum_b high_sum"),
        lambda c, run, best, pos, inner: [(run, (run + c) % 255), (best, (best + run) % 255)],
        result=lambda best, run, pos: best * 256 + run,
    ),
    "quoted": Parser(
        "the number of separators (7) outside of quotes, a quote (8) beginning or ending one",
        ("quoted in_quotes", "separators num_fields"),
        lambda c, run, best, pos, inner: [
            [(same(c, 8), (run, 1 - run)), (both(same(c, 7), same(run, 0)), (best, best + 1))]
        ],
    ),
    "comments": Parser(
        "the number of codes outside of comments, which 7 begins and 8 ends",
        ("in_comment inside", "kept counted"),
        lambda c, run, best, pos, inner: [
            [
                (same(c, 7), (run, 1)),
                (same(c, 8), (run, 0)),
                (same(run, 0), (best, best + 1)),
            ]
        ],
    ),
}


_READ = {"fletcher": "messages packets", "commands": "program opcodes instructions"}
"""What rows of codes are called, where they are of a kind of their own."""
_OUTS = {
    "depth": "max_depths nesting_depth",
    "numbers": "num_numbers number_counts",
    "fields": "longest_field field_lengths",
    "words": "longest_word word_lengths",
    "escape": "decoded_lengths text_lengths",
    "commands": "registers final_values",
    "fletcher": "checksums fletcher_sums",
    "quoted": "num_separators separator_counts",
    "comments": "uncommented_counts kept_counts",
}
_CALLED = {
    "depth": "nesting_depth bracket_depth check_brackets",
    "numbers": "count_numbers number_groups",
    "fields": "longest_field field_widths",
    "words": "longest_word word_lengths_of",
    "escape": "decoded_length unescape_length",
    "commands": "run_register_machine interpret_commands",
    "fletcher": "fletcher16 fletcher_checksum",
    "quoted": "count_separators unquoted_separators",
    "comments": "strip_comments count_outside_comments",
}
"""Names of what each parser gives, and of its kernel."""


@idiom(depth=3)
@with_struct
def token_parser(k: KernelBuilder, level: int) -> Title:
    """Small parsers over rows of codes: nesting, fields, escapes, checksums, commands."""
    shape = k.draw.shape
    form = shape.choice(sorted(_PARSERS))
    parser = _PARSERS[form]
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 1, "uint16": 1}))
    names, counts = _READ.get(form, "codes tokens text"), "num_cols max_length"
    s, codes, count = rows_of(k, names, type_, 0, 9, counts, (40, 64))
    ends = shape.chance(0.5)
    out = s.out(_OUTS[form], INT32)
    other = Also(s, 0.6 if ends and level >= 3 else 0.0, "consumed stopped_at")
    note = ""
    if level >= 4 and shape.chance(0.05):
        kind, wanted = s.read("row_kind encoding", INT32, 0, 3), k.draw.value.integer(0, 2)
        test = shape.choice(("eq", "ne"))
        leave(s, fn(test, kind, wanted), (out, -1), (other, 0))
        note = f" Rows whose {say(k, kind)} is {'not ' * (test == 'ne')}{wanted} give -1."
    stop: Expr = count
    if ends:
        length = s.read("lengths row_lengths", INT32, init="index_of:cols+4")
        stop = k.let("end stop", least(length, count))
        note += f" A row ends after {say(k, length)} codes."
    state, best, pos = (counter(k, n) for n in (*parser.names, "pos j"))
    skips = level >= 2 and form == "depth" and shape.chance(0.4)
    ignored = k.draw.value.choice((7, 8))
    names = "is_digit is_digit_code" if form == "numbers" else "is_letter is_letter_code"
    chance = BY_LEVEL[level] if form in ("numbers", "words") else 0.0
    in_range = routine(k, chance, names, {"code": INT32}, lambda _, c: both(c >= 1, c <= 5))
    with k.while_(pos < stop):
        c = k.let("c code tok", cast(codes[s.index(pos)], INT32))
        k.augment(pos, "add", 1)
        if skips:
            with k.if_(same(c, ignored)):
                k.continue_()
            note = f" Code {ignored} is white space and is skipped.{note}"
        take(k, *parser.steps(c, state, best, pos, in_range(c)))
    k.store(out, s.at, parser.result(best, state, pos))
    note += other.told("how many codes were read", pos)
    name = k.name(*words(_CALLED[form]))
    return Title(name, f"For each row of {codes.name}, {out.name} gets {parser.text}.{note}")


_FOUND = {
    "first": ("match position found", "the first column at which they match, or -1"),
    "count": ("matches hits", "how often they match"),
    "best": ("match position found", "the first column at which the fewest codes differ"),
}


@idiom
@with_struct
def pattern_search(k: KernelBuilder, level: int) -> Title:
    """A short pattern in rows of codes: the first match, their number, or the best alignment."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 2}))
    s, codes, count = rows_of(k, "text sequence codes", type_, 0, 2, rows=(36, 56))
    size, form = shape.integer(2, 4), shape.choice(sorted(_FOUND))
    pattern = k.array(["pattern", "motif", "needle"], type_, str(size), low=0, high=2)
    out = s.out(_FOUND[form][0], INT32)
    apart = level >= 3 and form == "count" and shape.chance(0.6)
    done = f"Search each row of {codes.name} for the {size} codes of {pattern.name}: {out.name} "
    done += f"gets {_FOUND[form][1]}{' without overlaps' * apart}."
    wild = k.draw.value.integer(0, 1) if level >= 2 and shape.chance(0.5) else None
    done += f" A {wild} in {pattern.name} matches any code." if wild is not None else ""
    first, said = _begin(s, 0.3 if level >= 2 else 0.0)
    done += said
    differ = _differ(k, level, type_, wild)
    found = k.let("found answer", k.lift(0 if form == "count" else -1, INT32))
    best = k.let("best fewest", k.lift(size + 1, INT32)) if form == "best" else found
    stop = None if apart or shape.chance(0.5) else count - (size - 1)
    at = found if stop is not None else k.let("j pos", first)
    with k.while_(at + size <= count) if stop is None else k.for_("j pos", stop, start=first) as t:
        j = at if t is None else t
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
    errors = Also(s, 0.7 if form == "best" else 0.0, "errors distance")
    done += errors.told("that number", best)
    return Title(k.name("find_pattern match_motif scan_pattern search_rows"), done)


def _begin(s: Site, share: float) -> tuple[Expr, str]:
    """The column at which a search begins, and that in words."""
    if not s.k.draw.shape.chance(share):
        return s.k.lift(0, INT32), ""
    first = given(s, "start offset", INT32, 0, 2, each=1, shared=1)
    return held(s.k, "begin from_col", first), f" The search begins at column {say(s.k, first)}."


def _differ(k: KernelBuilder, level: int, type_: Scalar, wild: int | None) -> Callable[..., Expr]:
    """Whether a code is not the expected one, which may match anything."""

    def differs(_: BodyBuilder, code: Expr, expected: Expr) -> Expr:
        test = fn("ne", code, expected)
        return test if wild is None else both(test, fn("ne", expected, wild))

    params = {"code": type_, "expected": type_}
    return routine(k, BY_LEVEL[level], "differs is_mismatch", params, differs)
