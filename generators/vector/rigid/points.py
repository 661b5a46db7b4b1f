"""Points under poses: copies of a shape, and sets of points laid over each other."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.formulas import Shelf
from generators.kit.functions import dot, exp, most, sqrt
from generators.kit.masks import as_flag, flag
from generators.kit.naming import applied, local, maybe
from generators.kit.records import Part, record
from generators.kit.sources import SETTING, constant, filled, given
from generators.kit.words import listed, say
from generators.program.dtypes import INT32
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import Items, Rig, by_matrix, product, rig, six, unit


class Instance:
    """Pose and scale of an instance: a transform or its parts, in arrays or a struct."""

    def __init__(self, r: Rig, level: int) -> None:
        self.r, self.split = r, r.k.draw.shape.chance(0.5)
        scalings = ("none", "one", "three") if level == 1 else ("one", "three")
        self.scaling = r.k.draw.shape.choice(scalings)
        parts = {"pose": Part("pose xform", r.pose, -2.0, 2.0, "unit")}
        if self.split:
            parts = {"origin": Part("pos origin", r.vec, -2.0, 2.0)}
            parts["rot"] = Part("rot rotation", r.quat, init="unit", many="rotations orientations")
        if self.scaling != "none":
            type_ = r.vec if self.scaling == "three" else r.scalar
            parts["scale"] = Part("scale size", type_, 0.5, 1.5)
        struct = 0.25 + 0.08 * level
        self.fields = record(r, "Instance Placement", parts, struct, axes=r.axes("first"))
        self.text = listed([self.fields.say(key) for key in parts])
        self.values = dict(self.fields.values)
        self.scale = self.values.get("scale")

    @property
    def rotation(self) -> Expr:
        if self.split:
            return self.values["rot"]
        return fn("transform_get_rotation", self.values["pose"])

    def attach(self) -> str:
        """The pose within that of a parent, whose index each instance may have."""
        r, k = self.r, self.r.k
        k.size("c", 3, 5)
        parents = k.array("parents groups nodes", r.pose, "c", init="unit", low=-1.0, high=1.0)
        ids = r.read("parent_ids group_of", INT32, init="index_of:c", axes=r.axes("first"))
        parent = parents[maybe(k, "g parent_id node", ids)]
        whole = product(k, parent, self.fields["pose"], 0.75)
        self.values["pose"] = k.let("pose whole_pose to_root", whole)
        text = f"{parents.name}[{say(k, ids)}] * {self.fields.say('pose')}"
        return f" The pose of an instance is {text}."

    def place(self, level: int, p: Expr) -> Expr:
        """The point p in the world: scaled, rotated, moved."""
        r = self.r
        if self.scale is not None and self.split and r.k.draw.shape.chance(0.5):
            return self._by_matrix(p)

        def build(b: BodyBuilder, p: Expr, *parts: Expr) -> Expr:
            at = p
            if self.scale is not None:
                scaled = fn("cw_mul", parts[-1], p) if self.scaling == "three" else parts[-1] * p
                at = maybe(b, "local scaled", scaled)
            if self.split:
                return parts[0] + fn("quat_rotate", parts[1], at)
            return fn("transform_point", parts[0], at)

        args = {"p": p, **self.values}
        return applied(r.k, 0.5 * (level >= 3), "place_point to_world", args, build)

    def _by_matrix(self, p: Expr) -> Expr:
        r, values = self.r, self.values
        assert self.scale is not None
        scale = filled(r.vec, self.scale) if self.scaling == "one" else self.scale
        matrix = fn("transform_compose", values["origin"], values["rot"], scale)
        p = local(r.k, "p local_p", p)
        return by_matrix(r, r.k.let("m mat model", matrix), p)


@idiom(depth=1)
def instanced_points(k: KernelBuilder, level: int) -> Title:
    """Points of a shape, scaled, rotated and moved for each of its instances."""
    shape = k.draw.shape
    r = rig(k, "v p j", batch=1)
    points = given(r, "point vertex template_point", r.vec, -1.0, 1.0, last=1)
    instance = Instance(r, level)
    p: Expr = points
    if level > 1 or shape.chance(0.6):
        p = k.let("p local_p corner", points)
    done = (
        f"Place a shape at each of its instances. For instance {say(k, r.at[0])} ({instance.text}) "
    )
    done += f"and a point p = {say(k, points)} of the shape"
    parent = ""
    if level >= 3 and not instance.split and (level == 5 or shape.chance(0.6)):
        parent = instance.attach()
    if level >= 3 and isinstance(p, Var):
        done += _deformed(r, p)
    world = k.let("world x placed_p", instance.place(level, p))
    scale = f" scaled by {instance.fields.say('scale')}" if instance.scale is not None else ""
    done += f": w = p{scale}, rotated and then moved by the instance.{parent}"
    if level >= 2:
        for form in shape.sample(("wind", "view", "ground"), 2 if level >= 4 else 1):
            done += _after(r, form, world)
    done += r.gets("world_points placed points_out", world, "w")
    if level > 3 or (level == 3 and shape.chance(0.6)):
        done += _oriented(r, level, instance)
    done += _culled(r, level, world) if level >= 4 else ""
    return Title(k.name("place_instances instance_points expand_instances stamp_shape"), done)


def _deformed(r: Rig, p: Var) -> str:
    """A bend or taper of the shape before it is placed."""
    k, form = r.k, r.k.draw.shape.choice(("taper", "bend", "flip"))
    rate = given(r, f"{form} {form}_rate", r.scalar, 0.2, 0.7, first=2, shared=2, literal=1)
    up, text = k.draw.shape.integer(0, 2), say(k, rate)
    if form == "taper":
        k.augment(p, "mul", 1.0 - rate * p[up])
        return f", p first multiplied by 1 - {text} * p[{up}]"
    if form == "bend":
        side = (up + 1) % 3
        k.set(p, side, p[side] + rate * p[up] * p[up])
        return f", {text} * p[{up}]^2 first added to p[{side}]"
    with k.if_(p[up] < 0.0):
        k.augment(p, "mul", rate)
    return f", p first multiplied by {text} where p[{up}] < 0"


def _after(r: Rig, form: str, world: Var) -> str:
    k = r.k
    if form == "wind":
        wind = given(r, "wind offset", r.vec, -0.5, 0.5)
        k.augment(world, "add", wind)
        return f" {say(k, wind)} is added."
    if form == "view":
        view = k.scalar("view world_to_cam", r.pose, -1.0, 1.0, init="unit")
        k.assign(world, fn("transform_point", view, world))
        return f" Then w goes through the transform {view.name}."
    ground = k.scalar("ground floor_z", r.scalar, -0.6, -0.1)
    up = k.draw.shape.integer(0, 2)
    k.set(world, up, most(world[up], ground))
    return f" w[{up}] is raised to {ground.name} where it is lower."


def _oriented(r: Rig, level: int, instance: Instance) -> str:
    """Normals turn with the instance, divided by its scale along each axis; and light on them."""
    k = r.k
    n = given(r, "normal", r.vec, init="unit", last=1)
    text = say(k, n)
    if instance.scaling == "three" and instance.scale is not None:
        n = k.let("stretched unscaled", unit(fn("cw_div", n, instance.scale)))
        text = f"normalize({text} / scale, by components)"
    turned = k.let("n normal", fn("quat_rotate", instance.rotation, n))
    done = f" n is {text}, rotated by the instance."
    stored = level == 3 or k.draw.shape.chance(0.5)
    if stored:
        done += r.gets("world_normals normals_out", turned, "n")
    return done if stored and level < 5 else done + _lit(r, turned)


def _lit(r: Rig, n: Var) -> str:
    """Light from one direction, and the colour of the instance."""
    k = r.k
    light = k.scalar("light sun", r.vec, init="unit")
    ambient = k.scalar("ambient base_light", r.scalar, 0.1, 0.4)
    form, facing, text = k.draw.shape.integer(0, 2), dot(n, light), f"dot(n, {light.name})"
    facing = (most(facing, 0.0), 0.5 * facing + 0.5, abs(facing))[form]
    text = (f"max({text}, 0)", f"(0.5 * {text} + 0.5)", f"|{text}|")[form]
    shade = k.let("shade diffuse lit", ambient + (1.0 - ambient) * facing)
    text = f"{say(k, ambient)} + (1 - {say(k, ambient)}) * {text}"
    if k.draw.shape.chance(0.3):
        return r.gets("shades brightness", shade, text)
    tint = given(r, "tint color", r.vec, 0.1, 1.0, first=3, shared=1)
    return r.gets("shaded rgb vertex_colors", shade * tint, f"{say(k, tint)} * ({text})")


def _culled(r: Rig, level: int, world: Var) -> str:
    """Which points lie within a radius, or before a plane."""
    k, shape = r.k, r.k.draw.shape
    if shape.chance(0.5):
        eye = k.scalar("eye camera center", r.vec, -1.0, 1.0)
        reach = k.lift(constant(k, 2.2, 3.0), r.scalar)
        inside: Expr = fn("length", world - eye) < reach
        text = f"|w - {eye.name}| < {say(k, reach)}"
    else:
        normal = given(r, "plane_normal clip_normal", r.vec, init="unit", forms=SETTING)
        inside, text = dot(normal, world) > 0.0, f"dot({say(k, normal)}, w) > 0"
        if level >= 5 and shape.chance(0.1):
            shown = flag(r, "visible enabled")
            inside, text = op("and", shown.value, inside), f"{shown.on} and {text}"
    if shape.chance(0.5):
        return r.gets("kept inside flags", inside, f"whether {text}")
    return r.gets("codes marks flags", as_flag(inside, INT32), f"1 where {text}, else 0")


@dataclass(frozen=True)
class Pair:
    """A source point, its partner, the partner's normal and weight or none; and their names."""

    source: Expr
    target: Expr
    normal: Expr | None
    weight: Expr | None
    text: str
    weight_text: str


def _pair(r: Rig, level: int) -> Pair:
    """Where the two points of a pair come from."""
    k, shape = r.k, r.k.draw.shape
    planes, matched = shape.chance(0.45), level >= 2 and shape.chance(0.4)
    source = given(r, "source scan", r.vec, -1.5, 1.5, last=1)
    (last,) = r.axes("last") if r.rank > 1 else (0,)
    dims, at, number = r.dims[last], r.at[last], ""
    if matched:
        k.size("c", 12, 20)
        ids = given(r, "nearest match", INT32, init="index_of:c", last=1, many="nearest matches")
        dims, at, number = "c", k.let("partner j_near match", ids), f" at {say(k, ids)}"
    whole = shape.chance(0.25 + 0.06 * level) and (planes or level > 1)
    parts = {"point": Part("point", r.vec, -1.5, 1.5, many="target model fixed_points")}
    if planes:
        parts["normal"] = Part("normal", r.vec, init="unit", many="normals target_normals")
    elif whole:
        parts["weight"] = Part("weight", r.scalar, 0.2, 1.5)
    items = Items(k, "Surfel Anchor", parts, dims, float(whole))
    found, said = items.at(at), items.said
    text = f"{say(k, source)} and {said['point']}{number}"
    text += f" (normals in {said['normal']})" if planes else ""
    weight, weight_text = found.get("weight"), said.get("weight", "")
    return Pair(source, found["point"], found.get("normal"), weight, text, weight_text)


@idiom(depth=3)
def point_registration(k: KernelBuilder, level: int) -> Title:
    """Residuals between moved points and their partners, robust weights, costs and gradients."""
    shape = k.draw.shape
    r = rig(k, "i tid p", single=0.7, list=2, batch=4)
    ways = {"shared": 1} if r.rank == 1 else {"first": 4, "each": 1}
    pose = given(r, "pose estimate", r.pose, -0.5, 0.5, init="unit", forms=ways)
    # The pose that all threads share would be inverted once, on the host.
    inverse = r.rank > 1 and shape.chance(0.25)
    pair = _pair(r, level)
    p = pair.source
    if level > 1 or shape.chance(0.5):
        p = k.let("p src x", p)
    done = "Evaluate a registration" + (" to planes" if pair.normal is not None else "")
    done += f": of the pairs of points p and g in {pair.text}, p moved by "
    done += f"{'the inverse of ' if inverse else ''}{say(k, pose)} is y."
    if inverse:
        pose = maybe(k, "to_model inv", fn("transform_inverse", pose), 0.6)
    y = k.let("y moved q", fn("transform_point", pose, p))
    gap = k.let("gap diff e", y - pair.target)
    if pair.normal is not None:
        n = k.let("n nrm", pair.normal)
        fit = Fit(r, level, y, gap, n, k.let("res dist residual", dot(n, gap)))
        done += " The residual s is dot(n, y - g)"
    else:
        fit = Fit(r, level, y, gap)
        done += " The residual e is y - g"
    if level >= 2:
        names = "icp_terms robust_registration registration_terms"
        return Title(k.name(names), f"{done}{fit.weighted(pair)}.")
    return _residual(fit, done)


def _residual(fit: Fit, done: str) -> Title:
    """Level 1 of :func:`point_registration`: the residual, its size or its square."""
    r, gap = fit.r, fit.gap
    names = "point_residuals icp_residuals"
    choices: tuple[tuple[Expr, str, str], ...] = (
        (gap, "e", "residuals errors"),
        (fn("length_sq", gap), "|e|^2", "squared_errors sq_residuals"),
        (fn("length", gap), "|e|", "distances point_distances"),
        (0.5 * dot(gap, gap), "dot(e, e) / 2", "costs energies"),
    )
    if fit.res is not None:
        names = "plane_residuals icp_residuals"
        choices = (
            (fit.res, "s", "residuals signed_distances"),
            (fit.res * fit.res, "s * s", "squared_errors sq_residuals"),
            (abs(fit.res), "|s|", "distances plane_distances"),
        )
    value, text, outs = r.k.draw.shape.choice(choices)
    return Title(r.k.name(names), f"{done}.{r.gets(outs, value, text)}")


_LOSSES = Shelf()
_LOSSES.add("cauchy", "w", lambda r2, c: 1.0 / (1.0 + r2 / (c * c)))
_LOSSES.add("welsch", "w", lambda r2, c: exp(-(r2 / (c * c))))
_LOSSES.add("huber", "w", lambda r2, c: c / most(sqrt(r2), c))


@_LOSSES.formula("w")
def _tukey(body: BodyBuilder, r2: Expr, c: Expr) -> Expr:
    inside = body.let("part inside", most(1.0 - r2 / (c * c), 0.0))
    return inside * inside


@_LOSSES.formula("w")
def _german(body: BodyBuilder, r2: Expr, c: Expr) -> Expr:
    base = body.let("base den", 1.0 + maybe(body, "ratio rel", r2 / (c * c)))
    return 1.0 / (base * base)


@dataclass
class Fit:
    """A moved point and its residual, as a vector, and along a normal where there is one."""

    r: Rig
    level: int
    y: Var
    gap: Var
    n: Var | None = None
    res: Var | None = None

    def weighted(self, pair: Pair) -> str:
        """The weight of a robust loss, costs, gradients and sums."""
        r, k, level, shape = self.r, self.r.k, self.level, self.r.k.draw.shape
        size = self.res * self.res if self.res is not None else dot(self.gap, self.gap)
        square = k.let("r2 sq err_sq", size)
        low, high = (0.8, 1.6) if self.res is None else (0.5, 1.1)
        width = k.scalar("robust_width scale_c", r.scalar, low, high)
        loss = shape.choice(_LOSSES.cards)
        args = {"r2": square, "c": width}
        names, doc = f"robust_weight {loss.name}_weight", "Weight of a residual, by its square."
        w = k.let("w weight_r robust", applied(k, 0.6 * (level >= 3), names, args, loss.build, doc))
        done = f"; r2 is its square, and w = {loss.said({'r2': 'r2', 'c': width.name})}"
        trust = pair.weight
        if trust is None and level >= 3 and shape.chance(0.5):
            many = "confidence match_weights"
            trust = given(r, "confidence", r.scalar, 0.2, 1.5, last=1, many=many)
        if trust is not None:
            k.augment(w, "mul", trust)
            done += f", times {pair.weight_text or say(k, trust)}"
        if level >= 3 and shape.chance(0.6):
            done += self.gated(square, w)
        cost = w * square
        if level >= 4 or shape.chance(0.5):
            done += f". {r.put('weighted_sq irls_costs', cost).name} gets w * r2"
        else:
            done += f". {r.put('weights_out robust_w', w).name} gets w"
        done += self.gradient(w) if level >= 3 else ""
        return done + (self.summed(cost) if level >= 5 else "")

    def gated(self, square: Var, w: Var) -> str:
        """Residuals that do not count: large ones, or those of unset flags."""
        k = self.r.k
        if k.draw.shape.chance(0.5):
            test = flag(self.r, "valid overlaps")
            left_out, text = test.unless, test.off
        else:
            low, high = (1.0, 5.0) if self.res is None else (0.2, 1.8)
            reach = k.scalar("max_sq gate_sq", self.r.scalar, low, high)
            left_out, text = square > reach, f"r2 > {say(k, reach)}"
        with k.if_(left_out):
            k.assign(w, 0.0)
        return f", 0 where {text}"

    def gradient(self, w: Var) -> str:
        """The gradient with respect to a small turn and shift, as six numbers or two vectors."""
        r, k = self.r, self.r.k
        force, text = w * self.gap, "w * e"
        if self.n is not None and self.res is not None:
            force, text = w * self.res * self.n, "w * s * n"
        push = k.let("push grad_t", force)
        turn = fn("cross", self.y, push)
        form = k.draw.shape.choice(("six", "six", "two", "turn"))
        if form == "six":
            out = r.put("gradients grad_terms rhs_terms", six(r, turn, push))
            return f", {out.name} gets (cross(y, f), f) with f = {text}"
        done = f", {r.put('turn_grads rot_grads', turn).name} gets cross(y, f) with f = {text}"
        if form == "two":
            done += f", {r.put('shift_grads move_grads', push).name} gets f"
        return done

    def summed(self, cost: Expr) -> str:
        """The cost of each candidate, added up over its points by all threads."""
        r, k, many = self.r, self.r.k, self.r.rank > 1
        total = k.accumulator("total_cost cost_sum", r.scalar, r.dims[0] if many else "1")
        k.atomic("add", total, r.at[0] if many else 0, cost)
        each = "each candidate's" if many else "the one"
        return f", and all w * r2 are added atomically to {each} element of {total.name}"
