"""Strands: chains of nodes that follow their root, one thread for each."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.sources import zero
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, index, named


def _obstacle(c: Crowd) -> tuple[Var, Var, str]:
    """A ball that nodes are kept out of, in the plane a disc: its centre, radius and text."""
    solid = c.vec.size == 3
    center = c.k.scalar("head ball_center" if solid else "center disc_center", c.vec, -0.3, 0.3)
    names = "head_radius ball_radius" if solid else "radius disc_radius"
    radius = c.k.scalar(names, c.scalar, 0.5, 0.8)
    text = f", and then, where it lies nearer than {radius.name} to {center.name}, moved away from "
    return center, radius, f"{text}that to the surface of the {'ball' if solid else 'disc'}"


@idiom
def strand_follow(k: KernelBuilder, level: int) -> Title:
    """Follow the leader: each strand's nodes are pulled after the one before, root to tip."""
    shape = k.draw.shape
    vec = Vec(2 if shape.chance(0.25) else 3, k.draw.wide_float_type())
    k.size("strands", 8, 14)
    k.size("nodes", 5, 8, minimum=2)
    at = k.thread("strands", names=(k.name("s strand h"),))
    c = Crowd(k, level, vec, ("strands",), at)
    role = "inout" if shape.chance(0.4) else "in"
    x = k.array("positions pos x", vec, ("strands", "nodes"), role=role, low=-1.0, high=1.0)
    out = x if role == "inout" else k.out("followed pos_out x_out", vec, ("strands", "nodes"))
    each = shape.choice(("shared", "strand", "node"))
    rest: Expr | None = None
    if each == "shared":
        rest = k.scalar("segment_length rest l0", c.scalar, 0.3, 0.8)
    elif each == "strand":
        rest = c.array("segment_lengths rest_len", c.scalar, 0.3, 0.8)[at]
    lengths = (
        k.array("rest_lengths seg_len", c.scalar, ("strands", "nodes"), low=0.3, high=0.8)
        if each == "node"
        else None
    )
    fall = k.scalar("gravity_step drop g_dt2", c.vec, -0.2, 0.2) if shape.chance(0.5) else None
    damp = k.scalar("damping s_damping", c.scalar, 0.2, 0.9) if c.chance(0.6, 2) else None
    shift = k.out("shifts corrections", vec, ("strands", "nodes")) if damp is not None else None
    center, radius, out_of = _obstacle(c) if c.chance(0.4, 3) else (None, None, "")
    last = k.let("prev leader last", x[index(*at, 0)])
    if out is not x:
        k.store(out, (*at, 0), last)
    if shift is not None:
        k.store(shift, (*at, 0), zero(vec))
    return _strand_follow_stored(
        x, shape, k, fall, rest, out, last, lengths, center, radius, shift, damp, at, out_of
    )


def _strand_follow_stored(
    x: Var,
    shape: Stream,
    k: KernelBuilder,
    fall: Var | None,
    rest: Expr | None,
    out: Var,
    last: Var,
    lengths: Var | None,
    center: Var | None,
    radius: Var | None,
    shift: Var | None,
    damp: Var | None,
    at: tuple[Var, ...],
    out_of: str,
) -> Title:
    """What :func:`strand_follow` stores, and its text."""
    stop = extent(x, 1) if shape.chance(0.6) else k.size_param("num_nodes", "nodes")
    with k.for_("n j t", stop, start=1) as n:
        node = k.let("node cur p", x[index(*at, n)])
        if fall is not None:
            k.augment(node, "add", fall)
        d = k.let("d dir_vec", node - last)
        span = lengths[index(*at, n)] if lengths is not None else rest
        assert span is not None
        if shape.chance(0.5):
            placed = k.let("q placed", last + span / fn("length", d) * d)
        else:
            placed = k.let("q placed", last + span * fn("normalize", d))
        if center is not None and radius is not None:
            away = k.let("off to_node", placed - center)
            dist = k.let("dist off_len", fn("length", away))
            with k.if_(dist < radius):
                k.assign(placed, center + radius / dist * away)
        if shift is not None and damp is not None:
            k.store(shift, (*at, n), damp * (placed - node))
        k.store(out, (*at, n), placed)
        k.assign(last, placed)
    return _strand_follow_ended(x, fall, rest, lengths, out_of, out, shift, damp, k)


def _strand_follow_ended(
    x: Var,
    fall: Var | None,
    rest: Expr | None,
    lengths: Var | None,
    out_of: str,
    out: Var,
    shift: Var | None,
    damp: Var | None,
    k: KernelBuilder,
) -> Title:
    """What :func:`strand_follow` stores at last, and its text."""
    text = (
        f"Let strands, the rows of {x.name}, follow their roots from node 0 on: every further node"
        f"{f', after {fall.name} is added,' if fall is not None else ''} is placed on the line "
        f"from the node before, as already placed, to itself, at the distance "
    )
    length = rest if lengths is None else lengths
    assert length is not None
    text += named(length)
    text += out_of
    text += f". {out.name} gets the strand, its root as it was."
    if shift is not None and damp is not None:
        text += (
            f" {shift.name} gets {damp.name} times what each node was shifted by so, 0 for roots."
        )
    return Title(k.name("strand_follow follow_leader hair_strands"), text)
