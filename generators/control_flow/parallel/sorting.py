"""Sorting networks, ranks and merges: what one thread does in a launch of a parallel sort."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, index, same, some
from generators.control_flow.parallel.lanes import key_type, spans
from generators.kit.functions import least, most, where
from generators.kit.masks import one_if
from generators.kit.text import written
from generators.program.dtypes import INT32, Array, Scalar
from generators.program.expr import Expr, Var

Place = tuple[Expr, ...]
WHOLE = ("int32", "int64", "uint32")
"""Types of keys that may be compared with ``==``."""


@dataclass(frozen=True)
class _Pair:
    """Two places of keys that a thread compares, and when the smaller comes first."""

    keys: Var
    values: Var | None
    a: Place
    b: Place
    up: Expr | None
    upward: bool


def _exchange(k: KernelBuilder, p: _Pair) -> None:
    shape = k.draw.shape
    names = k.draw.word.choice((("x", "y"), ("first_key", "second_key"), ("key_a", "key_b")))
    x, y = k.let(names[0], p.keys[p.a]), k.let(names[1], p.keys[p.b])
    if p.up is None and p.values is None and shape.chance(0.5):
        low, high = least(x, y), most(x, y)
        k.store(p.keys, p.a, low if p.upward else high)
        k.store(p.keys, p.b, high if p.upward else low)
        return
    wrong: Expr = (x > y) if p.upward else (x < y)
    if p.up is not None:
        wrong = some(both(p.up, x > y), both(fn("not", p.up), x < y))
        wrong = wrong if shape.chance(0.5) else where(p.up, x > y, x < y)
    with k.if_(wrong):
        k.store(p.keys, p.a, y)
        k.store(p.keys, p.b, x)
        if p.values is not None:
            held = k.let("held tmp swap_value", p.values[p.a])
            k.store(p.values, p.a, p.values[p.b])
            k.store(p.values, p.b, held)


def _rows(k: KernelBuilder) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One list, or a list in each row: leading sizes and their thread names."""
    if k.draw.shape.chance(0.5):
        return (), ()
    k.size("rows", 4, 6)
    return ("rows",), (k.name("row r segment"),)


def _payload(k: KernelBuilder, dims: tuple[str, ...], chance: float) -> Var | None:
    """Values that move with keys."""
    if not k.draw.shape.chance(chance):
        return None
    kind = k.draw.shape.choice(("int32", "float32"))
    low, high = (0, 900) if kind == "int32" else (-1.0, 1.0)
    names = "ids indices payload" if kind == "int32" else "values payload"
    return k.array(names, Scalar(kind), dims, role="inout", low=low, high=high)


def _bitonic_places(k: KernelBuilder, t: Expr, form: str) -> tuple[Expr, Expr, str]:
    """The two places that a thread compares, the lower one first; which, in words."""
    one = k.lift(1, INT32)
    if form == "flip":
        log_block = k.scalar("log_block block_bits", INT32, 1, 3)
        mirror = k.let("partner mirror", fn("bit_xor", t, (one << log_block) - 1))
        which = f"in each block of 1 << {log_block.name} keys the first is compared with the last, "
        return t, mirror, f"{which}the second with the last but one and so on"
    power = k.scalar("log_stride pass_bit step_bit", INT32, 0, 1)
    stride = k.let("stride dist j_step", one << power)
    which = f"keys whose indices differ in bit {power.name} alone are compared"
    if form == "threads":
        return t, k.let("partner", fn("bit_xor", t, stride)), which
    names = k.draw.word.choice((("lower", "upper"), ("i0", "i1"), ("first", "partner")))
    lower = k.let(names[0], 2 * t - (t & (stride - 1)))
    return lower, k.let(names[1], lower + stride), which


@idiom
def bitonic_step(k: KernelBuilder, level: int) -> Title:
    """One compare-exchange step of a bitonic sort (Batcher, AFIPS 1968)."""
    shape, type_ = k.draw.shape, key_type(k)
    lead, names = _rows(k)
    form = shape.choice(("pairs", "pairs", "threads", "flip"))
    if form == "pairs":
        launched = k.size("half_len", 16, 24, multiple_of=4)
        n = f"2*{launched}"
    else:
        launched = n = k.size("row_len" if lead else "n", 32, 48, multiple_of=8)
    at = k.thread(*lead, launched, names=(*names, k.name("t i")))
    t, head = at[-1], at[:-1]
    low, high = spans(type_)
    keys = k.array("keys data", type_, (*lead, n), role="inout", low=low, high=high)
    values = _payload(k, (*lead, n), 0.15 * level)
    first, other, which = _bitonic_places(k, t, form)
    up, upward, stage = None, shape.chance(0.5), ""
    order = f"the {'smaller' if upward else 'larger'} key is first"
    if form != "flip" and shape.chance(0.35 + 0.1 * level):
        upward, log_block = True, k.scalar("stage_bit log_block", INT32, 2, 3)
        bit = (first >> log_block) & 1 if shape.chance(0.5) else first & _bit(k, log_block)
        up = k.let("ascending up", same(bit, 0))
        order = f"the smaller key is first where bit {log_block.name} of their indices is 0, else "
        order += "the larger"
    elif form != "flip":
        stage = " in its last stage, where all pairs are put in the same order"
    else:
        stage = " whose stages begin with mirrored pairs, so that all run the same way"
        order += " (whole blocks fill a list)"
    with nullcontext() if form == "pairs" else k.if_(other > first):
        _exchange(k, _Pair(keys, values, (*head, first), (*head, other), up, upward))
    also = f", and {values.name} moved along" if values is not None else ""
    return Title(
        k.name(
            "bitonic_step bitonic_exchange", "bitonic_flip" if form == "flip" else "bitonic_pass"
        ),
        f"One step of a bitonic sort of {keys.name}{' within rows' if lead else ''}{stage}: "
        f"{which} and exchanged so that {order}{also}. {_BITONIC_THREADS[form]}",
    )


_BITONIC_THREADS = {
    "pairs": "A thread for each pair.",
    "threads": "A thread for each key, of which that of the lower index acts.",
    "flip": "A thread for each key, of which that of the lower index acts.",
}


def _bit(k: KernelBuilder, place: Expr) -> Expr:
    return k.lift(1, INT32) << place


def _parity(k: KernelBuilder) -> tuple[Expr, str]:
    """Whether pairs begin at even or odd places; in words."""
    if k.draw.shape.chance(0.85):
        odd = k.scalar("parity start offset", INT32, 0, 1)
        return odd, odd.name
    phase = k.scalar("phase pass_id sweep", INT32, 0, 5)
    return (phase & 1 if k.draw.shape.chance(0.5) else phase % 2), f"{phase.name} % 2"


@idiom
def odd_even_step(k: KernelBuilder, level: int) -> Title:
    """One phase of odd-even transposition sort: neighbours from an even or odd place on."""
    shape, type_ = k.draw.shape, key_type(k)
    k.size("rows", 4, 6)  # One long list would need as many phases as it has keys.
    even, flat = shape.chance(0.25), shape.chance(0.3)
    k.size("pairs", 8, 12)
    n = "2*pairs" if even else "2*pairs+1"
    names = (k.name("row r segment"), k.name("t i"))
    row, t = k.thread("rows", "pairs", names=names)
    low, high = spans(type_)
    whole = "+".join(f"rows*{part}" if part != "1" else "rows" for part in n.split("+"))
    dims = (whole,) if flat else ("rows", n)
    keys = k.array("keys data", type_, dims, role="inout", low=low, high=high)
    values = _payload(k, dims, 0.15 * level)
    odd, said = _parity(k)
    count: Expr = k.size_param("n count", n) if flat or shape.chance(0.5) else extent(keys, 1)
    first = k.let("left first", 2 * t + odd)
    places: list[Place] = [(row, first), (row, first + 1)]
    if flat:
        base = k.let("base row_start", row * count)
        places = [(base + first,), (base + first + 1,)]
    pair = _Pair(keys, values, places[0], places[1], None, shape.chance(0.6))
    early = even and shape.chance(0.5)
    if early:
        with k.if_(first + 1 >= count):
            k.return_()
    with k.if_(first + 1 < count) if even and not early else nullcontext():
        _exchange(k, pair)
    way = "larger" if pair.upward else "smaller"
    also = f", and the entries of {values.name} move along" if values is not None else ""
    length = f"{written(count) + ', ' if flat else ''}an {'even' if even else 'odd'} number"
    return Title(
        k.name("odd_even_step transposition_step", "odd_even_phase"),
        f"A phase of odd-even transposition sort of {keys.name} within rows of {length} of keys, "
        f"a thread for each pair: neighbours i and i + 1 with "
        f"i % 2 == {said} are exchanged where the first key is the {way} one{also}.",
    )


def _count_ahead(
    k: KernelBuilder, keys: Var, at: tuple[Var, ...], state: tuple[Var, Var, Expr], up: bool
) -> None:
    """Count the elements of the list that come before the thread's own."""
    (mine, rank, count), head, i = state, at[:-1], at[-1]
    whole = str(mine.type) in WHOLE
    form = k.draw.shape.choice(("one", "split", "arms") if whole else ("split", "nested"))

    def ahead(other: Expr, ties: bool) -> Expr:
        if up:
            return other <= mine if ties else other < mine
        return other >= mine if ties else other > mine

    if form == "split":
        with k.for_("j q", i) as j, k.if_(ahead(keys[index(*head, j)], True)):
            k.augment(rank, "add", 1)
        with k.for_("j q", count, start=i + 1) as j, k.if_(ahead(keys[index(*head, j)], False)):
            k.augment(rank, "add", 1)
        return
    with k.for_("j q", count) as j:
        other = k.let("other key_j", keys[index(*head, j)])
        if form == "nested":
            with k.if_(j < i), k.if_(ahead(other, True)):
                k.augment(rank, "add", 1)
            with k.elif_(ahead(other, False)):
                k.augment(rank, "add", 1)
            return
        tie = both(same(other, mine), j < i)
        with k.if_(some(ahead(other, False), tie) if form == "one" else ahead(other, False)):
            k.augment(rank, "add", 1)
        if form == "arms":
            with k.elif_(tie):
                k.augment(rank, "add", 1)


@idiom
def rank_sort(k: KernelBuilder, level: int) -> Title:
    """Each element counts those before it in order, and is stored at that rank."""
    shape = k.draw.shape
    type_ = key_type(k)
    rows = shape.chance(0.55)
    if rows:
        k.size("rows", 4, 7)
    k.size("n", 14, 24)
    lead = ("rows",) if rows else ()
    at = k.thread(*lead, "n", names=(*((k.name("row r"),) if rows else ()), k.name("i e")))
    i, head = at[-1], at[:-1]
    low, high = spans(type_)
    keys = k.array("keys data scores", type_, (*lead, "n"), low=low, high=high)
    up = shape.chance(0.6)
    count: Expr = (
        extent(keys, len(head)) if shape.chance(0.6) else k.size_param("n_keys count", "n")
    )
    mine = k.let("key mine x", keys[at])
    rank = k.let("rank before slot", k.lift(0, INT32))
    _count_ahead(k, keys, at, (mine, rank, count), up)
    told = []
    goal = shape.choice(("ranks", "sorted", "order", "both"))
    if goal in ("sorted", "both"):
        out = k.out("sorted_keys ordered", type_, (*lead, "n"))
        k.store(out, (*head, rank), mine)
        told.append(f"{out.name} gets the key at its rank")
    if goal in ("order", "both"):
        out = k.out("order argsort", INT32, (*lead, "n"))
        k.store(out, (*head, rank), i)
        told.append(f"{out.name} gets the index of the key at its rank")
    if goal == "ranks":
        out = k.out("ranks positions", INT32, (*lead, "n"))
        k.store(out, at, rank)
        told.append(f"{out.name} gets the rank")
    way = "ascending" if up else "descending"
    return Title(
        k.name("rank_sort enumeration_sort", "rank_keys"),
        f"The rank of each element of {keys.name}{' within its row' if rows else ''} in {way} "
        f"order is how many come before it; equal keys keep their order. {' and '.join(told)}.",
    )


def _bisect(
    k: KernelBuilder,
    run: Var,
    lead: tuple[Expr, ...],
    x: Expr,
    count: Expr,
    ties: bool,
    mark: str = "",
) -> Var:
    """How many of a run come before x; ``mark`` ends the names of the search's locals."""
    lo, hi = k.let(f"lo{mark}", k.lift(0, INT32)), k.let(f"hi{mark}", count)
    middle = k.draw.shape.choice(((lo + hi) // 2, lo + (hi - lo) // 2, (lo + hi) >> 1))
    swapped = k.draw.shape.chance(0.4)
    with k.while_(lo < hi):
        mid = k.let(f"mid{mark}", middle)
        probe = run[index(*lead, mid)]
        if swapped:
            with k.if_(probe > x if ties else probe >= x):
                k.assign(hi, mid)
            with k.else_():
                k.assign(lo, mid + 1)
        else:
            with k.if_(probe <= x if ties else probe < x):
                k.assign(lo, mid + 1)
            with k.else_():
                k.assign(hi, mid)
    return lo


@dataclass(frozen=True)
class _Runs:
    """Two sorted runs, of the thread's row if there are rows, and their lengths."""

    k: KernelBuilder
    at: tuple[Var, ...]
    lead: tuple[str, ...]
    a: Var
    b: Var
    na: Expr
    nb: Expr


def _merged(r: _Runs) -> Title:
    """Each element of either run goes to its place among all."""
    k, i, head = r.k, r.at[-1], r.at[:-1]
    assert isinstance(r.a.type, Array)
    merged = k.out("merged out", r.a.type.element, (*r.lead, "len_a+len_b"))
    early = k.draw.shape.chance(0.5)
    with k.if_(i < r.na):
        x = k.let("key_a", r.a[index(*head, i)])
        k.store(merged, (*head, i + _bisect(k, r.b, head, x, r.nb, False, "_b")), x)
        if early:
            k.return_()
    with nullcontext() if early else k.else_():
        q = k.let("j index_b", i - r.na)
        y = k.let("key_b", r.b[index(*head, q)])
        k.store(merged, (*head, q + _bisect(k, r.a, head, y, r.na, True, "_a")), y)
    return Title(
        k.name("merge_by_rank rank_merge merge_runs"),
        f"Merge sorted {r.a.name} and {r.b.name} into {merged.name}, a thread for each element: "
        "its place is its index in its own run plus how many of the other come before it; of equal "
        f"keys those of {r.a.name} come first.",
    )


def _ranked(r: _Runs) -> Title:
    """Where each element of the first run stands in the second."""
    k, i, head, ties = r.k, r.at[-1], r.at[:-1], r.k.draw.shape.chance(0.5)
    x = k.let("x key", r.a[r.at])
    lo = _bisect(k, r.b, head, x, r.nb, ties)
    goals = ("place", "count", "found") if str(x.type) in WHOLE else ("place", "count")
    goal = k.draw.shape.choice(goals)
    names = {"place": "places merged_at", "count": "ranks below", "found": "present is_common"}
    out = k.out(names[goal], INT32, (*r.lead, "len_a"))
    if goal == "found":
        near = most(lo - 1, 0) if ties else least(lo, r.nb - 1)
        hit = same(r.b[index(*head, near)], x)
        k.store(out, r.at, one_if(hit))
    else:
        k.store(out, r.at, i + lo if goal == "place" else lo)
    which = "not above" if ties else "below"
    said = {
        "place": f"its index plus how many of {r.b.name} are {which} it",
        "count": f"how many of {r.b.name} are {which} it",
        "found": f"1 if {r.b.name} has it too, else 0",
    }[goal]
    text = f"For each element of sorted {r.a.name}, {out.name} gets {said}, by bisection in "
    kernels = "mark_common find_common" if goal == "found" else "rank_in_other cross_ranks"
    return Title(k.name(kernels), f"{text}sorted {r.b.name}.")


_NAMES = (
    ("a", "b", "len_a", "len_b"),
    ("run_a", "run_b", "size_a", "size_b"),
    ("left_run", "right_run", "left_len", "right_len"),
)
"""What two runs and their lengths are called."""


@idiom
def merge_by_rank(k: KernelBuilder, level: int) -> Title:
    """Two sorted runs merged: each element finds by bisection how many of the other run precede."""
    shape, type_ = k.draw.shape, key_type(k)
    lead, names = _rows(k)
    k.size("len_a", 9, 14)
    k.size("len_b", 9, 14)
    low, high = spans(type_)
    one = shape.chance(0.4 + 0.05 * level)
    names = (*names, k.name("i e"))
    at = k.thread(*lead, "len_a+len_b" if one else "len_a", names=names)
    runs = k.draw.word.choice(_NAMES)
    a = k.array(runs[0], type_, (*lead, "len_a"), init="sorted", low=low, high=high)
    b = k.array(runs[1], type_, (*lead, "len_b"), init="sorted", low=low, high=high)
    sizes = shape.chance(0.5)
    na: Expr = k.size_param(runs[2], "len_a") if sizes else extent(a, len(lead))
    nb: Expr = k.size_param(runs[3], "len_b") if sizes else extent(b, len(lead))
    name, text = (_merged if one else _ranked)(_Runs(k, at, lead, a, b, na, nb))
    return Title(name, text + " Runs are rows." if lead else text)
