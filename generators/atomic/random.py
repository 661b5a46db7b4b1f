"""Random numbers drawn by each thread and tallied."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

UINT32 = Scalar("uint32")


@idiom
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
