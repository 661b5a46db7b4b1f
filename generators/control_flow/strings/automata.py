"""Automata and matching: tables of transitions, borders, Z boxes, rolling hashes."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, same
from generators.control_flow.parallel.lanes import Lanes, Seq, lanes, length, named
from generators.kit.functions import least, most
from generators.kit.sources import zero
from generators.kit.text import written
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

UINT8, UINT16, UINT32 = Scalar("uint8"), Scalar("uint16"), Scalar("uint32")


KINDS = (INT32, UINT8, UINT8, UINT16)
"""Types of symbols: bytes, UTF-16 or ids."""


def text_of(
    t: Lanes, names: str, size: str, high: int, kinds: tuple[Scalar, ...] = KINDS
) -> tuple[Seq, Scalar]:
    """Symbols of a thread's text."""
    type_ = t.k.draw.shape.choice(kinds)
    return t.array(names, type_, size, 0, high), type_


def symbol(t: Lanes, s: Seq, j: Expr, names: str = "c symbol ch") -> Expr:
    """The symbol at ``j`` as an index."""
    value = s[j]
    return t.k.let(names, cast(value, INT32)) if value.type != INT32 else value


_GOALS = {
    "state": ("final_states end_state", "the state at the end"),
    "visits": ("match_counts num_hits", "how many symbols lead into an accepting state"),
    "first": (
        "first_match match_end",
        "the index of the first symbol that leads into an accepting state, -1 if none",
    ),
    "longest": (
        "longest_end last_accept",
        "the index of the last symbol that leads into an accepting state, -1 if none",
    ),
}


def _noted(k: KernelBuilder, goal: str, accept: Var, state: Var, found: Var, j: Var) -> None:
    """What the state that a symbol leads into changes."""
    if goal == "visits" and k.draw.shape.chance(0.5):
        k.augment(found, "add", accept[state])
        return
    with k.if_(same(accept[state], 1)):
        if goal == "visits":
            k.augment(found, "add", 1)
        else:
            k.assign(found, j)
        if goal == "first":
            k.break_()


@idiom
def dfa_walk(k: KernelBuilder, level: int) -> Title:
    """A text through a deterministic automaton: last state, visits of accepting states, or where
    the longest accepted prefix ends."""
    shape = k.draw.shape
    t = lanes(k, level, "row")
    k.size("chars", 9, 14)
    k.size("states", 10, 14, minimum=4)
    k.size("symbols", 5, 8, minimum=2)
    kind = shape.choice((INT32, UINT8, UINT8))
    text = t.array("text symbols_in tokens", kind, "chars", init="index_of:symbols")
    flat = shape.chance(0.4)
    dims = "states*symbols" if flat else ("states", "symbols")
    table = k.array("next_state transitions delta", INT32, dims, init="index_of:states")
    width: Expr = k.size_param("num_symbols alphabet_size", "symbols") if flat else zero(INT32)
    n, counted = length(text, level)
    goal = shape.choice(("state", "visits", "first", "longest")[: 2 if level == 1 else 4])
    start = k.scalar("start_state initial", INT32, 0, 3) if shape.chance(0.4) else k.lift(0, INT32)
    state = k.let("state s", start)
    accept = found = None
    if goal != "state":
        accept = k.array("accepting is_final", INT32, "states", low=0, high=1)
        names, first = ("visits hits", 0) if goal == "visits" else ("found_at end_at", -1)
        found = k.let(names, k.lift(first, INT32))
    with k.for_("j p", n) as j:
        c = symbol(t, text, j)
        k.assign(state, table[state * width + c] if flat else table[state, c])
        if accept is not None and found is not None:
            _noted(k, goal, accept, state, found, j)
    names, said = _GOALS[goal]
    out = t.each_out(names, INT32)
    k.store(out, t.at, state if found is None else found)
    place = f"state * {written(width)} + symbol" if flat else "state, symbol"
    begin = start.name if isinstance(start, Var) else "0"
    done = (
        f"Run {t.each} of {text.name}{counted} through a finite automaton, from state {begin}: "
        f"each symbol leads to the state {table.name}[{place}]. {out.name} gets {said}."
    )
    if accept is not None:
        done += f" A state accepts where {accept.name} is 1 (else 0)."
    return Title(k.name(f"dfa_{goal} run_automaton", "scan_dfa"), done)


def _borders(k: KernelBuilder, pattern: Seq, border: Seq, n: Expr) -> None:
    """The prefix function (Knuth, Morris and Pratt, SIAM J. Comput. 6, 1977)."""
    named, joined = k.draw.shape.chance(0.5), k.draw.shape.chance(0.5)
    border.put(0, 0)
    q = k.let("matched", k.lift(0, INT32))
    with k.for_("j pos", n, start=1) as j:
        c = k.let("c current", pattern[j]) if named else pattern[j]
        if joined:
            with k.while_(both(q > 0, fn("ne", pattern[q], c))):
                k.assign(q, border[q - 1])
        else:
            with k.while_(q > 0):
                with k.if_(same(pattern[q], c)):
                    k.break_()
                k.assign(q, border[q - 1])
        with k.if_(same(pattern[q], c)):
            k.augment(q, "add", 1)
        border.put(j, q)


@idiom
def prefix_borders(k: KernelBuilder, level: int) -> Title:
    """The prefix function of each row, or its Z array, and what follows from it."""
    shape = k.draw.shape
    t = lanes(k, level, "row r")
    k.size("chars", 9, 14)
    pattern, _ = text_of(t, "patterns words_in text", "chars", 1)
    n = named(k, "n", pattern.whole())
    z = shape.chance(0.45)
    out = t.array("z z_values" if z else "borders failure prefix", INT32, "chars", role="out")
    if z:
        _z_array(k, pattern, out, n)
        said = "the Z array: how many symbols from each place on agree with the beginning"
    else:
        _borders(k, pattern, out, n)
        said = "the prefix function: the length of the longest proper border of each prefix"
    more = ""
    if level > 1 and shape.chance(0.3 + 0.1 * level):
        more = _follows(k, t, out, n, z)
    text = f"For {t.each} of {pattern.name}, {out.name} gets {said}.{more}"
    return Title(k.name("z_array z_function" if z else "prefix_function kmp_failure"), text)


def _z_array(k: KernelBuilder, text: Seq, z: Seq, n: Expr) -> None:
    """The Z algorithm (Gusfield, Algorithms on Strings, Trees, and Sequences, 1997)."""
    z.put(0, n)
    names = k.draw.word.choice((("lo", "hi"), ("left", "right")))
    lo, hi = (k.let(name, k.lift(0, INT32)) for name in names)
    with k.for_("j pos", n, start=1) as j:
        size = k.let("size match_len", k.lift(0, INT32))
        with k.if_(j < hi):
            k.assign(size, least(hi - j, z[j - lo]))
        with k.while_(j + size < n):
            with k.if_(fn("ne", text[size], text[j + size])):
                k.break_()
            k.augment(size, "add", 1)
        with k.if_(j + size > hi):
            k.assign(lo, j)
            k.assign(hi, j + size)
        z.put(j, size)


def _follows(k: KernelBuilder, t: Lanes, table: Seq, n: Expr, z: bool) -> str:
    """The smallest period, or the longest border besides, of the whole row."""
    if not z and k.draw.shape.chance(0.6):
        period = k.out("periods smallest_period", INT32, t.dims)
        k.store(period, t.at, n - table[n - 1])
        return f" {period.name} gets the smallest period of the whole."
    longest = k.let("longest best", k.lift(0, INT32))
    with k.for_("e v", n, start=1) as e:
        k.assign(longest, most(longest, table[e]))
    out = k.out("repeats longest_repeat", INT32, t.dims)
    k.store(out, t.at, longest)
    what = "repeat of the beginning further on" if z else "border of any prefix"
    return f" {out.name} gets the length of the longest {what}."


_HASHED = {
    "count": ("hash_hits candidate_counts", 0, "how many windows have the hash of {}"),
    "first": (
        "first_candidate first_hash_hit",
        -1,
        "where the first window with the hash of {} starts, -1 if none does",
    ),
    "smallest": (
        "fingerprints min_hash",
        4294967295,
        "the smallest hash of a window, 4294967295 if there is none",
    ),
}


_MATCHED = {
    "count": ("match_counts hits_out", 0, "how many windows equal {} (they may overlap)"),
    "first": (
        "first_at match_pos",
        -1,
        "where the first window that equals {} starts, -1 if none does",
    ),
}
"""The same where windows of the hash are compared symbol by symbol."""


@dataclass(frozen=True)
class _Hash:
    """A polynomial hash: to a base modulo 2^32, or modulo a prime that is less."""

    radix: Expr
    prime: int = 0

    @property
    def type(self) -> Scalar:
        return INT32 if self.prime else UINT32

    @property
    def said(self) -> str:
        base = f"base {written(self.radix)}"
        return f"{base} modulo {self.prime}" if self.prime else f"{base}, in uint32 with wrapping,"

    def reduced(self, code: Expr) -> Expr:
        return code % self.prime if self.prime else code

    def next(self, code: Expr, symbol: Expr) -> Expr:
        """The hash once a symbol has entered."""
        return self.reduced(code * self.radix + cast(symbol, self.type))

    def without(self, code: Expr, top: Var, symbol: Expr) -> Expr:
        """The hash without its first symbol; modulo a prime it does not become negative."""
        gone = top * cast(symbol, self.type)
        return code + (self.prime - gone % self.prime) if self.prime else code - gone


def _hashed(k: KernelBuilder, word: Var, width: Expr, hash_: _Hash) -> Var:
    """The hash of a whole word."""
    wanted = k.let("needle_hash pattern_hash", k.lift(0, hash_.type))
    with k.for_("q m", width) as q:
        k.assign(wanted, hash_.next(wanted, word[q]))
    return wanted


@idiom
def rolling_hash(k: KernelBuilder, level: int) -> Title:
    """Rabin-Karp: the smallest hash of a row's windows, or the windows whose hash is a needle's."""
    shape = k.draw.shape
    t = lanes(k, level, "row r")
    k.size("max_len", 12, 18)
    goal = shape.choice(("count", "first", "smallest") if level > 1 else ("count", "smallest"))
    checked = goal != "smallest" and shape.chance(0.6)
    most_symbol = 9 if goal == "smallest" else 6 if checked else 1
    names = "text document" if goal == "smallest" else "text haystack"
    text, type_ = text_of(t, names, "max_len", most_symbol, (UINT8,) if checked else KINDS)
    n, counted = length(text, level)
    k.size("window", 2, 2 if checked else 3)
    names = "window_size shingle_len" if goal == "smallest" else "needle_len pattern_len"
    width = k.size_param(names, "window")
    hash_ = _hash_of(k, type_, goal, checked)
    top = _top_power(k, width, hash_)
    code = k.let("h window_hash", k.lift(0, hash_.type))
    word = needle = None
    if goal != "smallest":
        word = k.array("needle pattern", type_, "window", low=0, high=most_symbol)
        needle = _hashed(k, word, width, hash_)
    names, first, said = (_MATCHED if checked else _HASHED)[goal]
    kind = UINT32 if goal == "smallest" else INT32
    best = k.let("hits count" if goal == "count" else "found best", k.lift(first, kind))
    with k.for_("j end", n) as j:
        _roll(k, text, code, (hash_, top), j, width)
        full = j + 1 >= width if needle is None else both(j + 1 >= width, same(code, needle))
        with k.if_(full), _matched(k, text, word if checked else None, j, width):
            _judge(k, goal, best, code, j, width)
    out = t.each_out(names, kind)
    k.store(out, t.at, best)
    return Title(
        k.name("rabin_karp rabin_karp_search" if checked else "rolling_hash window_hashes"),
        f"Roll a polynomial hash to {hash_.said} over the windows of "
        f"{width.name} symbols of {t.each} of {text.name}{counted}. {out.name} gets "
        f"{said.format(word.name if word is not None else '')}"
        f".{' Only windows of its hash are compared symbol by symbol.' * checked}",
    )


def _hash_of(k: KernelBuilder, type_: Scalar, goal: str, checked: bool) -> _Hash:
    """Of bytes modulo a small prime where what it finds is compared (Cormen et al., Introduction to
    Algorithms, 32.2); to a base above all symbols where nothing but hashes is compared."""
    if checked:
        return _Hash(k.lift(256, INT32), k.draw.value.choice((127, 251)))
    if goal == "smallest" and k.draw.shape.chance(0.5):
        return _Hash(k.scalar("radix hash_base", UINT32, 257, 65_599))
    bases = (257, 263, 65_599) if type_ == UINT8 else (65_599, 16_777_619)
    return _Hash(k.lift(k.draw.value.choice(bases), UINT32))


def _top_power(k: KernelBuilder, width: Expr, hash_: _Hash) -> Var:
    """What the first symbol of a window counts."""
    top = k.let("top_power high_factor", k.lift(1, hash_.type))
    with k.for_("e u", width, start=1):
        k.assign(top, hash_.reduced(top * hash_.radix))
    return top


def _roll(
    k: KernelBuilder, text: Seq, code: Var, weights: tuple[_Hash, Var], j: Var, width: Expr
) -> None:
    """The symbol at ``j`` enters the hash, and the one before the window leaves it."""
    hash_, top = weights
    with k.if_(j >= width):
        k.assign(code, hash_.without(code, top, text[j - width]))
    k.assign(code, hash_.next(code, text[j]))


def _matched(
    k: KernelBuilder, text: Seq, word: Var | None, j: Var, width: Expr
) -> AbstractContextManager[object]:
    """Only where the window that ends at ``j`` is the word, or everywhere where none is given."""
    if word is None:
        return nullcontext()
    alike = k.let("matched alike", k.lift(0, INT32))
    with k.while_(alike < width):
        with k.if_(fn("ne", text[j + 1 - width + alike], word[alike])):
            k.break_()
        k.augment(alike, "add", 1)
    return k.if_(same(alike, width))


def _judge(k: KernelBuilder, goal: str, best: Var, code: Var, j: Var, width: Expr) -> None:
    """What a window changes."""
    if goal == "smallest":
        k.assign(best, least(best, code))
    elif goal == "count":
        k.augment(best, "add", 1)
    else:
        k.assign(best, j + 1 - width)
        k.break_()
