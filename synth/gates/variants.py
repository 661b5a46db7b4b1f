"""The variants of a program's inputs, laid out in lanes and array memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from generators.build.draw import Stream
from generators.program.dtypes import FLOATS, Array, Struct, Type, scalar_of
from generators.program.expr import Cast
from generators.program.ir import Param, Program, TiledKernel
from generators.program.walk import bodies, expressions
from synth.gates.contract import args_of, element_type
from synth.gates.evaluate import Evaluation, thread_indices
from synth.gates.lanes.memory import ArrayMemory, component_first
from synth.gates.lanes.values import Lanes, Values
from synth.gates.tiles import TiledEvaluation, TileLanes
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate as evaluate_size

MAX_THREADS = 1024
_REDRAWS = 4


def is_redrawn(param: Param) -> bool:
    """Whether the parameter's values can change, so that they must change some output."""
    fixed = param.init.startswith("size:") or param.init == "reduction_identity"
    return param.role != "out" and not fixed


def prepare(
    program: Program,
    sizes: Mapping[str, int],
    redraw: bool = True,
    nudge: bool = True,
    given: Mapping[str, Values] | None = None,
    kind: type[Evaluation] = Evaluation,
) -> Evaluation:
    """An evaluation of the program at these sizes, ready to run; ``redraw`` adds those variants.

    ``given``: inputs in place of those that are drawn, as :func:`draw_inputs` lays them out.
    Without ``nudge`` none is moved: ties are exact. ``kind`` evaluates what has no tiles.

    ``ValueError`` when the launch has more than 1,024 threads: an idiom chose its sizes badly.
    """
    dims = tuple(evaluate_size(d, sizes) for d in program.kernel.launch_dim)
    if prod(dims) > MAX_THREADS:
        raise ValueError(f"{program.idiom} launches {prod(dims)} threads at {dict(sizes)}")
    redrawn = [p.name for p in program.kernel.params if redraw and is_redrawn(p)]
    lanes = _lanes(program, prod(dims), len(redrawn))
    args = args_of(program)
    drawn = draw_inputs(args, sizes, program.input_seed) if given is None else given
    redraws = _redraws([a for a in args if a["name"] in redrawn], drawn, sizes, program.input_seed)
    memories: dict[str, ArrayMemory] = {}
    scalars: dict[str, Any] = {}
    for param in program.kernel.params:
        own = drawn[param.name]
        moved = nudged(own) if nudge and param.role != "out" else own
        variants = [own, own, moved, own, own]
        variants += [redraws[name] if name == param.name else own for name in redrawn]
        if isinstance(param.type, Array):
            shape = own.shape[: param.type.ndim]
            memory = ArrayMemory(param.name, element_type(param), shape, param.role, lanes)
            memory.fill(variants)
            memories[param.name] = memory
        else:
            scalars[param.name] = _spread(variants, param.type, lanes.threads)
    names = program.kernel.threads
    scalars.update(zip(names, thread_indices(dims, lanes), strict=True))
    return _kind(program, kind)(program, lanes, memories, scalars)


def _kind(program: Program, kind: type[Evaluation]) -> type[Evaluation]:
    return TiledEvaluation if isinstance(program.kernel, TiledKernel) else kind


def _lanes(program: Program, threads: int, redrawn: int) -> Lanes:
    kind = TileLanes if isinstance(program.kernel, TiledKernel) else Lanes
    return kind(threads, redrawn, _has_narrow_floats(program))


def _redraws(
    args: Sequence[Mapping[str, Any]],
    drawn: Mapping[str, Values],
    sizes: Mapping[str, int],
    input_seed: int,
) -> dict[str, Values]:
    return {a["name"]: _redrawn(a, drawn[a["name"]], sizes, input_seed) for a in args}


def _redrawn(
    arg: Mapping[str, Any], own: Values, sizes: Mapping[str, int], input_seed: int
) -> Values:
    """Other values of an argument; a small range may give its own back, so a few are tried."""
    stream = Stream(f"{input_seed}/redrawn")
    for _ in range(_REDRAWS):
        other = draw_inputs([arg], sizes, stream.bits64() >> 1)[arg["name"]]
        if (other != own).any():
            break
    return other


def nudged(values: Values) -> Values:
    """Float values moved by one unit in the last place, up and down in turn."""
    if values.dtype.names is not None:
        result = values.copy()
        for name in values.dtype.names:
            result[name] = nudged(values[name])
        return result
    if values.dtype.kind != "f":
        return values
    goal = np.where(np.arange(values.size).reshape(values.shape) % 2, np.inf, -np.inf)
    return np.nextafter(values, goal.astype(values.dtype))


def _spread(variants: list[Values], type_: Type, threads: int) -> Any:
    """A by-value parameter's variants, each repeated for every thread."""
    if isinstance(type_, Struct):
        return {
            name: _spread([v[name] for v in variants], field_type, threads)
            for name, field_type in type_.fields
        }
    blocks = [component_first(v[np.newaxis, ...], 1, type_) for v in variants]
    return np.repeat(np.concatenate(blocks, axis=-1), threads, axis=-1)


def _has_narrow_floats(program: Program) -> bool:
    """Whether anything is rounded to a float narrower than float64 (or there are no floats)."""
    found = set().union(*(_scalars(p.type) for p in program.kernel.params))
    for body in bodies(program):
        found |= {e.type.name for e in expressions(body) if isinstance(e, Cast)}
    return bool(found & set(FLOATS[:2])) or "float64" not in found


def _scalars(type_: Type) -> set[str]:
    if isinstance(type_, Array):
        return _scalars(type_.element)
    if isinstance(type_, Struct):
        return set().union(*(_scalars(t) for _, t in type_.fields))
    return {scalar_of(type_).name}
