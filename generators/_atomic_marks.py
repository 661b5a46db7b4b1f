"""Marks, keys and samples: depth buffers, packed winners, checksums, visits, random tallies."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import FLOAT32, INT32, Scalar
from generators.expr import Expr, Var, op
from generators.registry import Title

INT64, UINT32, UINT64 = Scalar("int64"), Scalar("uint32"), Scalar("uint64")


def depth_buffer(k: KernelBuilder, level: int) -> Title:
    """Points or fragments into a depth buffer that keeps the nearest, by cell or by pixel."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    n = k.size("num_points", 64, 90)
    w, h = k.size("width", 5, 7), k.size("height", 4, 6)
    flat = shape.chance(0.4)
    z = k.array(("depth", "z", "distance"), s, n, low=0.5, high=9.0)
    projected = level >= 2 and shape.chance(0.6)
    if projected:
        x = k.array(("px", "x"), s, n, low=-2.0, high=8.0)
        y = k.array(("py", "y"), s, n, low=-1.5, high=6.5)
    else:
        x = k.array(("pixel_x", "col"), INT32, n, init=f"index_of:{w}")
        y = k.array(("pixel_y", "row"), INT32, n, init=f"index_of:{h}")
    far = shape.chance(0.25)
    kind = "max" if far else "min"
    start = "-1.0" if far else "100.0"
    buffer = k.accumulator(
        ("zbuffer", "depth_map", "nearest"), s, f"{h}*{w}" if flat else (h, w), start
    )
    count = (
        k.accumulator(("fragments", "overdraw"), INT32, (h, w))
        if level >= 3 and shape.chance(0.6)
        else None
    )
    wp_, hp = k.size_param("num_cols", w), k.size_param("num_rows", h)
    (i,) = k.thread(n, names=(k.name("i", "tid", "p"),))
    note, value = "", z[i] if shape.chance(0.5) else k.let(("d", "zi"), z[i])
    if projected:
        snap = shape.choice(("floor", "rint"))
        u = k.let(("u", "col"), cast(fn(snap, x[i]), INT32))
        v = k.let(("v", "row"), cast(fn(snap, y[i]), INT32))
        outside = op("or", op("or", u < 0, u >= wp_), op("or", v < 0, v >= hp))
        with k.if_(outside):
            k.return_()
        how = "rounded down" if snap == "floor" else "rounded to the nearest"
        note = f" Pixels are {x.name} and {y.name} {how}; those outside the image are left out."
        px: Expr = u
        py: Expr = v
    else:
        keep = shape.chance(0.5)
        px, py = (k.let("u", x[i]), k.let("v", y[i])) if keep else (x[i], y[i])
        k.params = [p for p in k.params if p.name != hp.name and (flat or p.name != wp_.name)]
    if level >= 2 and shape.chance(0.6):
        near = k.scalar(("near_plane", "z_near"), s, 1.0, 2.0)
        clip = value < near
        text = f"below {near.name}"
        if level >= 3 and shape.chance(0.5):
            last = k.scalar(("far_plane", "z_far"), s, 6.5, 8.0)
            clip, text = op("or", clip, value > last), f"{text} or above {last.name}"
        with k.if_(clip):
            k.return_()
        note += f" Points {text} are clipped."
    if level >= 4:
        offset = k.scalar(("bias", "depth_bias"), s, 0.01, 0.2)
        sloped = shape.chance(0.5)
        what = f"{offset.name} times the depth" if sloped else offset.name
        value = k.let(("biased", "zb"), value + (offset * value if sloped else offset))
        note += f" {what} is added to the depth first."
    place = (py * wp_ + px,) if flat else (py, px)
    k.atomic(kind, buffer, place, value)
    if count is not None:
        k.atomic("add", count, (py, px), 1)
        note += f" Points of each pixel are counted in {count.name}."
    done = f"Keep the {'largest' if far else 'smallest'} {z.name} of the points of each pixel "
    done += f"in {buffer.name}"
    done += f" (element row * {wp_.name} + column)" if flat else " (row, column)"
    return Title(k.name("depth_test", "zbuffer_points", "splat_depth"), f"{done}.{note}")


def packed_winner(k: KernelBuilder, level: int) -> Title:
    """The best entry of each group, its value and its number packed into one integer."""
    shape = k.draw.shape
    key = shape.choice((INT64, UINT64, INT32, UINT32))
    bits = 12 if key.bits == 64 else 8
    n, m = k.size("n", 64, 90), k.size("groups", 6, 9)
    score_type = shape.choice((INT32, Scalar("uint16"), Scalar("int16")))
    score = k.array(("score", "priority", "votes"), score_type, n, low=0, high=5000)
    grouped = shape.chance(0.75)
    group = k.array(("group", "owner", "tile"), INT32, n, init=f"index_of:{m}") if grouped else None
    lowest = shape.chance(0.4)
    start = 0 if not lowest else 2**30
    best = k.accumulator(("best", "winner", "packed"), key, m if grouped else "1", start)
    penalty = (
        k.array(("handicap", "penalty"), INT32, n, low=0, high=60)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    value: Expr = cast(score[i], INT32)
    text = score.name
    if penalty is not None:
        value, text = (value + penalty[i], f"{text} + {penalty.name}")
    note = ""
    if level >= 2:
        names, bounds = (("min_score", "least"), (400, 1500))
        if not lowest:
            names, bounds = (("max_score", "ceiling"), (3000, 4500))
        limit = k.scalar(names, INT32, *bounds)
        if not isinstance(value, Var):
            value = k.let(("s", "value"), value)
        with k.if_(value < limit if lowest else value > limit):
            k.return_()
        note = f" Entries {'below' if lowest else 'above'} {limit.name} are left out."
    if level >= 3 and shape.chance(0.6):
        cap = k.draw.value.choice((3000, 4000, 4095))
        value = k.let(("capped", "level"), fn("min", value, cap))
        text = f"min({text}, {cap})"
    wide = cast(value, key)
    shifted = wide << bits
    index = cast(i, key)
    joined = fn("bit_or", shifted, index) if shape.chance(0.6) else shifted + index
    if level >= 3 or shape.chance(0.5):
        joined = k.let(("code", "packed_key", "entry"), joined)
    at = group[i] if group is not None else k.lift(0, INT32)
    k.atomic("min" if lowest else "max", best, at, joined)
    if level >= 4:
        seen = k.accumulator(("seen", "entries"), INT32, m if grouped else "1")
        k.atomic("add", seen, at, 1)
        note += f" Entries are counted in {seen.name}."
    where = f"at its {group.name}" if group is not None else "at element 0"
    done = f"Keep in {best.name} {where} the {'smallest' if lowest else 'largest'} key "
    done += f"({text} << {bits}) | i over the entries i."
    return Title(
        k.name("packed_argmin" if lowest else "packed_argmax", "best_entry", "pick_winner"),
        f"{done}{note}",
    )


def block_checksum(k: KernelBuilder, level: int) -> Title:
    """Hashed words of each block, joined by exclusive or, by a sum or by both."""
    shape = k.draw.shape
    type_ = shape.choice((UINT32, UINT64))
    rows, cols = k.size("blocks", 8, 12), k.size("words", 6, 8)
    two = shape.chance(0.6)
    word = k.array(
        ("words", "data", "payload"), type_, (rows, cols) if two else f"6*{rows}", low=0, high=2**31
    )
    salt = k.scalar(("salt", "seed"), type_, 1, 10**6) if shape.chance(0.5) else None
    kind = shape.choice(("xor", "add"))
    crc = k.accumulator(("checksum", "digest", "parity"), type_, rows)
    other = (
        k.accumulator(("sum_words", "second"), type_, rows)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    ones = (
        k.accumulator(("bit_total", "ones"), INT32, rows)
        if level >= 2 and shape.chance(0.4)
        else None
    )
    if two:
        b, j = k.thread(rows, cols, names=k.draw.word.choice((("b", "j"), ("row", "col"))))
        loaded: Expr = word[b, j]
        position: Expr = j
    else:
        (i,) = k.thread(f"6*{rows}", names=(k.name("i", "tid"),))
        b = k.let(("b", "block"), i // 6)
        loaded, position = word[i], i
    h = k.let(("h", "w", "x"), loaded)
    text, note = _mixed(k, h, salt, level, position)
    k.atomic(kind, crc, b, h)
    if other is not None:
        k.atomic("add" if kind == "xor" else "xor", other, b, h)
        note += (
            f" {other.name} takes the same words by {'sum' if kind == 'xor' else 'exclusive or'}."
        )
    if ones is not None:
        k.atomic("add", ones, b, fn("bit_count", h))
        note += f" The set bits are counted in {ones.name}."
    verb = "Exclusive-or" if kind == "xor" else "Add"
    where = "of each block (row)" if two else "of each block of 6 words"
    done = f"{verb} the hashed words {where} into {crc.name}; "
    done += f"a word w of {word.name} is hashed by {text}."
    return Title(k.name("block_checksum", "hash_blocks", "page_digest"), f"{done}{note}")


def _mixed(
    k: KernelBuilder, h: Var, salt: Var | None, level: int, position: Expr
) -> tuple[str, str]:
    """Mix a word step by step; says how."""
    shape, steps = k.draw.shape, []
    type_ = h.type
    assert isinstance(type_, Scalar)
    if salt is not None:
        k.assign(h, h ^ salt)
        steps.append(f"w ^= {salt.name}")
    if level >= 2 and shape.chance(0.6):
        k.augment(h, "add", cast(position, type_))
        steps.append("w += its position")
    factors = (2654435761, 2246822519, 3266489917, 747796405)
    for _ in range(1 + level // 2):
        factor, shift = k.draw.value.choice(factors), k.draw.value.choice((7, 11, 13, 15, 16))
        how = shape.choice(("multiply", "fold", "rotate"))
        if how == "multiply":
            k.augment(h, "mul", factor)
            steps.append(f"w *= {factor}")
        elif how == "fold":
            k.assign(h, h ^ (h >> shift))
            steps.append(f"w ^= w >> {shift}")
        else:
            k.assign(h, fn("bit_or", h << shift, h >> (type_.bits - shift)))
            steps.append(f"w = rotate left by {shift}")
    return ", then ".join(steps) + f" (modulo 2^{type_.bits})", ""


def visit_marks(k: KernelBuilder, level: int) -> Title:
    """Mark the nodes that entries refer to: by exchange, by compare-and-swap or by bits."""
    shape = k.draw.shape
    n, m = k.size("n", 24, 40), k.size("num_nodes", 90, 120)
    type_ = shape.choice((INT32, UINT32, INT64))
    nodes = k.array(("nodes", "targets", "frontier"), INT32, n, init=f"index_of:{m}")
    how = shape.choice(("exch", "cas", "or", "max"))
    mark: Expr
    fixed = shape.chance(0.5)
    mapped = level >= 3 and shape.chance(0.6)
    free = not fixed and not mapped
    stamp = k.scalar(("stamp", "iteration", "color"), type_, 2, 60) if free else None
    start = 1 if how == "cas" else 0
    marks = k.accumulator(("visited", "marks", "status"), type_, m, start)
    second = (
        k.accumulator(("touch_count", "visits"), INT32, m)
        if level >= 2 and shape.chance(0.6)
        else None
    )
    level_map = k.array(("rank", "depth_of", "layer"), type_, m, low=2, high=40) if mapped else None
    offset = (
        k.array(("offset", "step"), INT32, n, low=0, high=20)
        if level >= 2 and shape.chance(0.5)
        else None
    )
    size = k.size_param(("num_marks", "limit"), m) if offset is not None else None
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    at: Expr = nodes[i]
    text = f"{nodes.name}[i]"
    if offset is not None and size is not None:
        at, text = at + offset[i], f"{text} + {offset.name}[i]"
        if shape.chance(0.5):
            at, text = at % size, f"({text}) mod {size.name}"
            at = k.let(("node", "v"), at)
        else:
            at = k.let(("node", "v"), at)
            with k.if_(at >= size):
                k.return_()
            text += f" (skipped where it reaches {size.name})"
    elif second is not None or level_map is not None or shape.chance(0.4):
        at = k.let(("node", "v"), at)
    if level_map is not None:
        mark, shown = level_map[at], f"{level_map.name} of that node"
    elif stamp is not None:
        mark, shown = stamp, stamp.name
    else:
        chosen = k.draw.value.integer(2, 9)
        mark, shown = k.lift(chosen, type_), str(chosen)
    if how == "cas":
        k.compare_and_swap(marks, at, 1, mark)
        done = f"Set {marks.name} at node {text} to {shown} where it is 1 (compare-and-swap)"
    elif how == "exch":
        k.atomic("exch", marks, at, mark)
        done = f"Exchange {marks.name} at node {text} for {shown}"
    else:
        k.atomic(how, marks, at, mark)
        verb = "Bitwise-or" if how == "or" else "Raise to the larger"
        done = f"{verb} {marks.name} at node {text} with {shown}"
    if second is not None:
        k.atomic("add", second, at, 1)
        done += f"; count visits in {second.name}"
    return Title(
        k.name("mark_visited", "flag_nodes", "stamp_frontier"), f"{done}, for each entry i."
    )


def random_tally(k: KernelBuilder, level: int) -> Title:
    """Random numbers drawn by each thread, tallied: areas, dice, walks and means."""
    shape = k.draw.shape
    n = k.size("num_threads", 64, 90)
    seed = k.scalar(("seed", "rng_seed"), INT32, 1, 9999)
    form = shape.choice(("area", "dice", "mean", "disk", "normal"))
    draws = 1 if level == 1 else k.draw.value.integer(2, 5)
    m = k.size("bins", 5, 8)
    (i,) = k.thread(n, names=(k.name("i", "tid"),))
    offset: Expr = i
    if level >= 2 and shape.chance(0.4):
        stream = k.scalar(("stream_id", "frame"), INT32, 0, 50)
        offset = i + 97 * stream if shape.chance(0.5) else i * 31 + stream
    state = k.random_state(("state", "rng"), seed, offset)
    count = draws
    makers = {"area": _area, "dice": _dice, "mean": _mean, "disk": _disk, "normal": _normal}
    return makers[form](k, level, state, count, m, i)


def _area(k: KernelBuilder, level: int, state: Var, count: int, m: str, i: Var) -> Title:
    shape = k.draw.shape
    k.sizes.pop(m)
    hits = k.accumulator(("inside", "hits"), INT32, "1")
    radius = k.scalar("radius", FLOAT32, 0.5, 0.9) if shape.chance(0.5) else None
    size: Expr = radius if radius is not None else k.lift(1.0, FLOAT32)
    centred = shape.chance(0.5)
    solid = level >= 2 and shape.chance(0.4)

    def one() -> Expr:
        bounds = (-1.0, 1.0) if centred else ()
        names = ("x", "y", "z")[: 3 if solid else 2]
        p = [k.sample(a, "randf", state, *bounds) for a in names]
        total: Expr = p[0] * p[0]
        for q in p[1:]:
            total = total + q * q
        return total < (size * size if radius is not None else size)

    if count == 1:
        with k.if_(one()):
            k.atomic("add", hits, 0, 1)
    else:
        local = k.let(("local", "found"), k.lift(0, INT32))
        with k.for_(("s", "sample"), count), k.if_(one()):
            k.augment(local, "add", 1)
        k.atomic("add", hits, 0, local)
    span = "[-1, 1)" if centred else "[0, 1)"
    what = "cube" if solid else "square"
    limit = f"{radius.name}^2" if radius is not None else "1"
    done = f"Each thread draws {count} point(s) of the {what} {span} and adds to {hits.name}[0] "
    done += f"how many have a sum of squares below {limit}."
    return Title(k.name("monte_carlo_pi", "count_inside", "estimate_area"), done)


def _dice(k: KernelBuilder, level: int, state: Var, count: int, m: str, i: Var) -> Title:
    sides = k.size_param(("num_bins", "sides"), m)
    hist = k.accumulator(("hist", "rolls", "tally"), INT32, m)
    unsigned = k.draw.shape.chance(0.3)

    def roll() -> Expr:
        if unsigned:
            bits = k.sample(("bits", "word"), "randu", state)
            return k.let(("face", "b"), cast(bits % cast(sides, UINT32), INT32))
        return k.sample(("face", "b", "roll"), "randi", state, 0, sides)

    if count == 1:
        k.atomic("add", hist, roll(), 1)
    elif k.draw.shape.chance(0.5):
        with k.for_(("s", "throw"), count):
            k.atomic("add", hist, roll(), 1)
    else:
        best = k.let(("best", "highest"), k.lift(0, INT32))
        with k.for_(("s", "throw"), count):
            k.assign(best, fn("max", best, roll()))
        k.atomic("add", hist, best, 1)
        text = f"Each thread rolls {count} numbers in [0, {sides.name}) and counts the largest "
        text += f"in {hist.name}."
        return Title(k.name("highest_roll", "roll_dice"), text)
    how = (
        f"the remainder of a random word by {sides.name}"
        if unsigned
        else f"a number in [0, {sides.name})"
    )
    done = f"Each thread draws {count} time(s) {how} and counts it in {hist.name}."
    return Title(k.name("roll_dice", "random_histogram", "tally_rolls"), done)


def _mean(k: KernelBuilder, level: int, state: Var, count: int, m: str, i: Var) -> Title:
    shape = k.draw.shape
    k.sizes.pop(m)
    total = k.accumulator(("integral", "total"), FLOAT32, "1")
    low = k.scalar(("lower", "a"), FLOAT32, 0.1, 0.5)
    high = k.scalar(("upper", "b"), FLOAT32, 1.5, 2.5)
    form = shape.choice(("square", "exp", "sine", "root"))
    texts = {"square": "x * x", "exp": "exp(-x)", "sine": "sin(x)", "root": "sqrt(x)"}

    def value() -> Expr:
        x = k.sample("x", "randf", state, low, high)
        return {
            "square": lambda: x * x,
            "exp": lambda: fn("exp", -x),
            "sine": lambda: fn("sin", x),
            "root": lambda: fn("sqrt", x),
        }[form]()

    if count == 1:
        result: Expr = value()
    else:
        acc = k.let(("acc", "part"), k.lift(0.0, FLOAT32))
        with k.for_(("s", "sample"), count):
            k.augment(acc, "add", value())
        result = acc / float(count)
    k.atomic("add", total, 0, (high - low) * result)
    done = (
        f"Each thread adds to {total.name}[0] the mean of {texts[form]} over {count} random x in "
    )
    done += f"[{low.name}, {high.name}), times {high.name} - {low.name}."
    return Title(k.name("monte_carlo_integral", "sample_mean", "integrate_random"), done)


def _disk(k: KernelBuilder, level: int, state: Var, count: int, m: str, i: Var) -> Title:
    shape = k.draw.shape
    k.sizes.pop(m)
    names = ("sample_unit_disk", "sample_unit_square", "sample_triangle", "sample_unit_ring")
    solid = [f"sample_unit_{name}" for name in ("sphere", "cube", "hemisphere")]
    solid += ["sample_unit_sphere_surface", "sample_unit_hemisphere_surface"]
    sampler = shape.choice((*names, *solid))
    vector = 3 if sampler in solid else 2
    counts = k.accumulator(
        ("octants" if vector == 3 else "quadrants", "sectors"), INT32, str(2**vector)
    )
    reach = (
        k.scalar(("cutoff", "radius"), FLOAT32, 0.4, 0.8)
        if level >= 2 and shape.chance(0.5)
        else None
    )

    def one() -> None:
        p = k.sample(("p", "point", "d"), sampler, state)
        bits = [fn("where", p[a] > 0.1, 1 << a, k.lift(0, INT32)) for a in range(vector)]
        code: Expr = bits[0]
        for bit in bits[1:]:
            code = code + bit
        code = k.let(("code", "sector"), code)
        if reach is None:
            k.atomic("add", counts, code, 1)
        else:
            with k.if_(fn("abs", p[0]) < reach):
                k.atomic("add", counts, code, 1)

    if count == 1:
        one()
    else:
        with k.for_(("s", "sample"), count):
            one()
    done = f"Each thread draws {count} point(s) p with {sampler} and counts it in {counts.name} "
    done += "at the sum of 2^a over the axes a where p[a] > 0.1"
    done += f", only where |p[0]| < {reach.name}" if reach is not None else ""
    return Title(k.name("count_sectors", "tally_directions", "sample_sectors"), f"{done}.")


def _normal(k: KernelBuilder, level: int, state: Var, count: int, m: str, i: Var) -> Title:
    bins = k.size_param(("num_bins", "bin_count"), m)
    hist = k.accumulator(("hist", "density_bins"), INT32, m)
    width = k.draw.value.choice((0.5, 0.75, 1.0))
    sigma = k.scalar(("sigma", "spread"), FLOAT32, 0.6, 1.4) if k.draw.shape.chance(0.5) else None

    def one() -> None:
        z: Expr = k.sample(("z", "g"), "randn", state)
        if sigma is not None:
            z = sigma * z
        b = cast(fn("floor", z / width), INT32) + bins // 2
        k.atomic("add", hist, fn("clamp", k.let(("b", "slot"), b), 0, bins - 1), 1)

    if count == 1:
        one()
    else:
        with k.for_(("s", "sample"), count):
            one()
    value = f"{sigma.name} * z" if sigma is not None else "z"
    done = f"Each thread draws {count} standard normal z and counts it in {hist.name} "
    done += f"at floor({value} / {width}) + {bins.name} // 2, clamped to the bins."
    return Title(k.name("normal_histogram", "bin_normals", "tally_normals"), done)
