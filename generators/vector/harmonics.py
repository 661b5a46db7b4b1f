"""Real spherical harmonics up to degree 3: bases, colours of splats, irradiance, projections."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import FOUR_PI, dot, most
from generators.kit.sources import filled, zero
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import index

VEC3 = Vec(3, FLOAT32)
_BANDS = (
    (0.28209479,),
    (0.48860251, 0.48860251, 0.48860251),
    (1.09254843, 1.09254843, 0.31539157, 1.09254843, 0.54627422),
    (0.59004359, 2.89061144, 0.45704580, 0.37317633, 0.45704580, 1.44530572, 0.59004359),
)
"""Factors of the harmonics of each degree, m from -l to l."""
_LAMBERT = (3.14159265, 2.09439510, 0.78539816)
"""What each degree of radiance keeps in the irradiance (Ramamoorthi and Hanrahan, 2001)."""


def _polynomials(k: KernelBuilder, d: Expr, degree: int) -> list[list[Expr | None]]:
    """What the factors of each degree are multiplied by."""
    x, y, z = (k.let(n, d[a]) for a, n in enumerate("xyz"))
    found: list[list[Expr | None]] = [[None], [y, z, x]]
    if degree == 1:
        return found
    xx, yy, zz = (k.let(n, v * v) for n, v in (("xx", x), ("yy", y), ("zz", z)))
    found.append([x * y, y * z, 3.0 * zz - 1.0, x * z, xx - yy])
    if degree == 3:
        found.append(
            [
                y * (3.0 * xx - yy),
                x * y * z,
                y * (5.0 * zz - 1.0),
                z * (5.0 * zz - 3.0),
                x * (5.0 * zz - 1.0),
                z * (xx - yy),
                x * (xx - 3.0 * yy),
            ]
        )
    return found


def _basis(
    k: KernelBuilder, d: Expr, degree: int, phase: bool, share: tuple[float, ...] = ()
) -> list[Expr]:
    """The harmonics of a unit vector, each times its degree's share; the index is l^2 + l + m."""
    values: list[Expr] = []
    for band, terms in enumerate(_polynomials(k, d, degree)):
        for n, (factor, term) in enumerate(zip(_BANDS[band], terms, strict=True)):
            scale = round(factor * (share[band] if share else 1.0), 8)
            scale = -scale if phase and (n - band) % 2 else scale
            number = k.lift(scale, FLOAT32)
            values.append(number if term is None else number * term)
    return values


def _said(degree: int, phase: bool) -> str:
    """What harmonics these are, in words."""
    sign = "with" if phase else "without"
    return (
        f"the {(degree + 1) ** 2} real orthonormal spherical harmonics Y of degrees l = 0 to "
        f"{degree} at l^2 + l + m, {sign} the factor (-1)^m"
    )


def _direction(
    k: KernelBuilder, dims: tuple[str, ...], at: tuple[Var, ...], lit: bool
) -> tuple[Expr, str]:
    """The direction of a thread: given, or from the camera or a light probe to its point."""
    if k.draw.shape.chance(0.5):
        dirs = k.array("directions view_dirs dirs", VEC3, dims, init="unit")
        return k.let("d direction", dirs[at]), f"each unit direction of {dirs.name}"
    if lit:
        lamps = k.array("light_positions lamp_pos", VEC3, dims, low=-2.0, high=2.0)
        probe = k.scalar("probe_pos probe_center", VEC3, 3.0, 5.0)
        d = k.let("d to_light", fn("normalize", lamps[at] - probe))
        return d, f"the direction from {probe.name} to each of {lamps.name}, normalized"
    points = k.array("positions means centers", VEC3, dims, low=-2.0, high=2.0)
    eye = k.scalar("camera_pos eye cam_center", VEC3, 3.0, 5.0)
    d = k.let("d view_dir", fn("normalize", points[at] - eye))
    return d, f"the direction from {eye.name} to each of {points.name}, normalized"


def _degree(k: KernelBuilder, level: int) -> int:
    return int(k.draw.shape.choice((1, 2) if level == 1 else (1, 2, 3) if level < 4 else (2, 3)))


@idiom(depth=3)
def harmonic_basis(k: KernelBuilder, level: int) -> Title:
    """The values of the harmonics in a direction, or those of light from there, as rows."""
    shape, degree, phase = k.draw.shape, _degree(k, level), k.draw.shape.chance(0.4)
    k.size("n", 30, 44)
    at = k.thread("n", names=(k.name("i tid"),))
    lit = level >= 2 and shape.chance(0.5)
    d, said = _direction(k, ("n",), at, lit)
    values = _basis(k, d, degree, phase)
    text = f"For {said}, take {_said(degree, phase)}. "
    many = (degree + 1) ** 2
    light = None
    if lit:
        light = k.array("radiances light_colors", VEC3, "n", low=0.0, high=2.0)
        color = k.let("color radiance", light[at])
    across = shape.chance(0.3)
    dims = (str(many), "n") if across else ("n", str(many))
    kind = FLOAT32 if light is None else VEC3
    out = k.out("sh_basis basis_out" if light is None else "light_sh sh_out", kind, dims)
    for n, value in enumerate(values):
        place = index(n, *at) if across else index(*at, n)
        k.store(out, place, value if light is None else value * color)
    text += f"{out.name} gets them" if light is None else f"{out.name} gets Y times {light.name}"
    text += ", one row for each harmonic." if across else "."
    names = "sh_basis eval_sh_basis" if light is None else "project_directional_lights lights_to_sh"
    return Title(k.name(names), text)


def _coefficients(
    k: KernelBuilder, dims: tuple[str, ...], many: int, names: str, apart: bool
) -> tuple[Var, Var | None]:
    """Colours of each harmonic: in one array, or the first apart from the rest."""
    if not apart:
        return k.array(names, VEC3, (*dims, str(many)), low=-1.0, high=1.0), None
    first = k.array("features_dc sh_dc", VEC3, dims, low=-1.0, high=1.0)
    rest = k.array("features_rest sh_rest", VEC3, (*dims, str(many - 1)), low=-1.0, high=1.0)
    return first, rest


@idiom
def splat_colour(k: KernelBuilder, level: int) -> Title:
    """Colours of splats that change with the view (Kerbl et al., 2023), or their gradients."""
    shape, degree = k.draw.shape, _degree(k, level)
    many, back = (degree + 1) ** 2, level >= 3 and shape.chance(0.4)
    dims: tuple[str, ...] = ("n",)
    k.size("n", 30, 44)
    at = k.thread(*dims, names=(k.name("i splat"),))
    means = k.array("means positions", VEC3, "n", low=-2.0, high=2.0)
    eye = k.scalar("camera_pos cam_center", VEC3, 3.0, 5.0)
    apart = shape.chance(0.4)
    first, rest = _coefficients(k, ("n",), many, "sh_coeffs sh_colors harmonics", apart)
    shown = None
    if level >= 2 and shape.chance(0.4):
        shown = k.array("radii screen_radii", INT32, dims, low=-4, high=8)
    out = _colour_out(k, dims, many, back)
    if shown is not None:
        with k.if_(shown[at] <= 0):
            for place in [index(*at, n) for n in range(many)] if back else [at]:
                k.store(out, place, zero(VEC3))
            k.return_()
    d = k.let("d view_dir", fn("normalize", means[at[-1]] - eye))
    values = _basis(k, d, degree, True)
    me = at[-1:]
    color = k.let("color rgb", values[0] * first[me if rest is not None else index(*me, 0)])
    for n in range(1, many):
        held = first[index(*me, n)] if rest is None else rest[index(*me, n - 1)]
        k.augment(color, "add", values[n] * held)
    text = f"With d the unit direction from {eye.name} to each of {means.name}, and "
    text += f"{_said(degree, True)}, the colour is 0.5 plus the sum of Y(d) times "
    text += first.name if rest is None else f"{first.name} (Y at 0) and {rest.name} (the others)"
    hidden = f" Those whose {shown.name} is not above 0 get 0." if shown is not None else ""
    return _coloured(k, (color, values, out, at), back, text, hidden)


def _coloured(
    k: KernelBuilder,
    of: tuple[Var, list[Expr], Var, tuple[Var, ...]],
    back: bool,
    text: str,
    hidden: str,
) -> Title:
    """The colour cut at 0, or the gradients of its coefficients."""
    color, values, out, at = of
    half = filled(VEC3, k.lift(0.5, FLOAT32))
    if not back:
        k.store(out, at, most(color + half, zero(VEC3)))
        text += f", at least 0; {out.name} gets it.{hidden}"
        return Title(k.name("splat_colors sh_to_color view_dependent_color"), text)
    grads = k.array("color_grads grad_colors", VEC3, k.launch_dim, low=-1.0, high=1.0)
    k.augment(color, "add", half)
    g = k.let("g grad", grads[at])
    for a in range(3):
        with k.if_(color[a] < 0.0):
            k.set(g, a, 0.0)
    for n, value in enumerate(values):
        k.store(out, index(*at, n), value * g)
    text += f". {out.name} gets the gradients of all coefficients in the order of Y: Y(d) * g, g "
    text += f"being {grads.name} with 0 in channels where the colour is negative (cut at 0)."
    return Title(k.name("sh_color_backward splat_color_grads"), text + hidden)


def _colour_out(k: KernelBuilder, dims: tuple[str, ...], many: int, back: bool) -> Var:
    if back:
        return k.out("grad_coeffs sh_grads", VEC3, (*dims, str(many)))
    return k.out("colors rgb_out", VEC3, dims)


def _surface(k: KernelBuilder) -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """A thread for each point or pixel that is lit."""
    if k.draw.shape.chance(0.35):
        dims = (k.size("height", 6, 9), k.size("width", 6, 9))
        return dims, k.thread(*dims, names=(k.name("row"), k.name("col")))
    return (k.size("n", 30, 44),), k.thread("n", names=(k.name("i tid"),))


@idiom(depth=3)
def probe_irradiance(k: KernelBuilder, level: int) -> Title:
    """Irradiance of a normal from harmonics of light: one sky, a probe each, or blended probes."""
    shape = k.draw.shape
    degree = shape.choice((1, 2, 2))
    many = (degree + 1) ** 2
    way = shape.choice(("sky", "sky", "own")[: level + 1] if level < 3 else ("own", "pair", "pair"))
    c_dims, at = _surface(k)
    normals = k.array("normals surface_normals", VEC3, c_dims, init="unit")
    n = k.let("nrm normal", normals[at])
    cosine = not shape.chance(0.3)
    if way == "sky":
        sh = k.array("sky_sh env_sh light_sh", VEC3, str(many), low=-1.0, high=1.0)
        of: _Coefficient = lambda c: sh[c]  # noqa: E731
        said = f"the environment in {sh.name}"
    else:
        of, said = _probes(k, way, many, c_dims, at)
    share = _LAMBERT[: degree + 1] if cosine else ()
    values = _basis(k, n, degree, False, share)
    light = k.let("light irradiance", zero(VEC3))
    for c, value in enumerate(values):
        k.augment(light, "add", value * of(c))
    text = f"Light surfaces of {normals.name} by {said}: coefficients of "
    text += f"{_said(degree, False)}. The "
    text += (
        "irradiance E is the sum of A_l * Y(normal) times the coefficient, A_l = "
        f"{'pi, 2 * pi / 3, pi / 4'[: 14 if degree == 1 else 22]}"
        if cosine
        else "light E is the sum of Y(normal) times the coefficient, which is convolved with the "
        "cosine already"
    )
    return Title(
        k.name("sh_irradiance probe_irradiance" if cosine else "eval_light_probes sh_light"),
        text + _lit(k, c_dims, at, light, cosine),
    )


def _lit(k: KernelBuilder, dims: tuple[str, ...], at: tuple[Var, ...], e: Var, cosine: bool) -> str:
    """What is stored of the light."""
    if k.draw.shape.chance(0.5):
        albedo = k.array("albedo base_color", VEC3, dims, low=0.1, high=0.9)
        lit: Expr = fn("cw_mul", albedo[at], most(e, zero(VEC3)))
        lit = lit / 3.14159265 if cosine else lit
        out = k.out("radiance_out shaded", VEC3, dims)
        k.store(out, at, lit)
        return f". {out.name} gets {albedo.name} * max(E, 0){' / pi' * cosine} by channel."
    out = k.out("irradiance_out light_out", VEC3, dims)
    k.store(out, at, most(e, zero(VEC3)))
    return f". {out.name} gets E, at least 0."


_Coefficient = Callable[[int], Expr]
"""The coefficient of a harmonic."""


def _probes(
    k: KernelBuilder, way: str, many: int, dims: tuple[str, ...], at: tuple[Var, ...]
) -> tuple[_Coefficient, str]:
    """The coefficients of a probe, or of two that are blended; in words."""
    k.size("refs", 5, 8)
    sh = k.array("probe_sh probe_coeffs", VEC3, ("refs", str(many)), low=-1.0, high=1.0)
    if way == "own":
        ids = k.array("probe_ids nearest_probe", INT32, dims, init="index_of:refs")
        own = k.let("p probe", ids[at])
        return lambda c: sh[index(own, c)], f"row {ids.name} of {sh.name}"
    blend = k.array("blend_weights probe_blend", FLOAT32, dims, low=0.0, high=1.0)
    rows: tuple[Expr, Expr]
    if k.draw.shape.chance(0.5):
        ids = k.array("probe_pairs blend_ids", Vec(2, INT32), dims, init="index_of:refs")
        pair = k.let("pair ids", ids[at])
        rows, said = (pair[0], pair[1]), f"the two rows {ids.name}"
    else:
        first = k.array("probe_a first_probe", INT32, dims, init="index_of:refs")
        second = k.array("probe_b second_probe", INT32, dims, init="index_of:refs")
        rows = (k.let("pa", first[at]), k.let("pb", second[at]))
        said = f"rows {first.name} and {second.name}"
    a, b = rows
    t = k.let("t blend", blend[at])
    said = f"{said} of {sh.name}, interpolated linearly by {blend.name} (0 is the first)"
    return lambda c: fn("lerp", sh[index(a, c)], sh[index(b, c)], t), said


@idiom(depth=3)
def transfer_projection(k: KernelBuilder, level: int) -> Title:
    """Coefficients of what a point sees: visibility, light or cosines summed over directions."""
    shape, degree = k.draw.shape, int(k.draw.shape.choice((1, 2, 2)))
    many = (degree + 1) ** 2
    transfer = level > 1 and shape.chance(0.6)
    own = k.size("points" if transfer else "probes", 20, 28)
    k.size("samples", 8, 12)
    each = level >= 2 and shape.chance(0.35)
    at = k.thread(own, names=(k.name("i pt" if transfer else "i probe"),))
    around = (own, "samples") if each else ("samples",)
    dirs = k.array("sample_dirs directions", VEC3, around, init="unit")
    weights = None
    if not each and shape.chance(0.4):
        weights = k.array("solid_angles sample_weights", FLOAT32, "samples", low=0.5, high=1.5)
    kind: Scalar | Vec = VEC3 if not transfer and shape.chance(0.6) else FLOAT32
    if transfer:
        normals = k.array("normals vert_normals", VEC3, own, init="unit")
        seen = k.array("visible unoccluded", INT32, (own, "samples"), low=0, high=1)
    else:
        seen = k.array("radiance incoming", kind, (own, "samples"), low=0.0, high=2.0)
    single = kind == FLOAT32
    sums = k.let("coeffs sums", zero(Vec(many, FLOAT32))) if single else None
    totals = [] if single else [k.let(f"c{n}", zero(VEC3)) for n in range(many)]
    n = k.let("nrm normal", normals[at]) if transfer else None
    with k.for_("s sample", extent(seen, 1)) as s:
        w = k.let("w dir", dirs[index(*at, s) if each else s])
        value, test = _sample(k, n, w, seen[index(*at, s)], weights[s] if weights else None)
        with nullcontext() if test is None else k.if_(test):
            _summed(k, _basis(k, w, degree, False), value, sums, totals)
    names = "transfer_sh transfer" if transfer else "probe_sh sh_out"
    out = _projected(k, names, (own, str(many)), at, sums or totals, seen, weights is None)
    over = f"{'its own' if each else 'all'} {'uniform ' * (weights is None)}unit directions w of "
    text = f"Project onto {_said(degree, False)}: {out.name} gets, for each of Y, "
    text += "4 * pi over the number of samples times " * (weights is None)
    text += f"the sum over {over}{dirs.name} of "
    text += f"{weights.name} * " if weights is not None else ""
    if transfer:
        text += f"Y(w) * dot(n, w), n of {normals.name}, where {seen.name} is 1 and dot(n, w) > 0."
        return Title(k.name("project_transfer shadowed_transfer"), text)
    return Title(k.name("project_radiance sh_project"), f"{text}Y(w) * {seen.name}.")


def _sample(
    k: KernelBuilder, n: Var | None, w: Var, seen: Expr, weight: Expr | None
) -> tuple[Expr, Expr | None]:
    """What comes from a direction, and when it counts if it does not always."""
    if n is None:
        return k.let("l_in light", seen if weight is None else weight * seen), None
    cosine = k.let("cos_w facing", dot(n, w))
    test = fn("and", fn("eq", seen, 1), cosine > 0.0)
    return cosine if weight is None else weight * cosine, test


def _projected(
    k: KernelBuilder,
    names: str,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    sums: Var | list[Var],
    seen: Var,
    uniform: bool,
) -> Var:
    """Store the sums of all harmonics, times the solid angle of a sample where that is uniform."""
    kind = FLOAT32 if isinstance(sums, Var) else VEC3
    out = k.out(names, kind, dims)
    count = cast(extent(seen, 1), FLOAT32)
    scale = k.let("weight solid_angle", FOUR_PI / count) if uniform else None
    for c in range(int(dims[-1])):
        total: Expr = sums[c]
        k.store(out, index(*at, c), total if scale is None else scale * total)
    return out


def _summed(
    k: KernelBuilder, values: list[Expr], value: Expr, sums: Var | None, totals: list[Var]
) -> None:
    """Add a sample to the sums of all harmonics."""
    for c, y in enumerate(values):
        if sums is not None:
            k.set(sums, c, y * value, "add")
        else:
            k.augment(totals[c], "add", y * value)
