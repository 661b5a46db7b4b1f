"""A program as a Warp module: what a person would write, formatted as ``ruff format`` leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from generators.program import expr, ir
from generators.program.dtypes import (
    Array,
    Mat,
    Quat,
    Scalar,
    Struct,
    Tile,
    Transform,
    Type,
    Vec,
    scalar_of,
)
from synth.render.doc import ATOM, Doc, Prec, attribute, binary, call
from synth.render.python_walk import Printer, PythonRenderer, bitwise, infix, unary
from synth.render.text import (
    changed,
    constant_text,
    docstring,
    is_literal,
    nested,
    number,
    pi_text,
    signature,
)
from synth.render.warp_tiles import TilePrinters, module_options


def loop_variables(body: ir.Body) -> set[int]:
    """Assignments of a literal, by id, to variables that a loop changes later.

    Warp takes a plain literal for a constant and refuses to change it in a loop, so these must be
    written ``float(0.0)``.
    """
    found: set[int] = set()
    _scan(body, {}, found)
    return found


def _scan(body: ir.Body, literals: dict[str, int], found: set[int]) -> None:
    """Walk a body with the variables that hold a literal at each point."""
    for statement in body:
        if isinstance(statement, ir.Assign):
            literals.pop(statement.name, None)
            if is_literal(statement.value):
                literals[statement.name] = id(statement)
        elif isinstance(statement, ir.AugAssign):
            literals.pop(statement.name, None)
        elif isinstance(statement, ir.For | ir.While):
            for name in changed(statement.body) & literals.keys():
                found.add(literals.pop(name))
            _scan(statement.body, literals, found)
        elif isinstance(statement, ir.If):
            for branch in nested((statement,)):
                _scan(branch, dict(literals), found)
            for name in changed((statement,)) & literals.keys():
                del literals[name]


_SUFFIXES = {
    "bool": "bool",
    "int8": "b",
    "int16": "s",
    "int32": "i",
    "int64": "l",
    "uint8": "ub",
    "uint16": "us",
    "uint32": "ui",
    "uint64": "ul",
    "float16": "h",
    "float32": "",
    "float64": "d",
}
_SHORT = {"float32": "float", "int32": "int", "bool": "bool"}


def _builtin(name: str) -> Printer:
    head = f"wp.{name}"
    return lambda _, args, node: call(head, args)


def _product(_: object, args: Sequence[Doc], node: expr.Op) -> Doc:
    matrix = isinstance(node.args[0].type, Mat) and isinstance(node.args[1].type, Mat | Vec)
    return binary("@" if matrix else "*", Prec.MUL, args[0], args[1])


def _identity(renderer: _Warp, _: Sequence[Doc], node: expr.Op) -> Doc:
    assert isinstance(node.type, Mat)
    size, dtype = f"n={node.type.rows}", f"dtype={renderer.type(node.type.scalar)}"
    return call("wp.identity", [Doc(size), Doc(dtype)])


def _typed(name: str) -> Printer:
    """A builtin that must be told of any other type than float32."""

    def show(renderer: _Warp, _: Sequence[Doc], node: expr.Op) -> Doc:
        scalar = scalar_of(node.type)
        given = [] if scalar.name == "float32" else [Doc(f"dtype={renderer.type(scalar)}")]
        return call(f"wp.{name}", given)

    return show


_BUILTINS = """
    where min max clamp abs sign floor ceil rint trunc sqrt cbrt exp log log2 log10 pow
    sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc degrees radians lerp smoothstep
    dot cross length length_sq normalize cw_mul cw_div outer skew diag transpose trace ddot
    determinant inverse quat_from_axis_angle quat_inverse quat_rotate quat_rotate_inv
    quat_to_matrix transform_point transform_vector transform_inverse
    transform_get_translation transform_get_rotation
    round frac step nonzero copysign bit_count erfinv erfcinv argmin argmax
    norm_l1 norm_l2 norm_huber norm_pseudo_huber smooth_normalize get_diag
    matrix_from_rows matrix_from_cols lower_bound rand_init
    quat_from_matrix quat_rpy quat_to_rpy quat_slerp quat_twist quat_twist_angle
    quat_twist_angle_signed transform_multiply transform_to_matrix transform_compose
    spatial_vector spatial_dot spatial_cross spatial_cross_dual spatial_top spatial_bottom
    spatial_adjoint transform_twist transform_wrench velocity_at_point
"""
WARP_OPS: dict[str, Printer] = {
    "add": infix("+", Prec.ADD),
    "sub": infix("-", Prec.ADD),
    "mul": _product,
    "div": infix("/", Prec.MUL),
    "floordiv": infix("//", Prec.MUL),
    "mod": infix("%", Prec.MUL),
    "neg": unary("-", Prec.UNARY),
    "bit_and": bitwise("&", Prec.BIT_AND),
    "bit_or": bitwise("|", Prec.BIT_OR),
    "bit_xor": bitwise("^", Prec.BIT_XOR),
    "invert": unary("~", Prec.UNARY),
    "lshift": infix("<<", Prec.SHIFT),
    "rshift": infix(">>", Prec.SHIFT),
    "lt": infix("<", Prec.COMPARE),
    "le": infix("<=", Prec.COMPARE),
    "gt": infix(">", Prec.COMPARE),
    "ge": infix(">=", Prec.COMPARE),
    "eq": infix("==", Prec.COMPARE),
    "ne": infix("!=", Prec.COMPARE),
    "and": infix("and", Prec.AND),
    "or": infix("or", Prec.OR),
    "not": unary("not ", Prec.NOT),
    **{name: _builtin(name) for name in _BUILTINS.split()},
    "min_element": _builtin("min"),
    "max_element": _builtin("max"),
    "identity": _identity,
    "quat_identity": _typed("quat_identity"),
    "transform_identity": _typed("transform_identity"),
}
"""How Warp writes each op of the table."""

WARP_ATOMICS: dict[str, str] = {
    name: f"wp.atomic_{name}"
    for name in ("add", "sub", "min", "max", "and", "or", "xor", "exch", "cas")
}
"""How Warp writes each atomic."""


@lru_cache(maxsize=1024)
def _short_name(type_: Vec | Mat | Quat | Transform) -> tuple[str, str]:
    """Warp's own name of a composite type or ``""``, and the name of an alias for it."""
    suffix = _SUFFIXES[type_.scalar.name]
    has_kinds = type_.scalar.is_float
    if isinstance(type_, Quat | Transform):
        if not has_kinds:
            raise TypeError(f"Warp has no {type_}")
        return f"wp.{type(type_).__name__.lower()}{suffix}", ""
    if isinstance(type_, Vec):
        if type_.size == 6 and has_kinds:
            return f"wp.spatial_vector{suffix}", ""
        name = f"vec{type_.size}{suffix}"
        known = 2 <= type_.size <= 4 and suffix != "bool"
    else:
        if type_.shape == (6, 6) and has_kinds:
            return f"wp.spatial_matrix{suffix}", ""
        name = f"mat{type_.rows}{type_.cols}{suffix}"
        known = type_.rows == type_.cols and 2 <= type_.rows <= 4 and has_kinds
    return (f"wp.{name}", "") if known else ("", name)


@lru_cache(maxsize=4096)
def _literal(value: bool | int | str, scalar: str, bits: bool = False) -> Doc:
    if scalar == "bool":
        return Doc(str(value))
    plain = number(constant_text(value, unsigned=scalar.startswith("u"), bits=bits))
    if (pi := pi_text(value, "wp")) is not None:
        # A product is computed in float32 before it is cast: the other types get pi itself alone.
        plain = pi if scalar == "float32" or pi.kind == ATOM else plain
    return plain if scalar in ("float32", "int32") else call(f"wp.{scalar}", [plain])


class _Warp(PythonRenderer):
    """Prints one program."""

    ops = WARP_OPS

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.aliases: dict[str, str] = {}
        self.variables: set[int] = set()
        tiles = TilePrinters(self)
        self.printers |= tiles.expressions
        self.walkers |= tiles.statements

    def module(self) -> str:
        for struct in self.program.structs:
            self.lines += ["", "", "@wp.struct", f"class {struct.name}:"]
            self.lines += [f"    {name}: {self.type(t)}" for name, t in struct.fields]
        for function in self.program.functions:
            self.function(function)
        self.kernel(self.program.kernel)
        aliases = [f"{name} = {value}" for name, value in sorted(self.aliases.items())]
        if aliases:
            aliases.insert(0, "")
        options = module_options(self.program.kernel)
        return "\n".join(["import warp as wp", *aliases, *options, *self.lines, ""])

    def function(self, function: ir.Function) -> None:
        params = [f"{p.name}: {self.type(p.type)}" for p in function.params]
        self.lines += ["", "", "@wp.func"]
        self.lines += signature(
            f"def {function.name}", params, f" -> {self.type(function.result)}:"
        )
        self.lines += docstring(function.doc, 1)
        self.variables = loop_variables(function.body)
        self.body(function.body, 1)

    def kernel(self, kernel: ir.Kernel) -> None:
        params = [f"{p.name}: {self.type(p.type)}" for p in kernel.params]
        self.lines += ["", "", "@wp.kernel", *signature(f"def {kernel.name}", params, ":")]
        self.lines += docstring(kernel.doc, 1)
        self.lines.append(f"    {', '.join(kernel.threads)} = wp.tid()")
        self.variables = loop_variables(kernel.body)
        self.body(kernel.body, 1)

    def type(self, type_: Type) -> str:
        """The type as an annotation, or as what constructs it."""
        if isinstance(type_, Scalar):
            short = self.program.layout.short_scalars
            return (short and _SHORT.get(type_.name)) or f"wp.{type_.name}"
        if isinstance(type_, Array):
            return self.array(type_)
        if isinstance(type_, Struct):
            return type_.name
        assert not isinstance(type_, Tile), "the shape and the dtype of a tile are said apart"
        name, alias = _short_name(type_)
        if alias:
            scalar = self.type(type_.scalar)
            if isinstance(type_, Vec):
                value = f"wp.types.vector(length={type_.size}, dtype={scalar})"
            else:
                value = f"wp.types.matrix(shape={type_.shape}, dtype={scalar})"
            self.aliases[alias] = value
        return name or alias

    def array(self, type_: Array) -> str:
        element, style = self.type(type_.element), self.program.layout.array_style
        if style == "array":
            ndim = f", ndim={type_.ndim}" if type_.ndim > 1 else ""
            return f"wp.array(dtype={element}{ndim})"
        name = f"wp.array{type_.ndim}d" if type_.ndim > 1 else "wp.array"
        if style == "array2d":
            return f"{name}(dtype={element})"
        if style == "bracket":
            return f"{name}[{element}]"
        raise ValueError(f"no array style {style!r}")

    def const(self, e: expr.Const, bits: bool = False) -> Doc:
        return _literal(e.value, e.type.name, bits)

    def cast(self, e: expr.Cast) -> Doc:
        return call(self.type(e.type), [self.show(e.value)])

    def construct(self, e: expr.Construct) -> Doc:
        return call(self.type(e.type), self.show_all(e.args))

    def assign(self, s: ir.Assign, depth: int) -> None:
        value = self.show(s.value)
        if id(s) in self.variables and str(s.value.type) in _SHORT:
            value = call(self.type(s.value.type), [value])
        self.put(depth, f"{s.name} = ", value)

    def augmented(self, target: Doc, type_: Type, op: str, value: expr.Expr, depth: int) -> None:
        if op == "mul" and isinstance(value.type, Mat):
            self.put(depth, f"{target.text} @= ", self.show(value), "", target)
        else:
            super().augmented(target, type_, op, value, depth)

    def atomic(self, s: ir.Atomic, depth: int) -> None:
        values = [s.value] if s.compare is None else [s.compare, s.value]
        args = [Doc(s.array.name), *self.show_all((*s.indices, *values))]
        self.put(depth, "", call(WARP_ATOMICS[s.op], args))

    def component(self, e: expr.Component) -> Doc:
        if self.program.layout.letters and _has_letters(e):
            return attribute(self.show(e.value), "xyzw"[e.indices[0].value])  # type: ignore[attr-defined]
        return super().component(e)

    def sample(self, s: ir.Sample, depth: int) -> None:
        drawn = call(f"wp.{s.sampler}", self.show_all((s.state, *s.args)))
        self.put(depth, f"{s.name} = ", drawn)


def _has_letters(e: expr.Component) -> bool:
    """Whether people can write the part as ``v.x``."""
    short = isinstance(e.value.type, Quat) or (
        isinstance(e.value.type, Vec) and e.value.type.size <= 4
    )
    return short and isinstance(e.indices[0], expr.Const)


def render(program: ir.Program) -> str:
    """The complete Warp module of a program."""
    return _Warp(program).module()
