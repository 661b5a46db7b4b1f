"""Every type that the tree knows, in arrays of one to four dimensions and by value, end to end."""

from __future__ import annotations

import pytest

from generators.build import KernelBuilder, cast, field, fn, make
from generators.build.draw import Draw
from generators.program.dtypes import (
    SCALARS,
    Mat,
    Quat,
    Scalar,
    Transform,
    Type,
    Vec,
    parse_type,
    scalar_of,
)
from generators.program.expr import Expr, op
from generators.program.ir import FieldInit, Program
from synth.dataset.settings import Versions, make_settings
from synth.rows.maker import PairMaker, Row, accept
from validate.host.runner import HostRunner
from validate.row.schema import check_row

COMPOSITES = (
    *("vec2[float32]", "vec3[float64]", "vec4[float16]", "vec5[float32]", "vec3[int32]"),
    *("vec2[uint8]", "mat2x2[float32]", "mat3x3[float64]", "mat4x4[float32]", "mat2x3[float32]"),
    *("mat3x4[float64]", "quat[float32]", "quat[float64]", "transform[float32]"),
)
SYMBOLS = ("n", "m", "p", "q")


def _changed(value: Expr) -> Expr:
    """Another value of the same type that no trivial kernel gets right."""
    type_ = value.type
    if isinstance(type_, Transform):
        return value * value
    if isinstance(type_, Quat):
        return fn("normalize", value * value)
    if type_ == Scalar("bool"):
        return op("not", value)
    if isinstance(type_, Scalar) and type_.is_int:
        return (value + 3) ^ 5
    return 1.5 * value if scalar_of(type_).is_float else value + value


def _range(type_: Type) -> dict[str, object]:
    if isinstance(type_, Quat):
        return {"init": "unit"}
    if isinstance(type_, Transform):
        return {"init": "unit", "low": -1.0, "high": 1.0}
    if scalar_of(type_).name == "bool":
        return {}
    return {"low": -2.0, "high": 2.0} if scalar_of(type_).is_float else {"low": 0, "high": 50}


def _array_program(type_: Type, ndim: int) -> Program:
    k = KernelBuilder(Draw(5, "types", ndim, 0))
    low, high = {1: (40, 60), 2: (6, 8), 3: (4, 4), 4: (3, 3)}[ndim]
    symbols = [k.size(s, low, high) for s in SYMBOLS[:ndim]]
    a = k.array("a", type_, symbols, **_range(type_))  # type: ignore[arg-type]
    out = k.out("out", type_, symbols)
    threads = k.thread(*symbols)
    k.store(out, threads, _changed(a[threads]))
    return k.program("types", 1, k.name("change_elements"), "Change every element of an array.")


def _value_program(type_: Type) -> Program:
    k = KernelBuilder(Draw(6, "types", 0, 0))
    n = k.size("n", 40, 60)
    scalar = scalar_of(type_)
    p = k.scalar("p", type_, **_range(type_))  # type: ignore[arg-type]
    a = k.array("a", Scalar("float32"), n, low=1.0, high=2.0)
    out = k.out("out", Scalar("float32"), n)
    (i,) = k.thread(n)
    part: Expr = p if isinstance(type_, Scalar) else p[(0, 1) if isinstance(type_, Mat) else 1]
    if scalar.name == "bool":
        value: Expr = op("where", op("ne", part, a[i] > 1.5), a[i], -a[i])
    else:
        value = a[i] * (0.5 + cast(part, Scalar("float32")))
    k.store(out, i, value)
    return k.program("types", 1, k.name("use_value"), "Use a parameter that is passed by value.")


def _struct_program() -> Program:
    k = KernelBuilder(Draw(7, "types", 0, 0))
    f32, v3, u8 = Scalar("float32"), Vec(3, Scalar("float32")), Scalar("uint8")
    body = k.struct("Body", ("flag", u8), ("place", v3), ("heavy", Scalar("float64")))
    fields = (
        FieldInit("flag", u8, "uniform", "0", "9"),
        FieldInit("place", v3, "uniform", "-1.0", "1.0"),
        FieldInit("heavy", Scalar("float64"), "uniform", "1.0", "2.0"),
    )
    n = k.size("n", 40, 60)
    bodies = k.array("bodies", body, n, fields=fields)
    extra = k.scalar("extra", body, fields=fields)
    moved = k.out("moved", body, n)
    (i,) = k.thread(n)
    b = k.let("b", bodies[i])
    place = k.let("place", field(b, "place"))
    k.set(place, 1, place[0] * place[2] + 0.5)
    k.set(place, 2, 0.25, op="add")
    heavier = field(b, "heavy") * field(extra, "heavy")
    near = cast(fn("dot", place, field(extra, "place")), Scalar("float64"))
    flag = field(b, "flag") + field(extra, "flag")
    k.store(moved, i, make(body, flag, place, heavier + near))
    assert f32 == scalar_of(v3)
    return k.program("types", 1, k.name("move_bodies"), "Move bodies and make them heavier.")


def _programs() -> list[Program]:
    scalars: list[Type] = [Scalar(name) for name in SCALARS]
    composites = [parse_type(text) for text in COMPOSITES]
    arrays = [_array_program(t, 1 + k % 4) for k, t in enumerate([*scalars, *composites])]
    arrays += [_array_program(Scalar("float32"), ndim) for ndim in (1, 2, 3, 4)]
    values = [_value_program(t) for t in [*scalars, *composites] if not isinstance(t, Transform)]
    return [*arrays, *values, _struct_program()]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    accepted = [accept(p, 0, 0) for p in _programs()]
    return PairMaker(make_settings(verify="text"), Versions.installed()).rows(accepted)


def test_rows_of_every_type_fit_the_schema(rows: list[Row]) -> None:
    assert [problem for row in rows for problem in check_row(row)] == []


def test_rows_of_every_type_run_and_agree(rows: list[Row]) -> None:
    with HostRunner() as runner:
        results = runner.run(rows)
    bad = [
        ([a["dtype"] for a in row["args"]], result.status, result.reason)
        for row, result in zip(rows, results, strict=True)
        if result.status != "agrees"
    ]
    assert bad == []
