"""Reference helpers for rotations, transforms and spatial vectors, written from the mathematics.

A quaternion is an array x, y, z, w; a transform is its position followed by its rotation; a spatial
vector is its angular part followed by its linear part.
"""

from __future__ import annotations

RIGID_HELPERS: dict[str, tuple[tuple[str, ...], str]] = {
    "quat_from_axis_angle": (
        ("math", "np"),
        """\
def quat_from_axis_angle(axis, angle):
    return np.append(axis * math.sin(0.5 * angle), math.cos(0.5 * angle))
""",
    ),
    "quat_inverse": (
        ("np",),
        """\
def quat_inverse(q):
    return np.append(-q[:3], q[3])
""",
    ),
    "quat_multiply": (
        ("np",),
        """\
def quat_multiply(a, b):
    vector = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(vector, a[3] * b[3] - np.dot(a[:3], b[:3]))
""",
    ),
    "quat_normalize": (
        ("np",),
        """\
def quat_normalize(q):
    length = np.linalg.norm(q)
    return q / length if length > 0.0 else np.array([0.0, 0.0, 0.0, 1.0])
""",
    ),
    "quat_rotate": (
        ("np",),
        """\
def quat_rotate(q, v):
    t = 2.0 * np.cross(q[:3], v)
    return v + q[3] * t + np.cross(q[:3], t)
""",
    ),
    "quat_to_matrix": (
        ("np",),
        """\
def quat_to_matrix(q):
    return np.column_stack([quat_rotate(q, axis) for axis in np.eye(3)])
""",
    ),
    "quat_from_matrix": (
        ("math", "np"),
        """\
def quat_from_matrix(m):
    trace = float(np.trace(m))
    if trace >= 0.0:
        s = 0.5 / math.sqrt(trace + 1.0)
        vector = [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]]
        return quat_normalize(np.append(s * np.array(vector), 0.25 / s))
    i = int(np.argmax([m[0, 0], m[1, 1], m[2, 2]]))
    j, k = (i + 1) % 3, (i + 2) % 3
    s = 0.5 / math.sqrt(m[i, i] - m[j, j] - m[k, k] + 1.0)
    q = np.zeros(4)
    q[i] = 0.25 / s
    q[j] = s * (m[i, j] + m[j, i])
    q[k] = s * (m[k, i] + m[i, k])
    q[3] = s * (m[k, j] - m[j, k])
    return quat_normalize(q)
""",
    ),
    "quat_rpy": (
        ("np",),
        """\
def quat_rpy(roll, pitch, yaw):
    x, y, z = np.eye(3)
    turn = quat_multiply(quat_from_axis_angle(y, pitch), quat_from_axis_angle(x, roll))
    return quat_multiply(quat_from_axis_angle(z, yaw), turn)
""",
    ),
    "quat_to_rpy": (
        ("math", "np"),
        """\
def quat_to_rpy(q):
    x, y, z, w = q
    roll = math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return np.array([roll, pitch, yaw])
""",
    ),
    "quat_slerp": (
        ("math", "np"),
        """\
def quat_slerp(a, b, t):
    between = quat_multiply(quat_inverse(a), b)
    if between[3] < 0.0:
        between = -between
    size = float(np.linalg.norm(between[:3]))
    axis = between[:3] / size if size > 0.0 else between[:3]
    angle = 2.0 * math.atan2(size, between[3])
    return quat_multiply(a, quat_from_axis_angle(axis, t * angle))
""",
    ),
    "quat_twist": (
        ("np",),
        """\
def quat_twist(axis, q):
    return quat_normalize(np.append(np.dot(q[:3], axis) * axis, q[3]))
""",
    ),
    "quat_twist_angle": (
        ("math", "np"),
        """\
def quat_twist_angle(axis, q):
    return 2.0 * math.atan2(abs(float(np.dot(axis, q[:3]))), q[3])
""",
    ),
    "quat_twist_angle_signed": (
        ("math", "np"),
        """\
def quat_twist_angle_signed(axis, q):
    return 2.0 * math.atan2(float(np.dot(axis, q[:3])), q[3])
""",
    ),
    "transform_point": (
        (),
        """\
def transform_point(t, v):
    return t[:3] + quat_rotate(t[3:], v)
""",
    ),
    "transform_inverse": (
        ("np",),
        """\
def transform_inverse(t):
    rotation = quat_inverse(t[3:])
    return np.concatenate([-quat_rotate(rotation, t[:3]), rotation])
""",
    ),
    "transform_multiply": (
        ("np",),
        """\
def transform_multiply(a, b):
    return np.concatenate([transform_point(a, b[:3]), quat_multiply(a[3:], b[3:])])
""",
    ),
    "transform_compose": (
        ("np",),
        """\
def transform_compose(position, rotation, scale):
    matrix = np.eye(4)
    matrix[:3, :3] = quat_to_matrix(rotation) * scale
    matrix[:3, 3] = position
    return matrix
""",
    ),
    "transform_to_matrix": (
        ("np",),
        """\
def transform_to_matrix(t):
    return transform_compose(t[:3], t[3:], np.ones(3))
""",
    ),
    "spatial_cross": (
        ("np",),
        """\
def spatial_cross(a, b):
    lower = np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:])
    return np.concatenate([np.cross(a[:3], b[:3]), lower])
""",
    ),
    "spatial_cross_dual": (
        ("np",),
        """\
def spatial_cross_dual(a, b):
    upper = np.cross(a[:3], b[:3]) + np.cross(a[3:], b[3:])
    return np.concatenate([upper, np.cross(a[:3], b[3:])])
""",
    ),
    "spatial_adjoint": (
        ("np",),
        """\
def spatial_adjoint(r, s):
    top, bottom = np.hstack([r, np.zeros((3, 3))]), np.hstack([s, r])
    return np.vstack([top, bottom])
""",
    ),
    "transform_twist": (
        ("np",),
        """\
def transform_twist(t, x):
    angular = quat_rotate(t[3:], x[:3])
    return np.concatenate([angular, quat_rotate(t[3:], x[3:]) + np.cross(t[:3], angular)])
""",
    ),
    "transform_wrench": (
        ("np",),
        """\
def transform_wrench(t, x):
    force = quat_rotate(t[3:], x[3:])
    return np.concatenate([quat_rotate(t[3:], x[:3]) + np.cross(t[:3], force), force])
""",
    ),
    "velocity_at_point": (
        ("np",),
        """\
def velocity_at_point(s, r):
    return s[3:] + np.cross(s[:3], r)
""",
    ),
}
"""By name: the modules that the text uses, and the text."""

RIGID_NEEDS: dict[str, tuple[str, ...]] = {
    "quat_from_matrix": ("quat_normalize",),
    "quat_twist": ("quat_normalize",),
    "quat_to_matrix": ("quat_rotate",),
    "quat_rpy": ("quat_from_axis_angle", "quat_multiply"),
    "quat_slerp": ("quat_from_axis_angle", "quat_inverse", "quat_multiply"),
    "transform_point": ("quat_rotate",),
    "transform_inverse": ("quat_inverse", "quat_rotate"),
    "transform_multiply": ("transform_point", "quat_multiply"),
    "transform_compose": ("quat_to_matrix",),
    "transform_to_matrix": ("transform_compose",),
    "transform_twist": ("quat_rotate",),
    "transform_wrench": ("quat_rotate",),
}
"""By name: the helpers that a helper calls."""
