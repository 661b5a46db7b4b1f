"""Rows of codes: small parsers, and searches for short patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import STOP, Also, Step, both, counter, rows_of, same, take
from generators.control_flow.params import with_struct
from generators.kit.functions import least, most
from generators.kit.naming import BY_LEVEL, held, routine
from generators.kit.sites import Site
from generators.kit.sources import given
from generators.kit.words import say, words
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

UINT32 = Scalar("uint32")


@dataclass(frozen=True)
class Parser:
    """What it finds, in words; names of its running state and its result; what a code does."""

    text: str
    names: tuple[str, str]
    span: tuple[int, int]
    """The codes that rows are tried with."""
    steps: Callable[[Expr, Var, Var, Expr], Sequence[Step]]
    """Of the code, the state, the result, and whether the code is within ``letters``."""
    letters: tuple[int, int] = (0, 0)
    result: Callable[[Var, Var], Expr] = lambda best, run: best


_PARSERS = {
    "depth": Parser(
        "the largest nesting depth of parentheses, '(' being 40 and ')' 41; -1 where one closes "
        "that was not opened",
        ("depth open_count", "deepest max_depth"),
        (38, 43),
        lambda c, run, best, inner: [
            [
                (same(c, 40), (run, run + 1), (best, most(best, run))),
                (same(c, 41), (run, run - 1)),
            ],
            [(run < 0, (best, -1), STOP)],
        ],
    ),
    "numbers": Parser(
        "how many groups of neighbouring digits (48 to 57) there are",
        ("in_number inside", "groups num_groups"),
        (44, 62),
        lambda c, run, best, inner: [
            [(inner, (best, best + (1 - run)), (run, 1)), (None, (run, 0))]
        ],
        (48, 57),
    ),
    "fields": Parser(
        "the length of the longest field, fields being separated by commas (44)",
        ("field_length width", "longest best"),
        (42, 52),
        lambda c, run, best, inner: [
            [(same(c, 44), (run, 0)), (None, (run, run + 1), (best, most(best, run)))]
        ],
    ),
    "words": Parser(
        "the length of the longest word of lower-case letters (97 to 122)",
        ("length word_length", "longest best"),
        (90, 125),
        lambda c, run, best, inner: [
            [(inner, (run, run + 1), (best, most(best, run))), (None, (run, 0))]
        ],
        (97, 122),
    ),
    "escape": Parser(
        "how many characters a quoted string has without its escapes: a backslash (92) escapes the "
        "next code, which counts alone, and a quote (34) ends the string unless it is escaped",
        ("escaped pending", "counted num_chars"),
        (30, 96),
        lambda c, run, best, inner: [
            [
                (same(run, 1), (run, 0), (best, best + 1)),
                (same(c, 92), (run, 1)),
                (same(c, 34), STOP),
                (None, (best, best + 1)),
            ]
        ],
    ),
    "nmea": Parser(
        "the checksum of an NMEA 0183 sentence, the exclusive or of the codes between '$' (36) and "
        "'*' (42), which ends it; each '$' begins anew, from 0",
        ("in_sentence started", "checksum parity"),
        (34, 48),
        lambda c, run, best, inner: [
            [
                (same(c, 36), (run, 1), (best, 0)),
                (both(same(run, 1), same(c, 42)), STOP),
                (same(run, 1), (best, fn("bit_xor", best, c))),
            ]
        ],
    ),
    "fletcher": Parser(
        "the Fletcher-16 checksum, 256 * b + a: with each byte, a becomes (a + byte) modulo 255 "
        "and b becomes (b + a) modulo 255, both from 0 on",
        ("sum_a low_sum", "sum_b high_sum"),
        (0, 255),
        lambda c, run, best, inner: [(run, (run + c) % 255), (best, (best + run) % 255)],
        result=lambda best, run: best * 256 + run,
    ),
    "adler": Parser(
        "the Adler-32 checksum, 65536 * b + a: with each byte, a becomes (a + byte) modulo 65521, "
        "from 1 on, and b becomes (b + a) modulo 65521, from 0 on",
        ("sum_a low_sum", "sum_b high_sum"),
        (0, 255),
        lambda c, run, best, inner: [(run, (run + c) % 65521), (best, (best + run) % 65521)],
        result=lambda best, run: cast(best, UINT32) * 65536 + cast(run, UINT32),
    ),
    "quoted": Parser(
        "the number of commas (44) outside of quotes, a quote (34) beginning or ending these",
        ("quoted in_quotes", "commas separators"),
        (33, 46),
        lambda c, run, best, inner: [
            [(same(c, 34), (run, 1 - run)), (both(same(c, 44), same(run, 0)), (best, best + 1))]
        ],
    ),
    "comments": Parser(
        "the number of codes outside of comments, which '#' (35) begins and the next newline (10) "
        "ends; neither of the two counts",
        ("in_comment inside", "kept counted"),
        (8, 36),
        lambda c, run, best, inner: [
            [
                (same(c, 35), (run, 1)),
                (same(c, 10), (run, 0)),
                (same(run, 0), (best, best + 1)),
            ]
        ],
    ),
    "lines": Parser(
        "the length of the longest line, lines being ended by newlines (10), which do not count, "
        "as carriage returns (13) do not",
        ("column line_length", "longest best"),
        (8, 20),
        lambda c, run, best, inner: [
            [
                (same(c, 10), (run, 0)),
                (fn("ne", c, 13), (run, run + 1), (best, most(best, run))),
            ]
        ],
    ),
}


_READ = dict.fromkeys(("fletcher", "adler"), "messages packets payloads")
_READ |= {"nmea": "sentences messages", "fields": "records csv_rows", "quoted": "records csv_rows"}
"""What rows of codes are called, where they are of a kind of their own."""
_OUTS = {
    "depth": "max_depths nesting_depth",
    "numbers": "num_numbers number_counts",
    "fields": "longest_field field_lengths",
    "words": "longest_word word_lengths",
    "escape": "decoded_lengths string_lengths",
    "nmea": "checksums nmea_checksums",
    "fletcher": "checksums fletcher_sums",
    "adler": "checksums adler_sums",
    "quoted": "num_separators comma_counts",
    "comments": "uncommented_counts kept_counts",
    "lines": "longest_line max_line_lengths",
}
_CALLED = {
    "depth": "nesting_depth bracket_depth check_brackets",
    "numbers": "count_numbers number_groups",
    "fields": "longest_field field_widths",
    "words": "longest_word word_lengths_of",
    "escape": "decoded_length unescape_length",
    "nmea": "nmea_checksum sentence_checksum",
    "fletcher": "fletcher16 fletcher_checksum",
    "adler": "adler32 adler_checksum",
    "quoted": "count_separators unquoted_commas",
    "comments": "strip_comments count_outside_comments",
    "lines": "longest_line line_lengths",
}
"""Names of what each parser gives, and of its kernel."""
_TYPES = {"uint8": 5, "int32": 3, "int8": 1, "uint16": 1}
_BYTES = {"uint8": 4, "int32": 1}
"""Of characters, and of bytes beyond ASCII."""


@idiom(depth=3)
@with_struct
def token_parser(k: KernelBuilder, level: int) -> Title:
    """Small parsers over rows of text: nesting, fields, escapes, checksums."""
    shape = k.draw.shape
    form = shape.choice(sorted(_PARSERS))
    parser = _PARSERS[form]
    type_ = Scalar(shape.weighted(_BYTES if parser.span[1] > 127 else _TYPES))
    names, counts = _READ.get(form, "chars text lines"), "num_cols max_length"
    size = "chars" if form == "nmea" else "max_len"
    s, codes, count = rows_of(k, names, type_, *parser.span, counts, (40, 64), cols=size)
    ends = shape.chance(0.5)
    out = s.out(_OUTS[form], UINT32 if form == "adler" else INT32)
    stops = form in ("depth", "escape", "nmea")
    other = Also(s, 0.6 if ends and stops and level >= 3 else 0.0, "consumed stopped_at")
    note, stop = "", count
    if ends:
        length = s.read("lengths row_lengths", INT32, init=f"index_of:{size}+4")
        stop = k.let("end stop", least(length, count))
        note += f" A row ends after {say(k, length)} codes."
    state = k.let(parser.names[0], k.lift(int(form == "adler"), INT32))
    best = counter(k, parser.names[1])
    low, high = parser.letters
    names = "is_digit" if form == "numbers" else "is_letter is_lower"
    chance = BY_LEVEL[level] if high else 0.0
    params = {"code": INT32}
    in_range = routine(k, chance, names, params, lambda _, c: both(c >= low, c <= high))
    pos = _read_all(k, s, codes, stop, other, lambda c: parser.steps(c, state, best, in_range(c)))
    k.store(out, s.at, parser.result(best, state))
    if pos is not None:
        note += other.told("how many codes were read", pos)
    name = k.name(*words(_CALLED[form]))
    return Title(name, f"For each row of {codes.name}, {out.name} gets {parser.text}.{note}")


def _read_all(
    k: KernelBuilder,
    s: Site,
    codes: Var,
    stop: Expr,
    other: Also,
    steps: Callable[[Expr], Sequence[Step]],
) -> Var | None:
    """The loop over a row's codes; how far it came, where that is asked for."""
    if not other and k.draw.shape.chance(0.7):
        with k.for_("j pos", stop) as j:
            take(k, *steps(k.let("c code ch", cast(codes[s.index(j)], INT32))))
        return None
    pos = counter(k, "pos j")
    with k.while_(pos < stop):
        c = k.let("c code ch", cast(codes[s.index(pos)], INT32))
        k.augment(pos, "add", 1)
        take(k, *steps(c))
    return pos


_FOUND = {
    "first": ("match position found", "the first column at which they match, or -1"),
    "count": ("matches hits", "how often they match{apart}"),
    "best": ("match position found", "the first of the columns at which the fewest codes differ"),
}


@idiom
@with_struct
def pattern_search(k: KernelBuilder, level: int) -> Title:
    """A short pattern in rows of codes: the first match, their number, or the best alignment."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2, "int16": 2}))
    s, codes, count = rows_of(k, "text sequence codes", type_, 1, 3, rows=(36, 56))
    size, form = shape.integer(3, 4), shape.choice(sorted(_FOUND))
    wild = 0 if level >= 2 and shape.chance(0.5) else None
    names, lowest = "pattern motif needle", 1 if wild is None else 0
    pattern = k.array(names, type_, str(size), low=lowest, high=3)
    out = s.out(_FOUND[form][0], INT32)
    apart = level >= 3 and form == "count" and shape.chance(0.6)
    done = f"Search each row of {codes.name} for the {size} codes of {pattern.name}: {out.name} "
    overlaps = ", the search going on behind each match" if apart else ", overlaps included"
    done += f"gets {_FOUND[form][1].format(apart=overlaps)}."
    done += f" A 0 in {pattern.name} matches any code." if wild is not None else ""
    first, said = _begin(s, 0.3 if level >= 2 else 0.0)
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
    done += said + errors.told("how many codes differ there", best)
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
