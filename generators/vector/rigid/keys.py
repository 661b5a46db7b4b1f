"""Keyframes: which two a time lies between."""

from __future__ import annotations

from generators.build import fn
from generators.program.dtypes import INT32
from generators.program.expr import Var
from generators.vector.rigid.ends import Ends
from generators.vector.rigid.parts import (
    Rig,
    told,
)


def keyframes(r: Rig, level: int) -> tuple[Ends, Var, str]:
    """The two keys around a time, found by counting; and where between them the time is."""
    k, shape = r.k, r.k.draw.shape
    k.size("q", 4, 5, minimum=2)
    times = k.array(("key_times", "stamps"), r.scalar, "q", init="sorted", low=0.8, high=3.2)
    rots = k.array(("key_rots", "key_rotations"), r.quat, "q", init="unit")
    places = k.array(("key_pos", "waypoints"), r.vec, "q", low=-1.5, high=1.5)
    now = r.given(("times", "queries"), (), r.scalar, 0.0, 4.0, forms={"each": 1})
    time = k.let(("time", "now", "tq"), now)
    count = k.trip_count(("num_keys", "key_count"), "q")
    key = k.let(("key", "seg", "lo"), k.lift(0, INT32))
    with k.for_(("s", "j"), count - 1 if isinstance(count, Var) else
                k.lift(int(getattr(count, "value", 4)) - 1, INT32), 1) as s:  # fmt: skip
        if shape.chance(0.5):
            with k.if_(times[s] < time):
                k.assign(key, s)
        else:
            k.assign(key, fn("where", times[s] < time, s, key))
    t0, t1 = k.let(("t0", "left"), times[key]), k.let(("t1", "right"), times[key + 1])
    raw = (time - t0) / (t1 - t0)
    t = k.let(("t", "u", "alpha"), fn("clamp", raw, 0.0, 1.0))
    done = (
        f"For each time in {told(now)}, let j be the last key, from 1 to the last but one, whose "
    )
    done += f"time in {times.name} is smaller, else 0, and t the part of the way from key j to j + "
    done += "1, clamped to [0, 1]"
    text = f"keys j and j + 1 of {places.name} and {rots.name}"
    ends = Ends((rots[key], rots[key + 1]), (places[key], places[key + 1]), text)
    return ends, t, done
