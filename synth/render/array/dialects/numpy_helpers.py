"""Functions that NumPy texts define when they need them."""

from __future__ import annotations

HELPERS: dict[str, str] = {
    "erf": """\
def erf(x):
    return np.vectorize(math.erf, otypes=[x.dtype])(x)
""",
    "erfc": """\
def erfc(x):
    return np.vectorize(math.erfc, otypes=[x.dtype])(x)
""",
    "round_half_away": """\
def round_half_away(x):
    return np.copysign(np.floor(np.abs(x) + 0.5), x)
""",
    "smoothstep": """\
def smoothstep(edge0, edge1, x):
    t = np.clip((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
""",
    "normalize": """\
def normalize(v):
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return np.divide(v, length, out=np.zeros_like(v), where=length > 0.0)
""",
    "skew": """\
def skew(v):
    x, y, z = np.moveaxis(v, -1, 0)
    zero = np.zeros_like(x)
    rows = [np.stack(row, axis=-1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
    return np.stack(rows, axis=-2)
""",
    "quat_rotate": """\
def quat_rotate(q, v):
    axis, w = q[..., :3], q[..., 3:]
    turned = 2.0 * np.cross(axis, v)
    return v + w * turned + np.cross(axis, turned)
""",
    "quat_inverse": """\
def quat_inverse(q):
    return np.concatenate([-q[..., :3], q[..., 3:]], axis=-1)
""",
    "quat_multiply": """\
def quat_multiply(p, q):
    u, s, v, t = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    axis = s * v + t * u + np.cross(u, v)
    return np.concatenate([axis, s * t - np.sum(u * v, axis=-1, keepdims=True)], axis=-1)
""",
    "quat_from_axis_angle": """\
def quat_from_axis_angle(axis, angle):
    half = 0.5 * np.asarray(angle)[..., None]
    turned = axis * np.sin(half)
    return np.concatenate([turned, np.cos(half) + np.zeros_like(turned[..., :1])], axis=-1)
""",
    "quat_to_matrix": """\
def quat_to_matrix(q):
    columns = [quat_rotate(q, unit) for unit in np.eye(3, dtype=q.dtype)]
    return np.stack(columns, axis=-1)
""",
    "transform_point": """\
def transform_point(t, p):
    return t[..., :3] + quat_rotate(t[..., 3:], p)
""",
    "transform_inverse": """\
def transform_inverse(t):
    back = quat_inverse(t[..., 3:])
    return np.concatenate([-quat_rotate(back, t[..., :3]), back], axis=-1)
""",
    "transform_multiply": """\
def transform_multiply(s, t):
    rotation = quat_multiply(s[..., 3:], t[..., 3:])
    return np.concatenate([transform_point(s, t[..., :3]), rotation], axis=-1)
""",
}
"""By name."""

NEEDS: dict[str, tuple[str, ...]] = {
    "quat_to_matrix": ("quat_rotate",),
    "transform_point": ("quat_rotate",),
    "transform_inverse": ("quat_rotate", "quat_inverse"),
    "transform_multiply": ("quat_multiply", "transform_point", "quat_rotate"),
}
"""By name: the helpers that a helper calls, all of them."""
