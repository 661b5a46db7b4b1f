"""What is known of rotations and rigid transforms that ops make."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generators.program.dtypes import Transform
from generators.program.expr import Op
from synth.render.ranges.known import ANY, Known, Value, limits_of, made, scaled, unit, unknown

Rule = Callable[[Op, Sequence[Known]], Value]


def _rotation(node: Op, args: Sequence[Known]) -> Value:
    return unit(node.type)


def _same_length(place: int) -> Rule:
    """As long as an argument, for a rotation of length 1."""

    def rule(node: Op, args: Sequence[Known]) -> Value:
        rotation = args[1 - place].norm
        slack = limits_of(node.type).slack
        if not 1 - 64 * slack <= rotation[0] <= rotation[1] <= 1 + 64 * slack:
            return unknown(node.type)
        norm = args[place].norm
        low, high = scaled((norm[0] * (1 - 512 * slack), norm[1] * (1 + 512 * slack)), node.type)
        return made([(-high, high)] * 3, node.type, (low, high))

    return rule


def _axis_angle(node: Op, args: Sequence[Known]) -> Value:
    """As long as 1 for an axis of length 1; never longer for one of length zero."""
    low, high = args[0].norm
    slack = limits_of(node.type).slack
    if 1 - 64 * slack <= low and high <= 1 + 64 * slack:
        return unit(node.type)
    return unknown(node.type)


def _conjugate(node: Op, args: Sequence[Known]) -> Value:
    (q,) = args
    if isinstance(node.type, Transform):
        turned = tuple((-high, -low) for low, high in q.parts[3:6])
        return Known((ANY,) * 3 + turned + q.parts[6:], q.norm)
    turned = tuple((-high, -low) for low, high in q.parts[:3])
    return Known(turned + q.parts[3:], q.norm)


def _are_units(node: Op, args: Sequence[Known]) -> bool:
    slack = 64 * limits_of(node.type).slack
    return all(1 - slack <= a.norm[0] and a.norm[1] <= 1 + slack for a in args)


RIGID_RULES: dict[str, Rule] = {
    **dict.fromkeys(("quat_inverse", "transform_inverse"), _conjugate),
    "quat_from_axis_angle": _axis_angle,
    **dict.fromkeys(("quat_rpy", "quat_from_matrix", "quat_twist"), _rotation),
    "quat_slerp": lambda node, args: (
        unit(node.type) if _are_units(node, args[:2]) else unknown(node.type)
    ),
    **dict.fromkeys(("quat_rotate", "quat_rotate_inv", "transform_vector"), _same_length(1)),
}
