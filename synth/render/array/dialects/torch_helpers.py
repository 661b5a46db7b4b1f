"""Functions that PyTorch texts define when they need them."""

from __future__ import annotations

HELPERS: dict[str, str] = {
    "round_half_away": """\
def round_half_away(x):
    return torch.copysign(torch.floor(torch.abs(x) + 0.5), x)
""",
    "cbrt": """\
def cbrt(x):
    return torch.copysign(torch.abs(x) ** (1.0 / 3.0), x)
""",
    "smoothstep": """\
def smoothstep(edge0, edge1, x):
    t = torch.clamp((x - edge0) / (edge1 - edge0), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
""",
    "skew": """\
def skew(v):
    x, y, z = v.unbind(dim=-1)
    zero = torch.zeros_like(x)
    rows = [torch.stack(row, dim=-1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
    return torch.stack(rows, dim=-2)
""",
    "cross": """\
def cross(u, v):
    return torch.linalg.cross(*torch.broadcast_tensors(u, v))
""",
    "quat_rotate": """\
def quat_rotate(q, v):
    axis, w = q[..., :3], q[..., 3:]
    along = (axis * v).sum(dim=-1, keepdim=True)
    return (2.0 * w * w - 1.0) * v + 2.0 * w * cross(axis, v) + 2.0 * along * axis
""",
    "quat_inverse": """\
def quat_inverse(q):
    return torch.cat([-q[..., :3], q[..., 3:]], dim=-1)
""",
    "quat_multiply": """\
def quat_multiply(p, q):
    u, s, v, t = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    axis = s * v + t * u + cross(u, v)
    return torch.cat([axis, s * t - (u * v).sum(dim=-1, keepdim=True)], dim=-1)
""",
    "quat_from_axis_angle": """\
def quat_from_axis_angle(axis, angle):
    half = 0.5 * torch.as_tensor(angle, dtype=axis.dtype, device=axis.device)[..., None]
    turned = axis * torch.sin(half)
    return torch.cat([turned, torch.cos(half).expand_as(turned[..., :1])], dim=-1)
""",
    "quat_to_matrix": """\
def quat_to_matrix(q):
    units = torch.eye(3, dtype=q.dtype, device=q.device)
    return torch.stack([quat_rotate(q, unit) for unit in units], dim=-1)
""",
    "transform_point": """\
def transform_point(t, p):
    return t[..., :3] + quat_rotate(t[..., 3:], p)
""",
    "transform_inverse": """\
def transform_inverse(t):
    back = quat_inverse(t[..., 3:])
    return torch.cat([-quat_rotate(back, t[..., :3]), back], dim=-1)
""",
    "transform_multiply": """\
def transform_multiply(s, t):
    rotation = quat_multiply(s[..., 3:], t[..., 3:])
    return torch.cat([transform_point(s, t[..., :3]), rotation], dim=-1)
""",
}
"""By name."""

NEEDS: dict[str, tuple[str, ...]] = {
    "quat_rotate": ("cross",),
    "quat_multiply": ("cross",),
    "quat_to_matrix": ("quat_rotate", "cross"),
    "transform_point": ("quat_rotate", "cross"),
    "transform_inverse": ("quat_rotate", "quat_inverse", "cross"),
    "transform_multiply": ("quat_multiply", "transform_point", "quat_rotate", "cross"),
}
"""By name: the helpers that a helper calls, all of them."""
