"""The two poses that a blend goes between."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import fn
from generators.program.expr import Expr
from generators.vector.rigid.parts import (
    Rig,
)
from generators.vector.rigid.record import Record, Slot


@dataclass(frozen=True)
class Ends:
    """Two poses to blend: rotations, positions, and what the description calls them."""

    rotations: tuple[Expr, Expr]
    positions: tuple[Expr, Expr]
    text: str


def ends_of(r: Rig, level: int) -> Ends:
    """The two poses of each thread: transforms, structs or separate arrays."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.35):
        poses = [
            k.let(names[1], r.given(names[0], (), r.pose, -1.0, 1.0, init="unit",
                                    forms={"each": 3, "last": 1}))
            for names in ((("starts", "poses_a", "previous"), ("start", "pose_a")),
                          (("ends", "poses_b", "current"), ("end", "pose_b")))
        ]  # fmt: skip
        arrays = [p.name for p in k.params[-2:]]
        rots = [fn("transform_get_rotation", p) for p in poses]
        places = [fn("transform_get_translation", p) for p in poses]
        return Ends((rots[0], rots[1]), (places[0], places[1]), " and ".join(arrays))
    one, two = k.draw.word.choice(("a b", "0 1")).split()
    slots = {
        "ra": Slot((f"rot_{one}",), ("rots_a", "start_rots"), r.quat, init="unit"),
        "rb": Slot((f"rot_{two}",), ("rots_b", "end_rots"), r.quat, init="unit"),
        "pa": Slot((f"pos_{one}",), ("pos_a", "start_pos"), r.vec, -1.0, 1.0),
        "pb": Slot((f"pos_{two}",), ("pos_b", "end_pos"), r.vec, -1.0, 1.0),
    }
    pair = Record(
        r, slots, as_struct=shape.chance(0.5), struct=("PosePair", "Segment", "Motion"),
        arrays=("pairs", "segments", "motions"), local=("pair", "segment"),
    )  # fmt: skip
    text = f"({pair.told('pa')}, {pair.told('ra')}) and ({pair.told('pb')}, {pair.told('rb')})"
    return Ends((pair["ra"], pair["rb"]), (pair["pa"], pair["pb"]), text)
