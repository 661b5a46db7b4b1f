"""Rays through volumes: light that a grid of densities sends out and takes up."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var, op
from generators.vector.simulation.parts import index
from generators.vector.tracing.rays import VEC3, Ray, cast_rays, side


@dataclass(frozen=True)
class _Volume:
    """Densities at the nodes of a grid or in its cells, and where the grid ends."""

    k: KernelBuilder
    sigma: Var
    way: str
    """How values are found: of the nearest node, or between centres of cells."""
    edge: Var

    def sample(self, x: Expr) -> tuple[Var, tuple[Operand, ...]]:
        """The density at a point of the grid, and the index of its node or its lower corner."""
        k = self.k
        names = k.draw.word.choice(("ix iy iz", "gx gy gz")).split()
        if self.way != "nearest":
            return k.let("rho dens", self._blended(x, names)), ()
        at = tuple(k.let(n, cast(x[a] + 0.5, INT32)) for a, n in enumerate(names))
        return k.let("rho dens", self.sigma[at]), at

    def _blended(self, x: Expr, names: list[str]) -> Expr:
        k, sigma = self.k, self.sigma
        g = k.let("g q", x - make(VEC3, k.lift(0.5, FLOAT32)))
        floors = [k.let(n, cast(fn("floor", g[a]), INT32)) for a, n in enumerate(names)]
        f = [k.let(n, g[a] - cast(floors[a], FLOAT32)) for a, n in enumerate(("fx", "fy", "fz"))]
        tops = [least(i + 1, extent(sigma, a) - 1) for a, i in enumerate(floors)]
        low = [k.let(f"{n[-1]}0", most(i, 0)) for n, i in zip(names, floors, strict=True)]
        high = [k.let(f"{n[-1]}1", i) for n, i in zip(names, tops, strict=True)]

        def row(i: Expr, j: Expr) -> Expr:
            return fn("lerp", sigma[index(i, j, low[2])], sigma[index(i, j, high[2])], f[2])

        near, far = (fn("lerp", row(i, low[1]), row(i, high[1]), f[1]) for i in (low[0], high[0]))
        return fn("lerp", k.let("near_x c_lo", near), k.let("far_x c_hi", far), f[0])


_COLOURS = {"grid": 3, "table": 2, "glow": 3}
"""What a point sends out: a colour of its cell, a colour by density, or light as it is dense."""


_PLACES = {
    "nearest": "with axes x, y, z, node (i, j, k) at that point, by the nearest node",
    "centres": "of unit cells from 0 on with axes x, y, z, trilinear between the cells' centres "
    "(indices beyond the outer ones clamped)",
}


@idiom
def volume_render(k: KernelBuilder, level: int) -> Title:
    """Front-to-back compositing along a ray through a grid of densities, ended when opaque."""
    shape = k.draw.shape
    dims = tuple(side(k, s, 8) for s in ("nx", "ny", "nz"))
    # Rays of level 1 and those that share an eye start in the grid; others may do so anywhere.
    spans = (0.3, 6.7, 0.0) if level == 1 else (-0.25, 7.25, 0.35)
    r = cast_rays(k, level, *spans, eye=(0.6, 3.5))
    way = "within" if level == 1 else "clip"
    sigma = k.array("density sigma", FLOAT32, dims, low=0.0, high=0.8)
    kind = shape.weighted({w: n for w, n in _COLOURS.items() if level > 1 or w != "table"})
    places = "nearest"
    if kind != "grid" and way == "clip" and not r.single and shape.chance(0.6):
        places = "centres"
    colour = (
        k.array("colors emission_rgb", VEC3, dims, low=0.0, high=1.0) if kind == "grid" else None
    )
    last = [extent(sigma, a) - 1 if places != "centres" else extent(sigma, a) for a in range(3)]
    edge = k.let("upper bound_hi", make(VEC3, *(cast(n, FLOAT32) for n in last)))
    volume = _Volume(k, sigma, places, edge)
    size = k.scalar("step_size ds", FLOAT32, 0.6, 1.0)
    text = f"Render a volume: march {r.said} through the densities {sigma.name} of a grid "
    text += _PLACES[places]
    return _marched(r, volume, size, colour, kind, text, way)


def _marched(
    r: Ray, volume: _Volume, size: Var, colour: Var | None, kind: str, text: str, way: str
) -> Title:
    """The march, what it stores, and its text."""
    k, c = r.c.k, r.c
    clear = k.let("trans transmittance", k.lift(1.0, FLOAT32))
    nought = k.lift(0.0, FLOAT32)
    light = k.let("radiance accum color", nought if kind == "glow" else make(VEC3, nought))
    floor = c.number("min_trans min_transmittance", 0.55, 0.8) if c.shape.chance(0.4) else None
    with ExitStack() as blocks:
        t, after, span = _span(r, volume, size, way, blocks)
        x = k.let("x point", r.at(t))
        if way != "clip":
            low, high = fn("min_element", x), fn("min_element", volume.edge - x)
            with k.if_(op("or", low < 0.0, high < 0.0)):
                k.break_()
        rho, at = volume.sample(x)
        told = _lit(k, (clear, light), rho, size, kind, colour[at] if colour is not None else None)
        if floor is not None:
            with k.if_(clear < floor):
                k.break_()
        if after is not None:
            k.augment(after, "add", size)
    what = colour.name if colour is not None else told
    text += f", {span}"
    text += (
        f", ending early once the transmittance is below {written(floor)}"
        if floor is not None
        else ""
    )
    text += f". Front to back, add up the transmittance before the step times {what}"
    text += f"{' * alpha' * (kind != 'glow')}, then multiply it by exp(-density * {size.name})"
    text += f"{' = 1 - alpha' * (kind != 'glow')}. Store the sum in "
    text += c.put("colors_out radiance_out image", light)
    if c.shape.chance(0.6):
        text += f" and the transmittance in {c.put('trans_out transmittance_out', clear)}"
    return Title(k.name("volume_render march_volume composite_ray"), f"{text}.")


def _span(
    r: Ray, volume: _Volume, size: Var, way: str, blocks: ExitStack
) -> tuple[Expr, Var | None, str]:
    """The loop of the march: the distance of a step, as a local if it grows, and the text."""
    k = r.c.k
    if way != "clip":
        stop = k.scalar("max_steps num_steps", INT32, *((3, 6) if r.single else (2, 4)))
        text = f"steps at the distances (s + 0.5) * {size.name}"
        s = blocks.enter_context(k.for_("s step_i", stop))
        t = r.c.maybe("t along", (cast(s, FLOAT32) + 0.5) * size)
        return t, None, f"in up to {stop.name} {text} while the point is in the grid"
    t_a = k.let("t_a t_lo", fn("cw_div", -r.o, r.d))
    t_b = k.let("t_b t_hi", fn("cw_div", volume.edge - r.o, r.d))
    first: Expr = 0.5 * size
    text = f"at the distances a + (s + 0.5) * {size.name} below b, a being where it enters the grid"
    text += " (at least 0) and b where it leaves (no direction has a zero)"
    if r.single:
        text = (
            f"the rays starting in the grid, at the distances (s + 0.5) * {size.name} below b, b "
        )
        text += "being where they leave it (no direction has a zero)"
    else:
        near = fn("max_element", fn("min", t_a, t_b))
        first = k.let("t_enter t_near", most(near, 0.0)) + first
    leave = k.let("t_leave t_far", fn("min_element", fn("max", t_a, t_b)))
    along = k.let("t along", first)
    blocks.enter_context(k.while_(along < leave))
    return along, along, text


def _lit(
    k: KernelBuilder, sums: tuple[Var, Var], rho: Var, size: Var, kind: str, own: Expr | None
) -> str:
    """One step of light: what a point sends out, dimmed by what lies before it; its text."""
    clear, light = sums
    if kind == "glow":
        glow = k.scalar("emission glow", FLOAT32, 0.5, 2.0)
        k.augment(light, "add", clear * glow * rho * size)
        k.augment(clear, "mul", exp(-(rho * size)))
        return f"{glow.name} * density * {size.name}"
    alpha = k.let("alpha a_step", 1.0 - exp(-(rho * size)))
    told = ""
    if own is None:
        entries = k.size("bins", 6, 6, minimum=2)
        table = k.array("transfer_colors color_table", VEC3, entries, low=0.0, high=1.0)
        scale = k.scalar("entries_per_density table_scale", FLOAT32, 10.0, 13.0)
        entry = least(cast(rho * scale, INT32), extent(table) - 1)
        own = table[k.let("entry bin", entry)]
        told = f"{table.name}[int(density * {scale.name})] (its last entry beyond the table)"
    k.augment(light, "add", clear * alpha * own)
    k.augment(clear, "mul", 1.0 - alpha)
    return told
