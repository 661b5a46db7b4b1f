"""The two renderers of Python say the same: every op, statement and type, run and compared."""

from __future__ import annotations

import itertools
import linecache
import math
import random
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from generators.program import ir
from generators.program.dtypes import (
    BOOL,
    FLOAT32,
    INT32,
    SCALARS,
    Array,
    Mat,
    Quat,
    Scalar,
    Struct,
    Transform,
    Type,
    Vec,
    scalar_of,
)
from generators.program.expr import (
    Call,
    Cast,
    Const,
    Construct,
    Expr,
    Field,
    Load,
    Var,
    literal,
    op,
)
from generators.program.ops import ATOMICS, OPS
from scripts.measure.edges.op_programs import I, N, array, op_cases, op_program, program, var
from synth.codegen.translator import Translator
from synth.render import warp as render_warp
from synth.render.cuda import module as render_cuda
from synth.render.reference import module as render_reference
from synth.render.reference.ops import REFERENCE_ATOMICS, REFERENCE_OPS
from synth.render.warp import WARP_ATOMICS, WARP_OPS

wp = pytest.importorskip("warp")

UINT32 = Scalar("uint32")
VEC3 = Vec(3, FLOAT32)
MAT22 = Mat(2, 2, FLOAT32)
QUAT = Quat(FLOAT32)
TRANSFORM = Transform(FLOAT32)


def scalar(name: str, type_: Type) -> ir.Param:
    return ir.Param(name, type_, "in")


def f32(value: float) -> Const:
    return literal(value, FLOAT32)


def values(t: Type, domain: str, rng: np.random.Generator, count: int) -> np.ndarray[Any, Any]:
    """Inputs of a type that satisfy a domain, in Warp's storage."""
    s = scalar_of(t)
    shape = (count, *getattr(t, "shape", ()))
    if s == BOOL:
        return rng.random(shape) < 0.5
    if s.is_int:
        low, high = {"shift": (0, 3), "positive": (1, 9), "nonnegative": (0, 9)}.get(
            domain, (0 if s.is_unsigned else -5, 5)
        )
        if s.is_unsigned and not domain:
            high = s.int_range[1]
        return rng.integers(low, high, shape, dtype=s.name, endpoint=True)
    ranges = {
        "unit": (-0.9, 0.9),
        "inside_one": (-0.95, 0.95),
        "inside_two": (0.05, 1.95),
        "nonzero": (0.5, 2.0),
        "positive": (0.5, 2.0),
    }
    low, high = ranges.get(domain, (0.1 if domain == "nonnegative" else -2.0, 2.0))
    drawn = rng.uniform(low, high, shape)
    if isinstance(t, Quat) or domain == "unit_length":
        drawn /= np.linalg.norm(drawn, axis=-1, keepdims=True)
    if isinstance(t, Transform):
        drawn[:, 3:] /= np.linalg.norm(drawn[:, 3:], axis=-1, keepdims=True)
    if domain == "rotation":
        drawn = np.linalg.qr(drawn)[0]
        drawn *= np.sign(np.linalg.det(drawn))[:, None, None]
    elif isinstance(t, Mat) and t.rows == t.cols:
        drawn += 2.5 * t.rows * np.eye(t.rows)
    return drawn.astype(s.name)


def reference_values(stored: Any, t: Type) -> Any:
    if isinstance(t, Scalar) or not scalar_of(t).is_float:
        return stored.astype(object)
    return stored.astype(np.float64)


# Running both texts


def warp_namespace(text: str, name: str, shared: str) -> dict[str, Any]:
    """Import a text into a Warp module that all texts of one test share: they compile together."""
    module = sys.modules.setdefault(f"render_{shared}", types.ModuleType(f"render_{shared}"))
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": module.__name__}
    # The text must not inherit this file's ``annotations`` future.
    exec(compile(text, name, "exec", dont_inherit=True), namespace)
    wp.get_module(module.__name__).options["enable_backward"] = False
    return namespace


def reference_function(p: ir.Program) -> tuple[Callable[..., None], dict[str, Any]]:
    namespace: dict[str, Any] = {}
    exec(render_reference.render(p), namespace)
    return namespace[p.kernel.name], namespace


def warp_type(t: Type, namespace: dict[str, Any]) -> Any:
    s = getattr(wp, str(scalar_of(t)))
    if isinstance(t, Vec):
        return wp.types.vector(length=t.size, dtype=s)
    if isinstance(t, Mat):
        return wp.types.matrix(shape=t.shape, dtype=s)
    if isinstance(t, Quat | Transform):
        suffix = {"float16": "h", "float32": "f", "float64": "d"}[t.scalar.name]
        return getattr(wp, f"{type(t).__name__.lower()}{suffix}")
    return s


TOLERANCE = {"float16": 0.02, "float32": 2e-5, "float64": 1e-12}


def assert_close(got: Any, want: Any, t: Type, what: str) -> None:
    name = scalar_of(t).name
    if name in TOLERANCE:
        bound = TOLERANCE[name]
        want = np.asarray(want, dtype=np.float64)
        close = np.abs(got.astype(np.float64) - want) <= bound * (1.0 + np.abs(want))
        assert close.all(), f"{what}: {got} {want}"
    else:
        assert (got == np.asarray(want.tolist(), dtype=name)).all(), f"{what}: {got} {want}"


def launch(p: ir.Program, namespace: dict[str, Any], inputs: dict[str, Any], dim: Any) -> Any:
    """Run the kernel; arrays come back as NumPy arrays."""
    args: list[Any] = []
    for param in p.kernel.params:
        stored = inputs[param.name]
        if isinstance(param.type, Array) and not isinstance(param.type.element, Struct):
            dtype = warp_type(param.type.element, namespace)
            stored = wp.array(stored, dtype=dtype, ndim=param.type.ndim, device="cpu")
        elif isinstance(param.type, Vec):
            stored = warp_type(param.type, namespace)(*stored)
        args.append(stored)
    wp.launch(namespace[p.kernel.name], dim=dim, inputs=args, device="cpu", block_dim=1)
    return {
        q.name: a.numpy() for q, a in zip(p.kernel.params, args, strict=True) if hasattr(a, "numpy")
    }


def compare(p: ir.Program, namespace: dict[str, Any], seed: int) -> None:
    """Draw inputs, run both texts, and compare every array."""
    rng = np.random.default_rng(seed)
    dim = tuple({"n": N}.get(d) or int(d) for d in p.kernel.launch_dim)
    stored, given = {}, []
    name, _, index = p.kernel.name.rpartition("_")
    domains = OPS[name].domain if index.isdigit() and name in OPS else ()
    for k, param in enumerate(p.kernel.params):
        domain = domains[k] if k < len(domains) else ""
        t = param.type.element if isinstance(param.type, Array) else param.type
        count = int(np.prod([{"n": N}.get(d) or int(d) for d in param.shape]))
        drawn = values(t, domain or param.init, rng, count)
        if name == "lower_bound" and k == 0:
            drawn = np.sort(drawn)
        if name == "smoothstep" and k < 2:
            drawn = np.abs(drawn) * 0.2 + np.array(2 * k, drawn.dtype)
        if isinstance(param.type, Array):
            shape = tuple({"n": N}.get(d) or int(d) for d in param.shape)
            drawn = drawn.reshape(*shape, *drawn.shape[1:])
            given.append(reference_values(drawn.copy(), t))
        else:
            drawn = drawn[0]
            given.append(drawn.item() if isinstance(t, Scalar) else drawn.astype(np.float64))
        stored[param.name] = drawn
    reference_function(p)[0](dim, *given)
    results = launch(p, namespace, stored, dim)
    for param, want in zip(p.kernel.params, given, strict=True):
        if isinstance(param.type, Array):
            what = f"{p.kernel.name}.{param.name}\n{render_warp.render(p)}"
            assert_close(results[param.name], want, param.type.element, what)


@pytest.fixture(scope="module")
def op_programs() -> list[ir.Program]:
    return [op_program(name, choice, k) for k, (name, choice) in enumerate(op_cases())]


def test_tables_hold_every_op() -> None:
    assert WARP_OPS.keys() == REFERENCE_OPS.keys() == OPS.keys()
    assert WARP_ATOMICS.keys() == REFERENCE_ATOMICS.keys() == ATOMICS.keys()


def test_every_op_means_the_same_in_warp(op_programs: list[ir.Program]) -> None:
    assert {p.kernel.name.rpartition("_")[0] for p in op_programs} == set(OPS)
    namespaces = [
        warp_namespace(render_warp.render(p), f"<{p.kernel.name}>", "ops") for p in op_programs
    ]
    for k, (p, namespace) in enumerate(zip(op_programs, namespaces, strict=True)):
        compare(p, namespace, k)


# Programs: statements, by hand


PARTICLE = Struct("Particle", (("position", VEC3), ("mass", FLOAT32), ("kind", INT32)))


def statements_program() -> ir.Program:
    """Every statement but atomics, literals that loops change, and two helper functions."""
    x, idx = array("x", FLOAT32), array("idx", INT32)
    out, n = array("out", FLOAT32, "inout"), scalar("n", INT32)
    u, limit, s = Var("u", FLOAT32), Var("limit", FLOAT32), Var("s", FLOAT32)
    k, steps, flag = Var("k", INT32), Var("steps", INT32), Var("flag", BOOL)
    soft = ir.Function(
        "soft_clamp",
        (u, limit),
        FLOAT32,
        (
            ir.If(((u > limit, (ir.Return(limit),)),), ()),
            ir.Return(u / (f32(1.0) + op("abs", u))),
        ),
        "Clamp from above, softly below.",
    )
    load = Load(var(x), (I,), FLOAT32)
    body = [
        ir.Comment("Sum what is left of the row."),
        ir.Assign("s", f32(0.0)),
        ir.Assign("steps", literal(3, INT32)),
        ir.Assign("flag", literal(False, BOOL)),
        ir.For(
            "k",
            literal(0, INT32),
            var(n) + 5,
            1,
            (
                ir.If(
                    ((k > 6, (ir.Break(),)), (op("eq", k, literal(2, INT32)), (ir.Continue(),))), ()
                ),
                ir.AugAssign("s", "add", load * Cast(k, FLOAT32)),
                ir.AugAssign("steps", "add", literal(1, INT32)),
                ir.Assign("flag", op("not", flag)),
            ),
        ),
        ir.While(
            steps > 1,
            (ir.AugAssign("steps", "sub", literal(1, INT32)), ir.AugAssign("s", "mul", f32(0.5))),
        ),
        ir.For(
            "k",
            literal(9, INT32),
            literal(1, INT32),
            -3,
            (ir.AugAssign("s", "add", Cast(k, FLOAT32)),),
        ),
        ir.For("k", literal(1, INT32), literal(4, INT32), 1, (ir.AugAssign("s", "div", f32(1.5)),)),
        ir.If(
            (
                (
                    op("and", flag, s > 1.0),
                    (ir.Store(var(out), (I,), "", Call("soft_clamp", (s, f32(2.0)), FLOAT32)),),
                ),
                (op("or", op("not", flag), s < -1.0), (ir.Store(var(out), (I,), "add", s),)),
            ),
            (ir.Store(var(out), (I,), "sub", load), ir.Return(None)),
        ),
        ir.Store(
            var(out),
            (op("mod", op("abs", var(idx)[I]) + I, literal(N, INT32)) * 0 + I,),
            "add",
            s - (load - 1.0),
        ),
    ]
    return program("statements", [x, idx, out, n], body, functions=(soft,), doc="All statements.")


def alias_program() -> ir.Program:
    """Composites are values: a change of one never shows under another name."""
    p, q, t = array("pos", VEC3, "inout"), array("rot", QUAT), array("frames", TRANSFORM, "inout")
    m, out, shift = array("m", MAT22), array("out", FLOAT32, "out"), scalar("shift", VEC3)
    a, b, c, w = (Var(name, VEC3) for name in "abcw")
    tf, mm = Var("tf", TRANSFORM), Var("mm", MAT22)
    moved = ir.Function(
        "moved",
        (w,),
        VEC3,
        (ir.SetComponent("w", (literal(0, INT32),), "add", f32(1.0)), ir.Return(w)),
    )
    same = ir.Function("same", (w,), VEC3, (ir.Return(w),))
    body = [
        ir.Assign("a", var(p)[I]),
        ir.Assign("b", a),
        ir.SetComponent("a", (literal(1, INT32),), "", f32(7.0)),
        ir.Store(var(p), (I,), "", b * 2.0),
        ir.Assign("c", Call("moved", (b,), VEC3)),
        ir.Assign("d", Call("same", (a,), VEC3)),
        ir.AugAssign("a", "mul", f32(3.0)),
        ir.AugAssign("a", "add", Construct((f32(0.0),), VEC3)),
        ir.AugAssign("a", "sub", Construct((f32(0.25),), VEC3)),
        ir.Assign("twos", Construct((literal(2, UINT32),), Vec(2, UINT32))),
        ir.SetComponent("twos", (literal(1, INT32),), "sub", literal(5, UINT32)),
        ir.AugAssign("twos", "mul", literal(3, UINT32)),
        ir.Assign("halves", Construct((f32(0.5),), MAT22) * var(m)[I]),
        ir.AugAssign("a", "add", b + c + var(shift)),
        ir.SetComponent("shift", (literal(2, INT32),), "mul", f32(2.0)),
        ir.Assign("tf", Construct((a, var(q)[I]), TRANSFORM)),
        ir.AugAssign("tf", "mul", var(t)[I]),
        ir.Assign("r", var(q)[I]),
        ir.AugAssign("r", "mul", var(q)[0]),
        ir.Assign("mm", op("where", a[0] > 1.0, var(m)[I], var(m)[0])),
        ir.AugAssign("mm", "mul", var(m)[I]),
        ir.SetComponent("mm", (literal(0, INT32), literal(1, INT32)), "sub", f32(1.0)),
        ir.Store(var(t), (I,), "", tf),
        ir.AugAssign("a", "sub", op("transform_get_translation", tf)),
        ir.Store(
            var(out),
            (I,),
            "",
            a[0]
            + b[1]
            + c[0]
            + mm[0, 1]
            + tf[1]
            + Var("r", QUAT)[3]
            + var(shift)[2]
            + Var("d", VEC3)[1]
            + Var("halves", MAT22)[0, 1]
            + Cast(Var("twos", Vec(2, UINT32))[1], FLOAT32),
        ),
    ]
    return program("aliases", [p, q, t, m, out, shift], body, functions=(moved, same))


def atomics_program() -> ir.Program:
    total, low, high = (array(name, FLOAT32, "inout") for name in ("total", "low", "high"))
    bits, ored, flips = (array(name, UINT32, "inout") for name in ("bits", "ored", "flips"))
    wide, vecs, x = (
        array("wide", UINT32, "inout"),
        array("vecs", VEC3, "inout"),
        array("x", FLOAT32),
    )
    u, v = array("u", UINT32), array("v", VEC3)
    at = (op("mod", I, literal(3, INT32)),)
    body = [
        ir.Atomic("add", var(total), at, var(x)[I]),
        ir.Atomic("sub", var(total), at, var(x)[I] * 0.5),
        ir.Atomic("min", var(low), at, var(x)[I]),
        ir.Atomic("max", var(high), at, var(x)[I]),
        ir.Atomic("and", var(bits), at, var(u)[I]),
        ir.Atomic("or", var(ored), at, var(u)[I]),
        ir.Atomic("xor", var(flips), at, var(u)[I]),
        ir.Atomic("add", var(wide), at, var(u)[I] * 2654435769),
        ir.Atomic("add", var(vecs), at, var(v)[I]),
        ir.Atomic("max", var(vecs), at, var(v)[I]),
    ]
    return program("atomics", [total, low, high, bits, ored, flips, wide, vecs, x, u, v], body)


def casts_program(layout: ir.Layout, name: str) -> ir.Program:
    """Literals and casts of all scalar types, and a hash that wraps."""
    outs = [array(f"o_{s}", Scalar(s), "out") for s in SCALARS]
    x, h = array("x", FLOAT32), Var("h", UINT32)
    seven = {s: True if s == "bool" else "7.25" if s.startswith("float") else 7 for s in SCALARS}
    body: list[ir.Statement] = [
        ir.Assign("h", Cast(I, UINT32) * 747796405 + 2891336453),
        ir.Assign("h", ((h >> (h >> 28)) ^ h) * 277803737 - 5),
        ir.AugAssign("h", "mul", literal(2246822519, UINT32)),
        ir.Assign("h", op("where", op("lt", op("invert", h), -h), h, h << literal(3, UINT32))),
    ]
    for o in outs:
        t = scalar_of(o.type.element) if isinstance(o.type, Array) else BOOL
        value: Expr = Const(seven[t.name], t)
        if t.is_float:
            value = value + Cast(var(x)[I], t) + Cast(h >> 24, t) * Const("1e-3", t)
        elif t.is_unsigned:
            value = Cast(h, t) - value
        elif t.is_int:
            value = value + Cast(var(x)[I] * 9.0, t) - Const(-2, t)
        else:
            value = op("eq", op("ne", value, Cast(I, BOOL)), var(x)[I] > 0.0)
        body.append(ir.Store(var(o), (I,), "", value))
    return program(name, [x, *outs], body, layout=layout)


def grid_program(ndim: int) -> ir.Program:
    threads = ("i", "j", "k", "l")[:ndim]
    x, out = array("x", FLOAT32, "in", ndim), array("out", FLOAT32, "out", ndim)
    at = tuple(Var(name, INT32) for name in threads)
    total = Load(var(x), at, FLOAT32)
    for t in at:
        total = total + Cast(t, FLOAT32)  # type: ignore[assignment]
    body = [ir.Store(var(out), at, "", total)]
    layout = ir.Layout(("array", "array2d", "bracket")[ndim % 3], ndim % 2 == 0)
    return program(f"grid{ndim}", [x, out], body, threads=threads, layout=layout)


def pi_program(type_: Scalar) -> ir.Program:
    """Multiples of pi as literals, alone and in a product."""
    x, out = array("x", type_), array("out", type_, "out")
    total = Load(var(x), (I,), type_)
    for factor in (0.5, 1.0, 2.0, 4.0, 3.0):
        total = total * literal(factor * math.pi, type_)  # type: ignore[assignment]
    body = [ir.Store(var(out), (I,), "", total / literal(100.0, type_))]
    return program(f"pi_{type_.name}", [x, out], body)


def struct_program() -> ir.Program:
    """Arrays of structs, a struct by value, fields, and composites with aliases."""
    ps, out = array("ps", PARTICLE, "inout"), array("out", FLOAT32, "out")
    wind, p, q = scalar("wind", PARTICLE), Var("p", PARTICLE), Var("q", PARTICLE)
    v, wide, tall = Var("v", VEC3), Mat(2, 3, FLOAT32), Mat(3, 2, FLOAT32)
    zero, one = literal(0, INT32), literal(1, INT32)
    mass = Field(p, "mass", FLOAT32)
    position = Field(p, "position", VEC3)
    rows = Construct(tuple(position[k] for k in (0, 1, 2, 2, 1, 0)), wide)
    fives = Construct(tuple(f32(k) for k in range(5)), Vec(5, FLOAT32))
    whole = Construct((literal(2, UINT32), Cast(I, UINT32)), Vec(2, UINT32))
    body = [
        ir.Assign("p", Load(var(ps), (I,), PARTICLE)),
        ir.Assign("q", p),
        ir.Assign("v", position),
        ir.SetComponent("v", (one,), "sub", Field(var(wind), "mass", FLOAT32)),
        ir.SetField("p", PARTICLE, "mass", mass * 2.0 + v[1]),
        ir.SetField("p", PARTICLE, "position", v),
        ir.SetComponent("v", (zero,), "", f32(9.0)),
        ir.Assign("m", rows * op("transpose", rows)),
        ir.Assign("w", whole * literal(3, UINT32) - whole),
        ir.Store(var(ps), (I,), "", p),
        ir.Assign("s", Construct((v, mass, Field(q, "kind", INT32) + 1), PARTICLE)),
        ir.SetField("s", PARTICLE, "mass", f32(1.0)),
        ir.If(((I > 4, (ir.Store(var(ps), (I,), "", Var("s", PARTICLE)),)),), ()),
        ir.Store(
            var(out),
            (I,),
            "",
            mass
            + Field(q, "mass", FLOAT32)
            + Field(q, "position", VEC3)[1]
            + Var("m", MAT22)[0, 1]
            + op("dot", fives, fives)
            + op("transpose", rows)[2, 1]
            + Cast(Var("w", Vec(2, UINT32))[1], FLOAT32),
        ),
    ]
    assert op("transpose", rows).type == tall
    return program("structs", [ps, out, wind], body, structs=(PARTICLE,))


def hand_programs() -> list[ir.Program]:
    styles = ("array", "array2d", "bracket")
    layouts = [ir.Layout(style, short) for style in styles for short in (False, True)]
    return [
        statements_program(),
        replace(
            statements_program(),
            kernel=replace(statements_program().kernel, name="short_statements"),
            layout=layouts[1],
        ),
        alias_program(),
        atomics_program(),
        *(casts_program(layout, f"casts{k}") for k, layout in enumerate(layouts[:3])),
        *(grid_program(ndim) for ndim in range(1, 5)),
        *(pi_program(Scalar(name)) for name in ("float32", "float64")),
    ]


def test_statements_mean_the_same_in_warp() -> None:
    programs = hand_programs()
    namespaces = [
        warp_namespace(render_warp.render(p), f"<{p.kernel.name}>", "hand") for p in programs
    ]
    for k, (p, namespace) in enumerate(zip(programs, namespaces, strict=True)):
        compare(p, namespace, k)


def test_pi_is_written_by_name() -> None:
    single, double = (pi_program(Scalar(name)) for name in ("float32", "float64"))
    text = render_warp.render(single)
    assert "(0.5 * wp.pi) * wp.pi * (2.0 * wp.pi) * (4.0 * wp.pi)" in text
    assert "9.42477796076938" in text
    text = render_warp.render(double)
    assert "* wp.float64(wp.pi)\n        * wp.float64(6.283185307179586)" in text
    assert "(2.0 * math.pi)" in render_reference.render(double)
    assert "* 3.14159265f *" in render_cuda.render(single).text


def test_helpers_give_way_to_the_names_of_a_program() -> None:
    tf, out, p = array("lerp", TRANSFORM), array("out", VEC3, "out"), array("p", VEC3)
    body = [ir.Store(var(out), (I,), "", op("transform_point", var(tf)[I], var(p)[I]))]
    prog = program("transform_point", [tf, p, out], body, doc="Named as a helper is.")
    compare(prog, warp_namespace(render_warp.render(prog), "<clash>", "clash"), 3)


def test_a_name_that_hides_a_builtin_is_refused() -> None:
    out = array("out", FLOAT32, "out")
    body = [ir.Assign("max", f32(1.0)), ir.Store(var(out), (I,), "", f32(1.0))]
    with pytest.raises(ValueError, match="max"):
        render_reference.render(program("hides", [out], body))


def test_warp_generates_cuda_for_every_text(op_programs: list[ir.Program]) -> None:
    programs = [*hand_programs(), struct_program(), *op_programs[::7]]
    translator = Translator(backward=True)
    for p in programs:
        cuda = translator.translate(render_warp.render(p), p.kernel.name)
        assert f"{p.kernel.name}_cuda_kernel_forward" in cuda


def test_array_styles_give_the_same_cuda() -> None:
    translator = Translator(backward=True)
    makers = (alias_program, struct_program, lambda: grid_program(3))
    for make, short in itertools.product(makers, (False, True)):
        texts = set()
        for style in ("array", "array2d", "bracket"):
            p = replace(make(), layout=ir.Layout(style, short))
            cuda = translator.translate(render_warp.render(p), p.kernel.name)
            texts.add("\n".join(line.split("//")[0].rstrip() for line in cuda.split("\n")))
        assert len(texts) == 1


def test_structs_mean_the_same_in_warp() -> None:
    p = struct_program()
    text = render_warp.render(p)
    namespace = warp_namespace(text, "<structs>", "structs")
    particle = namespace["Particle"]
    rng = np.random.default_rng(5)
    stored = np.zeros(N, dtype=particle.numpy_dtype())
    stored["position"] = rng.uniform(-2.0, 2.0, (N, 3))
    stored["mass"], stored["kind"] = rng.uniform(0.5, 2.0, N), np.arange(N)
    wind = particle()
    wind.position, wind.mass, wind.kind = wp.vec3(1.0, 2.0, 3.0), 1.5, 2
    ps = wp.array(stored, dtype=particle, device="cpu")
    out = wp.zeros(N, dtype=wp.float32, device="cpu")
    wp.launch(namespace["structs"], dim=N, inputs=[ps, out, wind], device="cpu", block_dim=1)

    function, names = reference_function(p)

    def instance(row: Any) -> Any:
        position = np.asarray(row["position"], dtype=np.float64)
        return names["Particle"](position=position, mass=float(row["mass"]), kind=int(row["kind"]))

    expected = np.array([instance(row) for row in stored], dtype=object)
    want = np.zeros(N, dtype=object)
    blow = names["Particle"](position=np.array([1.0, 2.0, 3.0]), mass=1.5, kind=2)
    function((N,), expected, want, blow)
    assert_close(out.numpy(), want, FLOAT32, text)
    for field, t in PARTICLE.fields:
        wanted = np.array([getattr(e, field) for e in expected], dtype=object)
        assert_close(ps.numpy()[field], wanted, t, text)


# Formatting


class LongExpressions:
    """Random float expressions, long enough to need more than one line."""

    names = ("density", "x", "temperature_left", "k", "velocity_gradient", "rest_length", "w")

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def draw(self, depth: int) -> Expr:
        pick = self.rng.random()
        if depth == 0 or pick < 0.1:
            if self.rng.random() < 0.3:
                return Load(Var("samples", Array(FLOAT32, 1)), (self.index(),), FLOAT32)
            return Var(self.rng.choice(self.names), FLOAT32)
        if pick < 0.65:
            left, right = self.draw(depth - 1), self.draw(depth - 1)
            return op(self.rng.choice(("add", "sub", "mul", "div")), left, right)
        if pick < 0.7:
            return op("neg", self.draw(depth - 1))
        if pick < 0.75:
            return op("where", self.condition(1), self.draw(depth - 1), self.draw(depth - 1))
        name = self.rng.choice(("sin", "exp", "min", "max", "clamp", "atan2", "pow"))
        return op(name, *(self.draw(depth - 1) for _ in range(OPS[name].arity)))

    def index(self) -> Expr:
        return self.rng.choice((I, I + 1, I * 3 + literal(2, INT32)))

    def condition(self, depth: int) -> Expr:
        if depth == 0:
            return op(self.rng.choice(("lt", "ge")), self.draw(2), self.draw(1))
        if self.rng.random() < 0.2:
            return op("not", self.condition(depth - 1))
        name = self.rng.choice(("and", "or"))
        return op(name, self.condition(depth - 1), self.condition(depth - 1))

    def statement(self) -> ir.Statement:
        samples = Var("samples", Array(FLOAT32, 1))
        value = self.draw(self.rng.choice((2, 3, 3, 4)))
        return self.rng.choice(
            (
                ir.Assign("total_force", value),
                ir.AugAssign("total_force", "add", value),
                ir.Store(samples, (self.index(),), "", value),
                ir.Atomic("add", samples, (self.index(),), value),
                ir.Return(value),
                ir.If(
                    ((self.condition(self.rng.choice((0, 1, 2))), (ir.Assign("x", value),)),), ()
                ),
            )
        )


def long_program(seed: int) -> ir.Program:
    draw = LongExpressions(seed)
    params = [array("samples", FLOAT32, "inout"), *(scalar(n, FLOAT32) for n in draw.names)]
    body = [draw.statement() for _ in range(8)]
    return program(f"long_{seed}", params, body, doc="Long lines.")


@pytest.fixture(scope="module")
def ruff() -> str:
    found = shutil.which("ruff") or shutil.which("ruff", path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip("ruff is not installed")
    return found


def test_formatters_leave_the_texts_unchanged(
    ruff: str, tmp_path: Path, op_programs: list[ir.Program]
) -> None:
    programs = [*op_programs, *hand_programs(), struct_program(), *map(long_program, range(60))]
    for p in programs:
        (tmp_path / f"warp_{p.kernel.name}.py").write_text(render_warp.render(p))
        (tmp_path / f"reference_{p.kernel.name}.py").write_text(render_reference.render(p))
    command = [ruff, "format", "--isolated", "--line-length", "100", "--diff", "--quiet", "."]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:5000] + done.stderr


def test_documents_and_comments_wrap() -> None:
    words = " ".join(f"word{k}" for k in range(40))
    out = array("out", FLOAT32, "out")
    store = ir.Store(var(out), (I,), "", f32(1.0))
    p = program("wrapped", [out], [ir.Comment(words), store], doc=words)
    for text in (render_warp.render(p), render_reference.render(p)):
        assert max(map(len, text.split("\n"))) <= 100
        compile(text, "<wrapped>", "exec")
