"""What a camera reports besides pixels: depths, flags, reprojection errors."""

from __future__ import annotations

from generators.build import fn
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var
from generators.vector.rigid.parts import (
    Rig,
    maybe_named,
    told,
)


class Extra:
    """Further outputs for each point: its depth, whether it is in the image, its error."""

    def __init__(self, r: Rig, level: int) -> None:
        k, shape = r.k, r.k.draw.shape
        kinds = shape.sample(("depth", "inside", "error"), 1 if level == 3 else 2)
        self.r, self.text = r, ""
        self.outs: dict[str, Var] = {}
        for kind in sorted(kinds):
            if kind == "depth":
                self.form = shape.choice(("z", "range", "inverse"))
                out = k.out(("depths", "ranges"), r.scalar, r.dims)
                text = {"z": "z", "range": "the length of (x, y, z)", "inverse": "1 / z"}
                self.text += f" {out.name} gets {text[self.form]} there, else 0."
            elif kind == "inside":
                self.half = r.given(
                    (), ("half_size", "bound"), r.scalar, 1.0, 2.2, forms={"fixed": 1}
                )
                out = k.out(("visible_out", "in_image", "seen_flags"), INT32, r.dims)
                self.text += f" {out.name} gets 1 there if both pixel coordinates are less than "
                self.text += f"{told(self.half)} in size, else 0."
            else:
                self.seen = r.given(("observed", "measured_uv"), (), Vec(2, r.scalar), -1.5, 1.5,
                                    forms={"each": 1})  # fmt: skip
                self.robust = level >= 4 and shape.chance(0.6)
                out = k.out(("errors", "residuals"), r.scalar, r.dims)
                self.text += f" {out.name} gets the squared distance s of the pixel from "
                self.text += told(self.seen) + (", as s / (1 + s)" if self.robust else "")
                self.text += " there, else 0."
            self.outs[kind] = out

    def miss(self) -> None:
        for kind, out in self.outs.items():
            self.r.k.store(out, self.r.at, 0 if kind == "inside" else 0.0)

    def hit(self, p: Var, pixel: Expr) -> None:
        k, r = self.r.k, self.r
        for kind, out in self.outs.items():
            if kind == "depth":
                values = {"z": p[2], "range": fn("length", p), "inverse": 1.0 / p[2]}
                k.store(out, r.at, values[self.form])
            elif kind == "inside":
                larger = fn("max", fn("abs", pixel[0]), fn("abs", pixel[1]))
                one, nought = k.lift(1, INT32), k.lift(0, INT32)
                k.store(out, r.at, fn("where", larger < self.half, one, nought))
            else:
                miss = maybe_named(k, ("gap", "miss"), pixel - self.seen)
                square = k.let(("square", "sq_err"), fn("length_sq", miss))
                k.store(out, r.at, square / (1.0 + square) if self.robust else square)
