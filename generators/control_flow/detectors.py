"""Radar detection at a constant false-alarm rate (CFAR): cells against the level around them.

M. A. Richards, Fundamentals of Radar Signal Processing, 2014, chapter 6; clutter maps: R. Nitzberg,
IEEE Trans. Aerosp. Electron. Syst. 22 (1986).
"""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, minus, some
from generators.kit.functions import least, most
from generators.kit.masks import as_flag, flag_type, one_if
from generators.kit.sites import over
from generators.kit.words import say
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Const, Expr, Operand, Var, element_of

_FLAGS = ("detections", "hits", "detected")
_LEAST = 8
"""No fewer bins than this, so that each cell has some beyond its guard cells."""


def _plus(*parts: Expr | int) -> Expr:
    """A sum in which the numbers are one."""
    total, known = None, 0
    for part in parts:
        if isinstance(part, int):
            known += part
        elif isinstance(part, Const):
            known += int(part.value)
        else:
            total = part if total is None else total + part
    if total is None:
        return KernelBuilder.lift(known, INT32)
    return total + known if known else total


@dataclass
class _Map:
    """Powers in bins, of one line or of several, with a window around each cell."""

    k: KernelBuilder
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    data: Var
    iq: bool
    guard: Expr
    train: Expr
    edge: str

    def power(self, place: Operand) -> Expr:
        value = self.data[self.lead + (place,)]
        if not self.iq:
            return value
        sample = self.k.let("iq z", value)
        return fn("dot", sample, sample)

    def width(self) -> Expr:
        return self.k.size_param("num_bins n_bins", self.dims[-1])

    def at(self, place: Expr, count: Expr, before: bool) -> Expr:
        """An index of the window, by what holds beyond the ends."""
        if self.edge == "clamp":
            return most(place, 0) if before else least(place, count - 1)
        if self.edge == "cyclic":
            return (place + count) % count if before else place % count
        return place

    def reach(self) -> Expr:
        """How far the window goes to either side."""
        found = _plus(self.guard, self.train)
        return found if isinstance(found, Const) else self.k.let("reach half_window", found)

    def flags(self) -> Var:
        """An output for what was detected."""
        return self.k.out(_FLAGS, flag_type(self.k), self.dims)

    def mark(self, out: Var, cell: Expr, hit: Expr) -> None:
        self.k.store(out, (*self.lead, cell), as_flag(hit, element_of(out)))

    def told(self) -> str:
        """What of the window is said."""
        what = f"{say(self.k, self.train)} training cells on each side beyond "
        what += f"{say(self.k, self.guard)} guard cells"
        beyond = {
            "clamp": ", indices held within the line",
            "cyclic": ", the line being cyclic",
            "partial": ", those within the line only",
        }.get(self.edge, "")
        power = " (powers are |z|^2)" if self.iq else ""
        return f"{what}{beyond}{power}"


def _window(k: KernelBuilder) -> tuple[Expr, Expr]:
    """How many guard and training cells lie on each side."""
    if k.draw.shape.chance(0.25):
        guard, train = 2, k.draw.value.integer(3, 5)
        return k.lift(guard, INT32), k.lift(train, INT32)
    g, t = k.draw.word.choice((("guard", "train"), ("num_guard", "num_train")))
    return k.scalar(g, INT32, 1, 2), k.scalar(t, INT32, 3, 5)


def _dims(k: KernelBuilder, cells: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sizes, and names of the threads: a line, or lines of pulses, beams or Doppler bins."""
    if cells and k.draw.shape.chance(0.35):
        k.size("range_bins", 60, 90, minimum=_LEAST)
        return ("range_bins",), (k.draw.word.choice(("i", "r", "cell")),)
    line, name = k.draw.word.choice(
        (("pulses", "p"), ("beams_formed", "b"), ("doppler_bins", "d"), ("chirps", "c"))
    )
    k.size(line, *((5, 8) if cells else (40, 60)))
    k.size("range_bins", 20, 28, minimum=_LEAST)
    return (line, "range_bins"), (name, k.draw.word.choice(("r", "i")))


def _map(k: KernelBuilder, level: int, edges: tuple[str, ...], cells: bool = True) -> _Map:
    """Powers, and a thread for each cell or for each line of them."""
    dims, names = _dims(k, cells)
    guard, train = _window(k)
    at = k.thread(*(dims if cells else dims[:-1]), names=names if cells else names[:-1])
    iq = level > 1 and cells and k.draw.shape.chance(0.25)
    if iq:
        data = k.array("range_profiles samples_iq", Vec(2, FLOAT32), dims, low=-1.5, high=1.5)
    else:
        data = k.array("power power_map intensity", FLOAT32, dims, low=0.05, high=4.0)
    lead = at[:-1] if cells else at
    return _Map(k, lead, dims, data, iq, guard, train, k.draw.shape.choice(edges))


def _cell(k: KernelBuilder, m: _Map) -> Var:
    return Var(k.threads[-1], INT32)


def _inside(k: KernelBuilder, m: _Map, cell: Var, out: Var, count: Expr) -> str:
    """Cells whose window does not lie within the line get nothing."""
    if m.edge != "interior":
        return ""
    reach = m.reach()
    with k.if_(some(cell < reach, cell >= count - reach)):
        k.store(out, (*m.lead, cell), k.lift(0, element_of(out)))
        k.return_()
    return f" Cells nearer to an end than that window get 0 in {out.name}."


def _sides(k: KernelBuilder, m: _Map, cell: Var, count: Expr) -> tuple[Var, Var]:
    """The sums of the training cells before and after a cell."""
    names = k.draw.word.choice((("lead", "lag"), ("left", "right"), ("near", "far")))
    sums = [k.let(f"{name}_sum {name}", k.lift(0.0, FLOAT32)) for name in names]
    with k.for_("d off", _plus(m.guard, m.train, 1), start=_plus(m.guard, 1)) as d:
        k.augment(sums[0], "add", m.power(m.at(cell - d, count, True)))
        k.augment(sums[1], "add", m.power(m.at(cell + d, count, False)))
    return sums[0], sums[1]


_RULES = {
    "ca": ("the mean power of the training cells", "cell-averaging"),
    "go": ("the greater of the mean powers of the training cells on either side", "greatest-of"),
    "so": ("the smaller of the mean powers of the training cells on either side", "smallest-of"),
}


def _averaging(k: KernelBuilder, level: int) -> Title:
    """Cell averaging, and the greater or the smaller of the two sides."""
    rule = k.draw.shape.choice(("ca", "go", "so") if level > 1 else ("ca",))
    m = _map(k, level, ("interior", "clamp", "cyclic"))
    cell, count = _cell(k, m), m.width()
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.2, 1.6)
    limits_only = level == 1 or k.draw.shape.chance(0.2)
    out = k.out("thresholds cfar_level", FLOAT32, m.dims) if limits_only else m.flags()
    ended = _inside(k, m, cell, out, count)
    first, second = _sides(k, m, cell, count)
    if rule == "ca":
        level_there = (first + second) / cast(_doubled(k, m.train), FLOAT32)
    else:
        level_there = (most if rule == "go" else least)(first, second) / cast(m.train, FLOAT32)
    noise = k.let("noise noise_level", level_there)
    rule_said, called = _RULES[rule]
    text = f"{called.capitalize()} CFAR over the cells of {m.data.name}: the threshold is "
    text += f"{alpha.name} times {rule_said}, {m.told()}. "
    if limits_only:
        k.store(out, (*m.lead, cell), alpha * noise)
        return Title(k.name(f"{rule}_cfar_threshold"), f"{text}{out.name} gets it.{ended}")
    power = k.let("cut cell_power", m.power(cell))
    threshold = k.let("threshold limit", alpha * noise)
    m.mark(out, cell, power > threshold)
    text += f"{out.name} gets 1 where the power of a cell exceeds it, else 0."
    return Title(k.name(f"{rule}_cfar {rule}_cfar_detect"), text + ended)


def _clutter_map(k: KernelBuilder, level: int) -> Title:
    """A level of each cell, an average over scans, that moves a share towards each scan."""
    if k.draw.shape.chance(0.5):
        s = over(k, "azimuths range_bins", ("a", "r"), ((8, 10), (16, 20)))
    else:
        s = over(k, "num_cells", ("i",), ((140, 170),))
    power = s.read("power scan_power", FLOAT32, 0.05, 4.0)
    levels = s.array("clutter_map background", FLOAT32, 0.5, 2.0, role="inout")
    rate = k.scalar("rate forget", FLOAT32, 0.05, 0.3)
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.2, 2.0)
    cut = k.let("cut cell_power", power)
    before = k.let("level mean_before", levels[s.at])
    out = s.out(_FLAGS, flag_type(k))
    moved = before + rate * (cut - before)
    text = f"Clutter-map CFAR: {out.name} gets 1 where a cell of {power.array.name} exceeds "
    text += f"{alpha.name} times its level in {levels.name}, else 0. "
    what = f"the level moves towards the power by {rate.name} of their difference"
    k.store(out, s.at, as_flag(cut > alpha * before, element_of(out)))
    if k.draw.shape.chance(0.5):
        with k.if_(cut <= alpha * before):
            k.store(levels, s.at, moved)
        text += f"Elsewhere {what}."
    else:
        k.store(levels, s.at, moved)
        text += f"Then {what}."
    return Title(k.name("clutter_map_cfar update_clutter_map"), text)


def _false_alarms(k: KernelBuilder, level: int) -> Title:
    """Cell averaging with the factor for a false-alarm rate, for as many cells as there are."""
    m = _map(k, level, ("partial",))
    cell, count = _cell(k, m), m.width()
    rate = k.scalar("pfa false_alarm_rate", FLOAT32, 0.2, 0.4)
    total, cells = k.let("total acc", k.lift(0.0, FLOAT32)), k.let("used cells", k.lift(0, INT32))
    with k.for_("d off", _plus(m.guard, m.train, 1), start=_plus(m.guard, 1)) as d:
        for test, place in ((cell >= d, cell - d), (cell + d < count, cell + d)):
            with k.if_(test):
                k.augment(total, "add", m.power(place))
                k.augment(cells, "add", 1)
    number = k.let("n_cells nf", cast(cells, FLOAT32))
    factor = k.let("alpha factor", number * (fn("pow", rate, -1.0 / number) - 1.0))
    power = k.let("cut cell_power", m.power(cell))
    threshold = k.let("threshold limit", factor * total / number)
    kept = ""
    if k.draw.shape.chance(0.3):
        limits = k.out("thresholds cfar_level", FLOAT32, m.dims)
        k.store(limits, (*m.lead, cell), threshold)
        kept = f" {limits.name} gets the threshold."
    out = m.flags()
    m.mark(out, cell, power > threshold)
    text = f"Cell-averaging CFAR over the cells of {m.data.name}, {m.told()}: with N cells the "
    text += f"threshold is N * ({rate.name}^(-1/N) - 1) times their mean power. {out.name} "
    text += f"gets 1 where the power of a cell exceeds it, else 0.{kept}"
    return Title(k.name("ca_cfar_pfa adaptive_ca_cfar"), text)


def _ordered(k: KernelBuilder, level: int) -> Title:
    """The k-th smallest training cell: by counting those that a cell exceeds."""
    m = _map(k, level, ("interior", "clamp", "cyclic"))
    cell, count = _cell(k, m), m.width()
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.1, 1.5)
    rank = k.scalar("rank order_k", INT32, 3, 5)
    out = m.flags()
    ended = _inside(k, m, cell, out, count)
    power = k.let("cut cell_power", m.power(cell))
    below = k.let("below exceeded", k.lift(0, INT32))
    with k.for_("d off", _plus(m.guard, m.train, 1), start=_plus(m.guard, 1)) as d:
        for before, place in ((True, cell - d), (False, cell + d)):
            other = m.power(m.at(place, count, before))
            k.augment(below, "add", one_if(alpha * other < power))
    m.mark(out, cell, below >= rank)
    text = f"Ordered-statistic CFAR over the cells of {m.data.name}: {out.name} gets 1 where the "
    text += f"power of a cell exceeds {alpha.name} times that of at least {rank.name} of its "
    text += f"training cells, so the {rank.name}-th smallest of them, else 0, among {m.told()}."
    return Title(k.name("os_cfar os_cfar_detect"), text + ended)


def _plane(k: KernelBuilder, level: int) -> Title:
    """Cell averaging over a map of two axes: a window without the guard cells in its middle."""
    guard, reach = 1, k.draw.value.integer(2, 3)
    k.size("doppler_bins", 12, 16, minimum=_LEAST)
    k.size("range_bins", 16, 20, minimum=_LEAST)
    row, col = k.thread(
        "doppler_bins", "range_bins", names=k.draw.word.choice((("d", "r"), ("y", "x")))
    )
    dims = ("doppler_bins", "range_bins")
    data = k.array("rd_map power_map", FLOAT32, dims, low=0.05, high=4.0)
    counts = [k.size_param(f"num_{n} n_{n}", f"{n}_bins") for n in ("doppler", "range")]
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.3, 1.7)
    total, cells = k.let("total acc", k.lift(0.0, FLOAT32)), k.let("used cells", k.lift(0, INT32))
    side = k.lift(2 * reach + 1, INT32)
    styles = (("wy dy yy", "wx dx xx"), ("u off_d near_d", "v off_r near_r"))
    along_d, along_r = (names.split() for names in k.draw.word.choice(styles))
    with k.for_(along_d[0], side) as u:
        dy = k.let(along_d[1], u - reach)
        y = k.let(along_d[2], (row + dy + counts[0]) % counts[0])
        with k.for_(along_r[0], side) as v:
            dx = k.let(along_r[1], v - reach)
            x = k.let(along_r[2], col + dx)
            with k.if_(both(some(abs(dy) > guard, abs(dx) > guard), x >= 0, x < counts[1])):
                k.augment(total, "add", data[y, x])
                k.augment(cells, "add", 1)
    mean = k.let("noise clutter_level", total / cast(cells, FLOAT32))
    out = k.out(_FLAGS, flag_type(k), dims)
    k.store(out, (row, col), as_flag(data[row, col] > alpha * mean, element_of(out)))
    text = f"Cell-averaging CFAR over the range-Doppler map {data.name}: {out.name} gets 1 where a "
    text += f"cell exceeds {alpha.name} times the mean of those at most {reach} cells away along "
    text += f"both axes, without those at most {guard} away along both, else 0; Doppler (the first "
    text += "axis) is cyclic, and cells beyond the ends in range do not count."
    return Title(k.name("ca_cfar_2d cfar_plane range_doppler_cfar"), text)


def _doubled(k: KernelBuilder, train: Expr) -> Expr:
    if isinstance(train, Const):
        return k.lift(2 * int(train.value), INT32)
    return k.let("cells n_train", 2 * train)


def _ranked(k: KernelBuilder, level: int) -> Title:
    """The k-th smallest training cell itself: each is ranked among all."""
    m = _map(k, 1, ("clamp", "cyclic"))
    cell, count = _cell(k, m), m.width()
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.1, 1.5)
    rank = k.scalar("rank order_k", INT32, 2, 5)
    cells = _doubled(k, m.train)

    def place(index: Expr) -> Expr:
        skipped = fn("where", index < m.train, minus(m.guard), _plus(m.guard, 1))
        at = k.let("place bin_at", cell + index - m.train + skipped)
        if m.edge == "cyclic":
            return (at + count) % count
        return fn("clamp", at, 0, count - 1)

    found = k.let("noise kth", k.lift(0.0, FLOAT32))
    with k.for_("a pick", cells) as a:
        own = k.let("x candidate", m.data[m.lead + (place(a),)])
        below = k.let("below smaller", k.lift(0, INT32))
        with k.for_("b other", cells) as b:
            other = k.let("y value", m.data[m.lead + (place(b),)])
            with k.if_(some(other < own, both(other <= own, b < a))):
                k.augment(below, "add", 1)
        with k.if_(fn("eq", below, rank - 1)):
            k.assign(found, own)
            k.break_()
    out = k.out("thresholds cfar_level", FLOAT32, m.dims)
    k.store(out, (*m.lead, cell), alpha * found)
    text = f"Thresholds of ordered-statistic CFAR over the cells of {m.data.name}: {out.name} gets "
    text += f"{alpha.name} times the {rank.name}-th smallest power (1 is the smallest) of the "
    text += f"{m.told()}; of equal ones the earlier cell counts as the smaller."
    return Title(k.name("os_cfar_threshold os_cfar_level"), text)


def _sliding(k: KernelBuilder, level: int) -> Title:
    """A thread for each line: both sums slide along with the cell."""
    m = _map(k, level, ("partial",), cells=False)
    shape = k.draw.shape
    count = m.width()
    alpha = k.scalar("alpha scale_factor", FLOAT32, 1.2, 1.6)
    out = k.out(_FLAGS, flag_type(k), m.dims)
    names = k.draw.word.choice((("lag", "lead"), ("left", "right"), ("near", "far")))
    sums = [k.let(f"{name}_sum", k.lift(0.0, FLOAT32)) for name in names]
    used = [k.let(f"{name}_cells", k.lift(0, INT32)) for name in names]
    reach = m.reach()
    with k.for_("j first", _plus(reach, 1), start=_plus(m.guard, 1)) as j:
        k.augment(sums[1], "add", m.power(j))
        k.augment(used[1], "add", 1)

    def move(side: int, op: str, test: Expr, place: Expr) -> None:
        with k.if_(test):
            k.augment(sums[side], op, m.power(place))
            k.augment(used[side], op, 1)

    with k.for_("i r", count) as i:
        mean: Expr = (sums[0] + sums[1]) / cast(used[0] + used[1], FLOAT32)
        said = "the mean of"
        if shape.chance(0.4):
            tops = [sums[n] / cast(most(used[n], 1), FLOAT32) for n in (0, 1)]
            mean, said = most(*tops), "the greater of the means of both sides of"
        hit = m.power(i) > alpha * k.let("noise level_here", mean)
        m.mark(out, i, hit)
        move(0, "add", i >= m.guard, i - m.guard)
        move(0, "sub", i >= reach, i - reach)
        move(1, "sub", _plus(i, m.guard, 1) < count, _plus(i, m.guard, 1))
        move(1, "add", _plus(i, reach, 1) < count, _plus(i, reach, 1))
    text = f"CFAR along lines of {m.data.name}, by sums that slide along with the cell: {out.name} "
    text += f"gets 1 where a cell exceeds {alpha.name} times {said} its {m.told()}, else 0."
    return Title(k.name("sliding_cfar cfar_running_sum cfar_lines"), text)


_FORMS = {
    1: (_clutter_map, _averaging),
    2: (_averaging,),
    3: (_false_alarms, _ordered, _plane),
    4: (_ranked, _sliding),
}


@idiom(depth=4)
def cfar_detection(k: KernelBuilder, level: int) -> Title:
    """Constant false-alarm rate: cell averaging, greatest, smallest, ordered, sliding sums."""
    return k.draw.shape.choice(_FORMS[min(level, 4)])(k, level)
