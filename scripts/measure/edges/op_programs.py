"""Programs of one op each, for every op of the tables and the types that it takes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from generators.program import ir
from generators.program.dtypes import (
    BOOL,
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
    parse_type,
    scalar_of,
)
from generators.program.expr import Cast, Expr, Op, Var, op
from generators.program.op_spec import VARIADIC
from generators.program.ops import ATOMICS, OPS
from generators.program.samplers import SAMPLERS, STATE
from generators.program.signatures import OpTypeError

N = 16
"""Elements of the arrays, unless it is said otherwise."""

_COMPOSITES = """
    vec2[float64] vec3[float32] vec3[float16] vec3[float64] vec5[float32] vec3[int32] vec2[uint8]
    mat2x2[float32] mat3x3[float64] mat4x4[float32] mat2x3[float32] mat3x2[float32] mat2x2[int32]
    quat[float32] quat[float64] transform[float32] transform[float64] vec6[float32] vec6[float64]
"""
POOL: list[Type] = [*(Scalar(name) for name in SCALARS), *map(parse_type, _COMPOSITES.split())]
NULLARY: dict[str, type] = {"identity": Mat, "quat_identity": Quat, "transform_identity": Transform}

I = Var("i", INT32)  # noqa: E741


def program(
    name: str,
    params: Sequence[ir.Param],
    body: Sequence[ir.Statement],
    *,
    threads: tuple[str, ...] = ("i",),
    doc: str = "",
    functions: tuple[ir.Function, ...] = (),
    structs: tuple[Struct, ...] = (),
    layout: ir.Layout | None = None,
) -> ir.Program:
    """A program of no category over ``n`` elements, and two along each further dimension."""
    dims = ("n", "2", "2", "2")[: len(threads)]
    kernel = ir.Kernel(name, tuple(params), threads, dims, tuple(body), doc)
    sizes = (ir.Size("n", N),)
    return ir.Program(
        "test", "test", 1, "", structs, functions, kernel, sizes, 1, layout or ir.Layout()
    )


def array(name: str, element: Type, role: str = "in", ndim: int = 1) -> ir.Param:
    """An array parameter of ``n`` elements."""
    return ir.Param(name, Array(element, ndim), role, ("n", "2", "2", "2")[:ndim])


def var(param: ir.Param) -> Var:
    return Var(param.name, param.type)


def _has_identity(t: Type) -> bool:
    return not isinstance(t, Mat) or (t.rows == t.cols and t.scalar.is_float)


def op_cases(pool: Sequence[Type] = POOL) -> list[tuple[str, tuple[Type, ...]]]:
    """Each op with the types of its arguments, of those in a pool."""
    cases = []
    for name, spec in OPS.items():
        if name in NULLARY:
            cases += [(name, (t,)) for t in pool if type(t) is NULLARY[name] and _has_identity(t)]
            continue
        if name == "lower_bound":
            cases += [(name, (t, t)) for t in pool if isinstance(t, Scalar) and t != BOOL]
            continue
        arity = 2 if spec.arity == VARIADIC else spec.arity
        for choice in itertools.product(pool, repeat=arity):
            if arity == 3 and choice[1] != choice[0] != choice[2] != choice[1]:
                continue
            try:
                spec.result(choice)
            except OpTypeError:
                continue
            # Warp takes the length of float vectors only.
            if name != "length" or scalar_of(choice[0]).is_float:
                cases.append((name, choice))
    return cases


def op_program(name: str, choice: tuple[Type, ...], index: int) -> ir.Program:
    """An op applied to elements of arrays."""
    params = [array(f"a{k}", t) for k, t in enumerate(choice)]
    value: Expr
    if name in NULLARY:
        value = op("mul", var(params[0])[I], Op(name, (), choice[0]))
    elif name == "lower_bound":
        value = op(name, var(params[0]), var(params[1])[I])
    else:
        value = op(name, *(var(p)[I] for p in params))
    out = array("out", value.type, "out")
    styles = ("array", "array2d", "bracket")
    layout = ir.Layout(styles[index % 3], index % 2 == 0)
    body = [ir.Store(var(out), (I,), "", value)]
    return program(f"{name}_{index}", [*params, out], body, layout=layout)


@dataclass(frozen=True)
class OneOp:
    """A program of one op, by the op's name in the tables: ``cast`` and ``atomic_add`` too."""

    op: str
    types: tuple[Type, ...]
    program: ir.Program


def all_programs(pool: Sequence[Type] = POOL) -> list[OneOp]:
    """A program for each op, cast, atomic and sampler, and the types of a pool that it takes."""
    found = [*_casts(pool), *_atomics(pool), *_samplers()]
    cases = op_cases(pool)
    named = [
        OneOp(name, types, op_program(name, types, k)) for k, (name, types) in enumerate(cases)
    ]
    return [*named, *found]


def _casts(pool: Sequence[Type]) -> Iterator[OneOp]:
    scalars = [t for t in pool if isinstance(t, Scalar)]
    for k, (source, target) in enumerate(itertools.permutations(scalars, 2)):
        if (source.name, target.name) == ("float16", "bool"):
            continue  # Warp's own header makes this cast ambiguous.
        given, out = array("a0", source), array("out", target, "out")
        body = [ir.Store(var(out), (I,), "", Cast(var(given)[I], target))]
        yield OneOp("cast", (source, target), program(f"cast_{k}", [given, out], body))


def _atomics(pool: Sequence[Type]) -> Iterator[OneOp]:
    """Each thread updates an element of its own: what is stored there, with what it is given."""
    # Warp has no least of two quaternions or transforms, and programs update none atomically.
    simple = [t for t in pool if isinstance(t, Scalar | Vec)]
    for k, (name, t) in enumerate(itertools.product(ATOMICS, simple)):
        target, given, expected = array("a0", t, "inout"), array("a1", t), array("a2", t)
        compare = var(expected)[I] if name == "cas" else None
        try:
            body = [ir.Atomic(name, var(target), (I,), var(given)[I], compare)]
        except TypeError:
            continue
        params = [target, given, *([expected] if compare else [])]
        yield OneOp(
            f"atomic_{name}", (t,) * len(params), program(f"atomic_{name}_{k}", params, body)
        )


def _samplers() -> Iterator[OneOp]:
    for name, (choices, result) in SAMPLERS.items():
        for k, types in enumerate(choices):
            params = [array(f"a{n}", t) for n, t in enumerate((STATE, *types))]
            out, state = array("out", result, "out"), Var("state", STATE)
            args = tuple(var(p)[I] for p in params[1:])
            body = [
                ir.Assign("state", var(params[0])[I]),
                ir.Sample("drawn", name, state, args),
                ir.Store(var(out), (I,), "", Var("drawn", result)),
            ]
            yield OneOp(name, (STATE, *types), program(f"{name}_{k}", [*params, out], body))
