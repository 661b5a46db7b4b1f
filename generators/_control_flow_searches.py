"""Searches and small sorts: tables, patterns, polygons, neighbours, greedy change, medians."""

from __future__ import annotations

from generators._control_flow_kit import also, either, rows_of, shown
from generators.build import KernelBuilder, extent, fn
from generators.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.expr import Expr, Operand, Var, op
from generators.registry import Title


def table_lookup(k: KernelBuilder, level: int) -> Title:
    """Where a value falls among sorted edges, by lower_bound or a scan, and what stands there."""
    shape = k.draw.shape
    whole = shape.chance(0.35)
    s = Scalar(shape.choice(("int32", "int64", "uint32"))) if whole else k.draw.wide_float_type()
    n, m = k.size("n", 56, 80), k.size("m", 9, 14)
    low, high = (0, 400) if whole else (-2.0, 2.0)
    edges = k.array(
        ("edges", "breakpoints", "knots", "cdf"), s, m, init="sorted", low=low, high=high
    )
    x = k.array(("x", "queries", "values"), s, n, low=low, high=high)
    style = shape.choice(("lower_bound", "lower_bound", "scan", "backwards"))
    want = "bin" if level == 1 else shape.choice(("bin", "entry", "gap", "share"))
    if whole and want == "share":
        want = "gap"
    t = k.draw.wide_float_type() if want == "entry" else s
    table = (
        k.array(("rates", "heights", "prices"), t, m, low=0.5, high=3.0)
        if want == "entry"
        else None
    )
    out = k.out(("out", "found", "looked_up"), INT32 if want == "bin" else t, n)
    counts = also(k, 0.0 if level < 3 else 0.5, ("slot_out", "position"), INT32, n)
    scaled = level >= 2 and shape.chance(0.4) and not whole
    gain = either(k, ("gain", "unit"), s, 0.6, 0.9) if scaled else None
    (i,) = k.thread(n, names=(k.name("i", "tid", "q"),))
    q = k.let(("q", "v", "xi"), gain * x[i] if gain is not None else x[i])
    note = ""
    if level >= 3 and shape.chance(0.6):
        with k.if_(op("or", q < edges[0], q > edges[extent(edges) - 1])):
            k.store(out, i, -1 if want == "bin" or not (t.is_unsigned) else 0)
            if counts is not None:
                k.store(counts, i, -1)
            k.return_()
        note = (
            f" Values outside of {edges.name} give {0 if want != 'bin' and t.is_unsigned else -1}."
        )
    slot = _slot(k, style, edges, q)
    if want == "bin":
        k.store(out, i, slot)
        text = "that index"
    elif want == "entry":
        assert table is not None
        value: Expr = table[slot]
        if level >= 4 and s == t and not whole:
            value = value * (1.0 + 0.1 * fn("abs", q))
            text = f"{table.name} there times 1 + 0.1 * |v|"
        else:
            text = f"{table.name} there"
        k.store(out, i, value)
    elif want == "gap":
        gap = fn("max", edges[slot], q) - fn("min", edges[slot], q)
        k.store(out, i, gap)
        text = "the distance from the value to that edge"
    else:
        before = k.let(("before", "prev"), fn("max", slot - 1, 0))
        span = k.let(("span", "width"), edges[slot] - edges[before])
        with k.if_(span > 0.05):
            k.store(out, i, (q - edges[before]) / span)
        with k.else_():
            k.store(out, i, 0.0)
        text = (
            "where the value lies between the edge before (the first "
            "for index 0) and that edge, 0 if they are within 0.05"
        )
    if counts is not None:
        k.store(counts, i, slot)
        note += f" {counts.name} gets the index as well."
    value_text = f"{shown(gain)} * {x.name}" if gain is not None else x.name
    done = (
        f"Find for each v = {value_text} the first index of "
        f"the sorted {edges.name} whose edge is not below it "
    )
    done += f"(the last index if none is); {out.name} gets {text}."
    return Title(
        k.name("table_lookup", "find_bin", "bracket_values", "lookup_edges"), f"{done}{note}"
    )


def _slot(k: KernelBuilder, style: str, edges: Var, q: Expr) -> Var:
    if style == "lower_bound":
        return k.let(("slot", "j", "at"), fn("lower_bound", edges, q))
    if style == "scan":
        slot = k.let(("slot", "j", "at"), k.lift(0, INT32))
        last = extent(edges) - 1
        with k.while_(slot < last):
            with k.if_(edges[slot] >= q):
                k.break_()
            k.augment(slot, "add", 1)
        return slot
    slot = k.let(("slot", "j", "at"), extent(edges) - 1)
    with k.while_(slot > 0):
        with k.if_(edges[slot - 1] < q):
            k.break_()
        k.augment(slot, "sub", 1)
    return slot


def pattern_search(k: KernelBuilder, level: int) -> Title:
    """A short pattern in rows of codes: the first match, their number, or the best alignment."""
    shape = k.draw.shape
    type_ = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 2}))
    rows, cols = k.size("rows", 36, 56), k.size("cols", 10, 14, minimum=4)
    size = shape.integer(2, 3)
    text = k.array(("text", "sequence", "codes"), type_, (rows, cols), low=0, high=2)
    pattern = k.array(("pattern", "motif", "needle"), type_, str(size), low=0, high=2)
    count: Expr = k.size_param(("num_cols", "text_length"), cols)
    form = shape.choice(("first", "count", "best"))
    joker = level >= 2 and shape.chance(0.5)
    wild = k.draw.value.integer(0, 1)
    out = k.out(
        ("match", "position", "found") if form != "count" else ("matches", "hits"), INT32, rows
    )
    errors = also(k, 0.7 if form == "best" else 0.0, ("errors", "distance"), INT32, rows)
    apart = level >= 3 and form == "count" and shape.chance(0.6)
    start = (
        k.array(("start", "offset"), INT32, rows, low=0, high=2)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    (row,) = k.thread(rows, names=(k.name("row", "r", "i"),))
    first: Operand = 0
    if start is not None:
        first = k.let(("begin", "from_col"), start[row])
    found = k.let(("found", "answer"), k.lift(0 if form == "count" else -1, INT32))
    best = k.let(("best", "fewest"), k.lift(size + 1, INT32)) if form == "best" else None
    j = k.let(("j", "pos"), k.lift(first, INT32))
    with k.while_(j + size <= count):
        if form == "best":
            wrong = k.let(("wrong", "differs"), k.lift(0, INT32))
            with k.for_(("p", "q"), size) as p:
                differs = _differs(k, text, pattern, (row, j, p), joker, wild)
                with k.if_(differs):
                    k.augment(wrong, "add", 1)
            assert best is not None
            with k.if_(wrong < best):
                k.assign(best, wrong)
                k.assign(found, j)
        else:
            same = k.let(("same", "matched"), k.lift(0, INT32))
            with k.for_(("p", "q"), size) as p:
                with k.if_(_differs(k, text, pattern, (row, j, p), joker, wild)):
                    k.break_()
                k.augment(same, "add", 1)
            with k.if_(fn("eq", same, size)):
                if form == "first":
                    k.assign(found, j)
                    k.break_()
                else:
                    k.augment(found, "add", 1)
                    if apart:
                        k.augment(j, "add", size - 1)
        k.augment(j, "add", 1)
    k.store(out, row, found)
    words = {
        "first": "the first column at which it matches, or -1",
        "count": "how often it matches" + (", matches not overlapping" if apart else ""),
        "best": "the first column with the fewest differing codes",
    }
    done = (
        f"Compare the {size} codes of {pattern.name} with each "
        f"row of {text.name}; {out.name} gets {words[form]}."
    )
    if errors is not None and best is not None:
        k.store(errors, row, best)
        done += f" {errors.name} gets that number."
    done += f" A code {wild} in the pattern matches anything." if joker else ""
    done += f" The search begins at column {start.name}." if start is not None else ""
    return Title(k.name("find_pattern", "match_motif", "scan_pattern", "search_rows"), done)


def _differs(
    k: KernelBuilder, text: Var, pattern: Var, at: tuple[Expr, Expr, Expr], joker: bool, wild: int
) -> Expr:
    row, j, p = at
    differs = fn("ne", text[row, j + p], pattern[p])
    return op("and", differs, fn("ne", pattern[p], wild)) if joker else differs


def polygon_tests(k: KernelBuilder, level: int) -> Title:
    """Points against a polygon: inside by crossings, winding, nearest edge, or convex sides."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    vec = Vec(2, s)
    n, m = k.size("n", 56, 80), k.size("m", 6, 8, minimum=3)
    form = shape.choice(("crossings", "sides", "nearest"))
    split = shape.chance(0.4)
    if split:
        px, py = (k.array(f"p{a}", s, n, low=-1.2, high=1.2) for a in "xy")
        vx, vy = (k.array(f"poly_{a}", s, m, low=-1.5, high=1.5) for a in "xy")
    else:
        pts = k.array(("points", "pts"), vec, n, low=-1.2, high=1.2)
        poly = k.array(("polygon", "verts", "outline"), vec, m, low=-1.5, high=1.5)
    count: Expr = k.size_param(("num_verts", "corners"), m)
    out = k.out(
        ("inside", "hit") if form != "nearest" else ("distance", "dist"),
        INT32 if form != "nearest" else s,
        n,
    )
    scale = either(k, ("scale", "zoom"), s, 0.6, 0.9) if level >= 2 and shape.chance(0.5) else None
    hole = level >= 3 and form != "nearest" and shape.chance(0.5)
    (i,) = k.thread(n, names=(k.name("i", "tid"),))

    def corner(j: Expr) -> tuple[Expr, Expr]:
        if split:
            return vx[j], vy[j]
        p = k.let(("v", "corner"), poly[j])
        return p[0], p[1]

    if split:
        x0, y0 = px[i], py[i]
    else:
        p = k.let(("p", "pt"), pts[i])
        x0, y0 = p[0], p[1]
    x = k.let("x", scale * x0 if scale is not None else x0)
    y = k.let("y", scale * y0 if scale is not None else y0)
    cut = round(k.draw.value.integer(2, 5) / 10, 1)
    if hole:
        with k.if_(x * x + y * y < cut * cut):
            k.store(out, i, 0)
            k.return_()
    state = k.let(
        ("crossings", "flips") if form == "crossings" else ("best", "lowest"),
        k.lift(0, INT32) if form == "crossings" else k.lift(100.0, s),
    )
    with k.for_(("j", "e"), count) as j:
        ax, ay = (k.let(name, c) for name, c in zip(("ax", "ay"), corner(j), strict=True))
        after = (j + 1) % count
        bx, by = (k.let(name, c) for name, c in zip(("bx", "by"), corner(after), strict=True))
        if form == "crossings":
            with k.if_(fn("ne", ay > y, by > y)), k.if_(x < ax + (bx - ax) * (y - ay) / (by - ay)):
                k.augment(state, "add", 1)
        elif form == "sides":
            side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            k.assign(state, fn("min", state, side))
        else:
            ex, ey = k.let("ex", bx - ax), k.let("ey", by - ay)
            along = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey + 1.0e-6)
            t = k.let(("t", "u"), fn("clamp", along, 0.0, 1.0))
            dx, dy = k.let("dx", x - ax - t * ex), k.let("dy", y - ay - t * ey)
            d2 = k.let(("d2", "sq"), dx * dx + dy * dy)
            k.assign(state, fn("min", state, d2))
    if form == "crossings":
        k.store(out, i, state % 2)
        text = "1 where a ray to the right crosses an odd number of edges, else 0"
    elif form == "sides":
        low = k.draw.value.choice((-0.5, -1.0, -1.5))
        with k.if_(state > low):
            k.store(out, i, 1)
        with k.else_():
            k.store(out, i, 0)
        text = f"1 where (b - a) x (p - a) exceeds {low} for every edge a to b, else 0"
    else:
        k.store(out, i, fn("sqrt", state + 0.01))
        text = "sqrt(d2 + 0.01) for the smallest squared distance d2 to an edge"
    done = (
        f"For each point{f' times {shown(scale)}' if scale is not None else ''} "
        f"and the closed polygon: {out.name} gets {text}."
    )
    done += f" Points closer than {cut} to the origin give 0." if hole else ""
    return Title(k.name(f"polygon_{form}", "point_in_polygon", "polygon_test"), done)


def small_sorts(k: KernelBuilder, level: int) -> Title:
    """The order of a few numbers in each row: medians, ranks, sorted rows, k-th entries."""
    shape = k.draw.shape
    whole = shape.chance(0.4)
    s = (
        Scalar(shape.choice(("int32", "int64", "int16", "uint8")))
        if whole
        else k.draw.wide_float_type()
    )
    form = shape.choice(
        ("median3", "sort", "rank", "kth") if level >= 2 else ("median3", "rank", "sort")
    )
    low, high = (0, 200) if whole else (-2.0, 2.0)
    rows = k.size("rows", 48, 72)
    if form == "median3":
        return _median(k, level, s, rows, (low, high))
    table, row, count = rows_of(k, ("values", "samples", "scores"), s, low, high)
    if form == "sort":
        return _sorted_row(k, level, s, table, row, count)
    if form == "rank":
        pivot = k.array(("pivot", "probe", "reference"), s, "rows", low=low, high=high)
        out = k.out(("rank", "below"), INT32, "rows")
        ties = also(k, 0.0 if level < 2 else 0.6, ("above", "larger"), INT32, "rows")
        p = k.let(("p", "pivot_value"), pivot[row])
        less, more = (
            k.let(("less", "n_below"), k.lift(0, INT32)),
            k.let(("more", "n_above"), k.lift(0, INT32)),
        )
        margin = (
            either(k, ("margin", "gap"), s, *((5, 20) if whole else (0.1, 0.3)))
            if level >= 3
            else None
        )
        with k.for_(("j", "c"), count) as j:
            v = k.let(("v", "x"), table[row, j])
            with k.if_(v + margin < p if margin is not None else v < p):
                k.augment(less, "add", 1)
            with k.elif_(v > p + margin if margin is not None else v > p):
                k.augment(more, "add", 1)
        k.store(out, row, less if ties is not None else less - more)
        if ties is not None:
            k.store(ties, row, more)
        far = f" by more than {shown(margin)}" if margin is not None else ""
        done = (
            f"Count in each row of {table.name} the entries "
            f"below{far} and above{far} its {pivot.name}: "
        )
        done += (
            f"{out.name} gets "
            f"{'the first' if ties is not None else 'the first less the second'} number"
        )
        done += f", {ties.name} the second" if ties is not None else ""
        return Title(k.name("rank_in_row", "count_order", "row_rank"), f"{done}.")
    order = k.scalar(("order", "k"), INT32, 1, 3)
    out = k.out(("kth", "selected"), s, "rows")
    index = also(k, 0.5, ("kth_index", "where_found"), INT32, "rows")
    value = k.let(("value", "picked"), table[row, 0])
    at = k.let(("at", "where_"), k.lift(0, INT32)) if index is not None else None
    with k.for_(("j", "c"), count) as j:
        v = k.let(("v", "candidate"), table[row, j])
        smaller = k.let(("smaller", "below"), k.lift(0, INT32))
        with k.for_(("m", "q"), count) as m:
            other = table[row, m]
            earlier = op("and", fn("eq", other, v), m < j) if whole else other < v
            with k.if_(op("or", other < v, earlier) if whole else other < v):
                k.augment(smaller, "add", 1)
        with k.if_(fn("eq", smaller, order % count)):
            k.assign(value, v)
            if at is not None:
                k.assign(at, j)
            k.break_()
    k.store(out, row, value)
    done = (
        f"Find in each row of {table.name} the entry that "
        f"{order.name} mod {'row length'} entries are smaller than"
    )
    done += " (equal ones count when they stand before)" if whole else ""
    done += f"; it goes to {out.name}"
    if index is not None and at is not None:
        k.store(index, row, at)
        done += f", its column to {index.name}"
    return Title(k.name("kth_smallest", "select_kth", "order_statistic"), f"{done}.")


def _median(
    k: KernelBuilder, level: int, s: Scalar, rows: str, bounds: tuple[float, float]
) -> Title:
    shape = k.draw.shape
    low, high = bounds
    names = k.draw.word.choice(
        (("a", "b", "c"), ("red", "green", "blue"), ("left", "center", "right"))
    )
    arrays = [k.array(name, s, rows, low=low, high=high) for name in names]
    out = k.out(("median", "middle_value", "out"), s, rows)
    spread = also(k, 0.0 if level < 2 else 0.6, ("spread", "range_out"), s, rows)
    swap_style = shape.choice(("network", "cases", "minmax"))
    (i,) = k.thread(rows, names=(k.name("i", "tid"),))
    a, b, c = (k.let((n[0], f"{n[0]}_v"), array[i]) for n, array in zip(names, arrays, strict=True))
    if level >= 3:
        weight = 2 if s.is_int else 1.5
        pick = k.draw.value.choice((0, 1, 2))
        flag = k.array(("boost", "emphasis"), INT32, rows, low=0, high=1)
        chosen = (a, b, c)[pick]
        if s.name not in ("uint8", "int16"):
            with k.if_(fn("eq", flag[i], 1)):
                k.augment(chosen, "mul", weight)
            note = f" Where {flag.name} is 1, {names[pick]} is first multiplied by {weight}."
        else:
            with k.if_(fn("eq", flag[i], 1)):
                k.assign(chosen, chosen // 2)
            note = f" Where {flag.name} is 1, {names[pick]} is first halved (whole part)."
    else:
        note = ""
    if swap_style == "cases":
        middle = k.let(("m", "mid"), c)
        with k.if_(op("or", op("and", a <= b, b <= c), op("and", c <= b, b <= a))):
            k.assign(middle, b)
        with k.elif_(op("or", op("and", b <= a, a <= c), op("and", c <= a, a <= b))):
            k.assign(middle, a)
        result: Expr = middle
        lo: Expr = fn("min", fn("min", a, b), c)
        hi: Expr = fn("max", fn("max", a, b), c)
    elif swap_style == "network":
        for first, second in ((a, b), (b, c), (a, b)):
            with k.if_(first > second):
                kept = k.let(("tmp", "t"), first)
                k.assign(first, second)
                k.assign(second, kept)
        result, lo, hi = b, a, c
    else:
        result = fn("max", fn("min", a, b), fn("min", fn("max", a, b), c))
        lo, hi = fn("min", fn("min", a, b), c), fn("max", fn("max", a, b), c)
    k.store(out, i, result)
    if spread is not None:
        k.store(spread, i, hi - lo)
        note += f" {spread.name} gets the largest less the smallest."
    done = f"The median of {', '.join(names)} goes to {out.name}."
    return Title(k.name("median_of_three", "median3", "middle_of_three"), f"{done}{note}")


def _sorted_row(
    k: KernelBuilder, level: int, s: Scalar, table: Var, row: Var, count: Expr
) -> Title:
    shape = k.draw.shape
    out = k.out(("ordered", "sorted_rows"), s, ("rows", "cols"))
    falling = shape.chance(0.4)
    moves = also(k, 0.0 if level < 2 else 0.6, ("moves", "swaps"), INT32, "rows")
    with k.for_(("j", "c"), count) as j:
        k.store(out, (row, j), table[row, j])
    moved = k.let(("moved", "total_moves"), k.lift(0, INT32)) if moves is not None else None
    with k.for_(("p", "a"), count, start=1) as p:
        key = k.let(("key", "v"), out[row, p])
        q = k.let(("q", "b"), p - 1)
        with k.while_(q >= 0):
            with k.if_(out[row, q] >= key if falling else out[row, q] <= key):
                k.break_()
            k.store(out, (row, q + 1), out[row, q])
            k.augment(q, "sub", 1)
            if moved is not None:
                k.augment(moved, "add", 1)
        k.store(out, (row, q + 1), key)
    done = (
        f"Sort each row of {table.name} "
        f"{'downward' if falling else 'upward'} into {out.name} by insertion."
    )
    if moves is not None and moved is not None:
        k.store(moves, row, moved)
        done += f" {moves.name} gets how many entries were moved."
    return Title(k.name("insertion_sort_rows", "sort_rows", "order_rows"), done)


def sphere_tracing(k: KernelBuilder, level: int) -> Title:
    """Rays marched through a distance field until they are near a surface or have gone too far."""
    shape = k.draw.shape
    s = k.draw.wide_float_type()
    vec = Vec(3, s)
    n = k.size("num_rays", 48, 72)
    origin = k.array(("origins", "ray_o"), vec, n, low=-0.4, high=0.4)
    direction = k.array(("directions", "ray_d"), vec, n, init="unit")
    field = shape.choice(("sphere", "slab", "two", "rounded"))
    radius = either(k, ("radius", "size"), s, 1.2, 1.6)
    steps = k.draw.value.integer(3, 6)
    out = k.out(("depth", "distance", "t_hit"), s, n)
    count_out = also(k, 0.0 if level < 2 else 0.6, ("steps", "iterations"), INT32, n)
    relax = round(k.draw.value.integer(5, 9) / 10, 1) if level >= 2 else 1.0
    limit = either(k, ("max_dist", "t_max"), s, 0.9, 1.2) if level >= 3 else None
    stop = shape.choice((0.1, 0.2, 0.3))
    (i,) = k.thread(n, names=(k.name("i", "tid", "ray"),))
    o, d = k.let(("o", "ro"), origin[i]), k.let(("d", "rd"), direction[i])
    t = k.let(("t", "travel"), k.lift(0.0, s))
    used = k.let(("used", "count"), k.lift(0, INT32)) if count_out is not None else None
    with k.for_(("it", "step"), steps):
        p = k.let(("p", "pos"), o + t * d)
        h = k.let(("h", "dist"), _field(field, p, radius))
        with k.if_(h < stop):
            k.break_()
        k.augment(t, "add", relax * h if relax != 1.0 else h)
        if limit is not None:
            with k.if_(t > limit):
                k.assign(t, k.lift(limit, s))
                k.break_()
        if used is not None:
            k.augment(used, "add", 1)
    k.store(out, i, t)
    texts = {
        "sphere": "{r} - |p|",
        "slab": "{r} - |p.y|",
        "two": "min({r} - |p|, |p - (0.5, 0, 0)| + 0.2)",
        "rounded": "{r} - max(|p.x|, max(|p.y|, |p.z|))",
    }
    done = (
        "March each ray p = o + t * d from t = 0 for at "
        f"most {steps} steps of {relax} * h with h = "
    )
    done += texts[field].format(r=shown(radius)) + f", ending where h < {stop}"
    done += (
        f" or t would exceed {shown(limit)}, where it is set to that" if limit is not None else ""
    )
    done += f"; t goes to {out.name}"
    if count_out is not None and used is not None:
        k.store(count_out, i, used)
        done += f", the number of full steps to {count_out.name}"
    return Title(k.name("sphere_trace", "march_rays", "raymarch"), f"{done}.")


def _field(field: str, p: Expr, radius: Operand) -> Expr:
    if field == "sphere":
        return radius - fn("length", p)
    if field == "slab":
        return radius - fn("abs", p[1])
    if field == "two":
        return fn("min", radius - fn("length", p), fn("abs", p[0] - 0.5) + 0.2)
    return radius - fn("max", fn("abs", p[0]), fn("max", fn("abs", p[1]), fn("abs", p[2])))


def random_walks(k: KernelBuilder, level: int) -> Title:
    """Random walks of each thread until they leave a band, meet a wall or run out of steps."""
    shape = k.draw.shape
    n = k.size("num_walkers", 56, 80)
    seed = k.scalar(("seed", "rng_seed"), INT32, 1, 9999)
    form = shape.choice(("lattice", "uniform", "normal", "dice"))
    whole = form in ("lattice", "dice")
    type_ = INT32 if whole else FLOAT32
    steps = k.draw.value.integer(6, 14)
    out = k.out(("final", "position", "end"), type_, n)
    band = either(k, ("band", "barrier"), type_, *((3, 5) if whole else (1.5, 2.5)))
    start = k.array(("start", "origin"), type_, n, low=-1, high=1) if shape.chance(0.5) else None
    rule = shape.choice(("absorb", "reflect", "reset") if level >= 2 else ("absorb", "reset"))
    absorbs = rule == "absorb"
    taken = also(k, 0.7 if absorbs else 0.0, ("steps_taken", "lifetime"), INT32, n)
    drift = (
        either(k, ("drift", "bias"), type_, *((1, 2) if whole else (0.05, 0.2)))
        if level >= 3 and not whole and shape.chance(0.6)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    state = k.random_state(("state", "rng"), seed, i)
    x = k.let(("x", "pos"), start[i] if start is not None else k.lift(0, type_))
    used = k.let(("used", "count"), k.lift(0, INT32)) if taken is not None else None
    with k.for_(("t", "step"), steps):
        k.augment(x, "add", _move(k, form, state))
        if drift is not None:
            k.augment(x, "add", drift)
        if used is not None:
            k.augment(used, "add", 1)
        with k.if_(fn("abs", x) > band):
            if rule == "absorb":
                k.break_()
            elif rule == "reset":
                k.assign(x, k.lift(0, type_))
            elif whole:
                k.assign(x, -x)
            else:
                k.assign(x, 0.5 * x)
    k.store(out, i, x)
    moves = {
        "lattice": "-1 or 1 (randi(0, 2) * 2 - 1)",
        "dice": "randi(-2, 3)",
        "uniform": "randf(-1, 1)",
        "normal": "0.5 * randn",
    }
    ends = {
        "absorb": "ends the walk",
        "reset": "sets it to 0",
        "reflect": "changes its sign" if whole else "halves it",
    }
    done = f"Walker i, seeded by {seed.name} and i, makes up to {steps} moves of {moves[form]}"
    done += f" plus {shown(drift)}" if drift is not None else ""
    done += (
        f" from {start.name if start is not None else 0}; "
        f"a place beyond +-{shown(band)} {ends[rule]}. "
    )
    done += f"The last place goes to {out.name}"
    if taken is not None and used is not None:
        k.store(taken, i, used)
        done += f", the number of moves to {taken.name}"
    return Title(k.name("random_walk", "walk_in_band", "first_passage"), f"{done}.")


def _move(k: KernelBuilder, form: str, state: Var) -> Expr:
    if form == "lattice":
        return k.sample(("coin", "b"), "randi", state, 0, 2) * 2 - 1
    if form == "dice":
        return k.sample(("jump", "move"), "randi", state, -2, 3)
    if form == "uniform":
        return k.sample(("dx", "move"), "randf", state, -1.0, 1.0)
    return 0.5 * k.sample(("g", "kick"), "randn", state)
