"""Seam carving: a row of the table of cheapest ways down an image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least, most
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_SIDES = {-1: "left", 1: "right"}


@dataclass(frozen=True)
class _Row:
    """A thread for each column of a row, of each image where there are several."""

    k: KernelBuilder
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    x: Var
    type: Scalar

    @property
    def high(self) -> float:
        return 40 if self.type == INT32 else 2.0

    def array(self, names: str, *dims: str) -> Var:
        """An array of costs or grays of each image."""
        return self.k.array(names, self.type, (*self.dims, *dims), low=0, high=self.high)


def _row(k: KernelBuilder) -> _Row:
    shape = k.draw.shape
    type_ = INT32 if shape.chance(0.2) else k.draw.wide_float_type()
    dims: tuple[str, ...] = (k.size("images", 3, 5),) if shape.chance(0.35) else ()
    k.size("width", 10, 16, minimum=4)
    names = [k.name("b n image")] if dims else []
    at = k.thread(*dims, "width", names=[*names, k.name("x col j")])
    return _Row(k, at[:-1], dims, at[-1], type_)


def _energy(r: _Row) -> tuple[Expr, str]:
    """The cost of a thread's pixel: in an image of costs, or in a row of its own; in words."""
    if r.k.draw.shape.chance(0.4):
        row = r.array("energy_row row_energy", "width")
        return row[r.lead + (r.x,)], row.name
    r.k.size("height", 6, 9, minimum=5)
    y = r.k.scalar("y", INT32, 1, 4)
    image = r.array("energy pixel_energy", "height", "width")
    return image[r.lead + (y, r.x)], f"{image.name} in row {y.name}"


def _slant(r: _Row, level: int) -> Var | None:
    """What a step aside costs, if it costs anything."""
    if not r.k.draw.shape.chance(0.1 + 0.08 * level):
        return None
    return r.k.scalar("slant_cost turn_cost", r.type, *((1, 4) if r.type == INT32 else (0.1, 0.6)))


def _inside(r: _Row, above: Var, last: Expr | None) -> dict[int, Expr]:
    """Whether there is a column to the left, and one to the right."""
    if last is not None:
        return {-1: r.x > 0, 1: r.x < last}
    shape = r.k.draw.shape
    width: Expr = extent(above, len(r.dims))
    if shape.chance(0.5):
        width = r.k.size_param("width num_cols", "width")
    return {-1: r.x > 0, 1: r.x + 1 < width if shape.chance(0.5) else r.x < width - 1}


def _cheapest(
    r: _Row,
    above: Var,
    steps: Mapping[int, Expr | None],
    moves: Var | None,
    last: Expr | None = None,
) -> Var:
    """The cheapest way to a pixel: what is above, and on either side what is there plus a step."""
    k, straight, together = r.k, steps[0], r.k.draw.shape.chance(0.5)
    up = above[r.lead + (r.x,)]
    best = k.let("best cheapest", up if straight is None else up + straight)
    prefix = k.draw.word.choice(("from_", "via_", "cost_from_"))
    move = k.let("move offset", k.lift(0, INT32)) if moves is not None else None
    for offset, inside in _inside(r, above, last).items():
        with k.if_(inside):
            found: Expr = above[r.lead + (r.x + 1 if offset > 0 else r.x - 1,)]
            step = steps[offset]
            found = found if step is None else found + step
            if move is None and together:
                k.assign(best, least(best, found))
                continue
            cost = k.let(f"{prefix}{_SIDES[offset]}", found)
            with k.if_(cost < best):
                k.assign(best, cost)
                if move is not None:
                    k.assign(move, k.lift(offset, INT32))
    if moves is not None and move is not None:
        k.store(moves, (*r.lead, r.x), move)
    return best


def _moves(r: _Row) -> Var | None:
    """Where the cheapest way comes from, for who follows the seam back."""
    if not r.k.draw.shape.chance(0.6):
        return None
    return r.k.out("moves from_offset", INT32, (*r.dims, "width"))


def _moves_said(moves: Var | None) -> str:
    if moves is None:
        return ""
    order = "of equal ones 0 first, then -1"
    return f" {moves.name} gets the offset of the column it comes from, -1, 0 or 1 ({order})."


def _by_energy(r: _Row, level: int) -> str:
    """Backward energy (Avidan and Shamir, 2007): the cost of the pixel that is taken out."""
    cost, said = _energy(r)
    above = r.array("cost_above prev_costs", "width")
    out = r.k.out("costs seam_costs", r.type, (*r.dims, "width"))
    moves, slant = _moves(r), _slant(r, level)
    best = _cheapest(r, above, {-1: slant, 0: None, 1: slant}, moves)
    r.k.store(out, (*r.lead, r.x), best + cost)
    text = f"A row of seam carving: {out.name} gets {said} plus the least of {above.name} in the "
    text += "same column and in those next to it"
    text += "." if slant is None else f", in these raised by {slant.name}."
    return text + _moves_said(moves)


def _by_gray(r: _Row, forward: bool) -> str:
    """Energies from gray values: |dx| + |dy|, or what new neighbours differ by (Rubinstein, Shamir
    and Avidan, 2008)."""
    k = r.k
    k.size("height", 6, 9, minimum=5)
    y = k.scalar("y", INT32, 1, 4)
    gray = r.array("gray luma", "height", "width")
    above = r.array("cost_above prev_costs", "width")
    out = k.out("costs seam_costs", r.type, (*r.dims, "width"))
    moves, last = _moves(r), k.let("last last_col", extent(above, len(r.dims)) - 1)
    g = k.draw.word.choice(("g", "gray"))
    left = k.let(f"{g}_left", gray[r.lead + (y, most(r.x - 1, 0))])
    right = k.let(f"{g}_right", gray[r.lead + (y, least(r.x + 1, last))])
    up = k.let(f"{g}_up", gray[r.lead + (y - 1, r.x)])
    start = f"A row of seam carving in row {y.name} of {gray.name}: {out.name} gets "
    ends = "Beyond the first and last column the gray of the end itself stands; there is a row "
    ends += "above."
    if forward:
        joined = k.let("cost_up", fn("abs", right - left))
        steps: dict[int, Expr | None] = {0: joined}
        steps[-1] = k.let("cost_left", joined + fn("abs", up - left))
        steps[1] = k.let("cost_right", joined + fn("abs", up - right))
        best = _cheapest(r, above, steps, moves, last)
        k.store(out, (*r.lead, r.x), best)
        text = f"{start}the least of {above.name} in the same column, in the one before and in the "
        text += "one behind, each raised by its forward energy. With l, r and u the grays to the "
        text += "left, to the right and above, that is |r - l|, |r - l| + |u - l| and |r - l| + "
        return f"{text}|u - r|. {ends}{_moves_said(moves)}"
    own = k.let(f"{g}_here", gray[r.lead + (y, r.x)])
    two_sided = k.draw.shape.chance(0.5)
    across = right - left if two_sided else right - own
    energy = k.let("energy", fn("abs", across) + fn("abs", own - up))
    best = _cheapest(r, above, {-1: None, 0: None, 1: None}, moves, last)
    k.store(out, (*r.lead, r.x), best + energy)
    change = "right minus left neighbour" if two_sided else "right neighbour minus own"
    return (
        f"{start}|{change}| + |own gray minus that above| plus the least of {above.name} in the "
        f"same column and in those next to it. {ends}{_moves_said(moves)}"
    )


@idiom
def seam_row(k: KernelBuilder, level: int) -> Title:
    """Seam carving: the cheapest way down to each pixel of a row (Avidan and Shamir, 2007)."""
    r = _row(k)
    ways = {"energy": 3, "gray": level - 1, "forward": level - 1}
    way = k.draw.shape.weighted({name: weight for name, weight in ways.items() if weight})
    text = _by_energy(r, level) if way == "energy" else _by_gray(r, way == "forward")
    name = "forward_energy_row seam_forward" if way == "forward" else "seam_row seam_cost_row"
    return Title(k.name(name), text)
