"""Where a ray meets a ball."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, fn
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class Hits:
    """How a ray meets a ball: hits before ``start`` do not count; by a formula or by geometry."""

    start: float
    geometric: bool

    def distance(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        """Distance along a ray of unit direction; below ``start`` for a miss."""
        find = self._by_geometry if self.geometric else self._by_formula
        return find(b, o, d, center, radius)

    def _by_formula(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        oc = b.let(("oc", "rel", "from_center"), o - center)
        along = b.let(("along", "half_b"), fn("dot", oc, d))
        disc = b.let(("disc", "discriminant"), along * along - fn("dot", oc, oc) + radius * radius)
        t = b.let(("t", "dist"), b.lift(-1.0, radius.type))
        with b.if_(disc > 0.0):
            root = b.let(("root", "sq"), fn("sqrt", disc))
            b.assign(t, -along - root)
            with b.if_(t < self.start):
                b.assign(t, -along + root)
        return t

    def _by_geometry(self, b: BodyBuilder, o: Expr, d: Expr, center: Expr, radius: Expr) -> Var:
        to_center = b.let(("to_center", "rel"), center - o)
        along = b.let(("along", "t_mid"), fn("dot", to_center, d))
        gap = b.let(("gap_sq", "miss_sq"), fn("length_sq", to_center - along * d))
        t = b.let(("t", "dist"), b.lift(-1.0, radius.type))
        with b.if_(gap < radius * radius):
            half = b.let(("half_chord", "half"), fn("sqrt", radius * radius - gap))
            b.assign(t, along - half)
            with b.if_(t < self.start):
                b.assign(t, along + half)
        return t
