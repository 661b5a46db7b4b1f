"""The table's entries for quaternions, transforms and spatial vectors."""

from __future__ import annotations

from generators.program import signatures as sig
from generators.program import signatures_rigid as rigid
from generators.program.dtypes import Quat, Transform
from generators.program.op_spec import OpSpec, table

RIGID_OPS: dict[str, OpSpec] = table(
    OpSpec(
        "quat_from_axis_angle", 2, rigid.axis_angle, domain=("unit_length", ""), ulp=4, mixes=True
    ),
    OpSpec(
        "quat_inverse", 1, sig.same(lambda t: isinstance(t, Quat)), domain=("unit_length",), ulp=0
    ),
    OpSpec("quat_rotate", 2, rigid.rotate, domain=("unit_length", ""), ulp=6, mixes=True),
    OpSpec("quat_rotate_inv", 2, rigid.rotate, domain=("unit_length", ""), ulp=6, mixes=True),
    OpSpec("quat_to_matrix", 1, rigid.quat_to_matrix, domain=("unit_length",), ulp=6, mixes=True),
    OpSpec("transform_point", 2, rigid.transform_apply, domain=("rigid", ""), ulp=6, mixes=True),
    OpSpec("transform_vector", 2, rigid.transform_apply, domain=("rigid", ""), ulp=6, mixes=True),
    OpSpec(
        "transform_inverse",
        1,
        sig.same(lambda t: isinstance(t, Transform)),
        domain=("rigid",),
        ulp=6,
        mixes=True,
    ),
    OpSpec("transform_get_translation", 1, rigid.transform_part(True), ulp=0),
    OpSpec("transform_get_rotation", 1, rigid.transform_part(False), ulp=0),
    OpSpec("quat_identity", 0, sig.given, ulp=0),
    OpSpec("quat_from_matrix", 1, rigid.quat_from_matrix, domain=("rotation",), ulp=6, mixes=True),
    OpSpec("quat_rpy", 3, rigid.quat_rpy, ulp=6, mixes=True),
    OpSpec("quat_to_rpy", 1, rigid.quat_to_rpy, domain=("unit_length",), ulp=6, mixes=True),
    OpSpec(
        "quat_slerp",
        3,
        rigid.quat_slerp,
        domain=("unit_length", "unit_length", ""),
        ulp=8,
        mixes=True,
    ),
    OpSpec("quat_twist", 2, rigid.twist, domain=("unit_length", "unit_length"), ulp=6, mixes=True),
    OpSpec(
        "quat_twist_angle",
        2,
        rigid.twist_angle,
        domain=("unit_length", "unit_length"),
        ulp=6,
        mixes=True,
    ),
    OpSpec(
        "quat_twist_angle_signed",
        2,
        rigid.twist_angle,
        domain=("unit_length", "unit_length"),
        ulp=6,
        mixes=True,
    ),
    OpSpec("transform_identity", 0, sig.given, ulp=0),
    OpSpec(
        "transform_multiply",
        2,
        sig.same(lambda t: isinstance(t, Transform)),
        domain=("rigid", "rigid"),
        ulp=6,
        mixes=True,
    ),
    OpSpec("transform_to_matrix", 1, rigid.to_matrix44, domain=("rigid",), ulp=6, mixes=True),
    OpSpec(
        "transform_compose",
        3,
        rigid.transform_compose,
        domain=("", "unit_length", ""),
        ulp=6,
        mixes=True,
    ),
    OpSpec("spatial_vector", 2, rigid.spatial_vector, ulp=0),
    OpSpec("spatial_dot", 2, sig.scalar_result(rigid.is_spatial), commutes=True, ulp=3, mixes=True),
    OpSpec("spatial_cross", 2, sig.same(rigid.is_spatial), ulp=3, mixes=True),
    OpSpec("spatial_cross_dual", 2, sig.same(rigid.is_spatial), ulp=3, mixes=True),
    OpSpec("spatial_top", 1, rigid.half_of_spatial, ulp=0),
    OpSpec("spatial_bottom", 1, rigid.half_of_spatial, ulp=0),
    OpSpec("spatial_adjoint", 2, rigid.spatial_adjoint, ulp=0),
    OpSpec("transform_twist", 2, rigid.moved_spatial, domain=("rigid", ""), ulp=8, mixes=True),
    OpSpec("transform_wrench", 2, rigid.moved_spatial, domain=("rigid", ""), ulp=8, mixes=True),
    OpSpec("velocity_at_point", 2, rigid.velocity_at_point, ulp=3, mixes=True),
)
