"""Plain CUDA on a GPU: each row's program printed without Warp, compiled, launched and compared.

Run on a machine with a GPU: python scripts/gpu_plain_check.py DATASET. Needs NumPy, PyArrow and
CuPy; neither Warp nor `datasets`. Each row runs at its three shapes, in the schedule drawn for it,
and must agree with the reference. One process, no isolation: a check of the renderer only.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cupy as cp
import numpy as np
import pyarrow.parquet as pq
from cupy_backends.cuda.libs import nvrtc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from generators.dtypes import Array, Quat, Scalar, Struct, Transform, Type, Vec, scalar_of
from generators.ir import Program
from generators.serialise import from_json
from synth.cuda_types import computed, is_builtin_vector
from synth.render_cuda import Plain, render
from validate.compare import measure
from validate.inputs import draw_inputs
from validate.reference import run_reference
from validate.sizes import awkward_sizes, evaluate, evaluate_all

CUDA_INCLUDE = ("/usr/local/cuda/include",)


def alignment(type_: Type) -> int:
    """What C++ aligns a type to: ``float2`` and ``float4`` to all their bytes."""
    if isinstance(type_, Struct):
        return max(alignment(t) for _, t in type_.fields)
    size = scalar_of(type_).bits // 8
    if is_builtin_vector(type_) and isinstance(type_, Vec) and type_.size in (2, 4):
        return min(16, size * type_.size)
    return size


def bytes_of(type_: Type) -> int:
    if isinstance(type_, Struct):
        return layout(type_).itemsize
    count = {Quat: 4, Transform: 7}.get(type(type_)) or int(np.prod(getattr(type_, "shape", ())))
    return count * (scalar_of(type_).bits // 8)


def layout(struct: Struct) -> np.dtype[Any]:
    """The struct as the plain text lays it out."""
    offset, offsets, formats = 0, [], []
    for _, t in struct.fields:
        offset += -offset % alignment(t)
        offsets.append(offset)
        shape = {Quat: (4,), Transform: (7,)}.get(type(t)) or getattr(t, "shape", ())
        formats.append((np.dtype(scalar_of(t).name), shape))
        offset += bytes_of(t)
    names = [name for name, _ in struct.fields]
    size = offset + -offset % alignment(struct)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": size})


def as_plain(values: Any, type_: Type) -> Any:
    """Values of a struct in the layout of the plain text; all others as they are."""
    if not isinstance(type_, Struct):
        return np.ascontiguousarray(values)
    laid = np.zeros(np.shape(values), layout(type_))
    for name in laid.dtype.names or ():
        laid[name] = values[name]
    return laid


def from_plain(laid: Any, like: Any, type_: Type) -> Any:
    if not isinstance(type_, Struct):
        return laid
    values = np.zeros(like.shape, like.dtype)
    for name in like.dtype.names:
        values[name] = laid[name]
    return values


def by_value(value: Any, type_: Type) -> Any:
    """A parameter as CuPy passes it: float16 is computed in float, composites go as bytes."""
    if isinstance(type_, Struct):
        return as_plain(value, type_)
    held = np.asarray(value, np.dtype(scalar_of(computed(type_)).name))
    if isinstance(type_, Scalar):
        return held[()]
    packed = np.zeros((), np.dtype([("c", held.dtype, held.shape)]))
    packed["c"] = held
    return packed


def compiled(text: str, arch: str) -> bytes | str:
    """The machine code of one text, or the compiler's log."""
    program = nvrtc.createProgram(text, "plain.cu", [], [])
    options = ("-std=c++17", arch, *(f"-I{p}" for p in CUDA_INCLUDE))
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        return str(nvrtc.getProgramLog(program))
    binary: bytes = nvrtc.getCUBIN(program)
    return binary


def launch_of(plain: Plain, values: Mapping[str, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Grid and block; the grid's formulas are sums, products and quotients of named sizes."""
    code = [formula.replace("/", "//") for formula in plain.launch["grid"]]
    grid = tuple(int(eval(c, {"__builtins__": {}}, dict(values))) for c in code)
    return grid, tuple(plain.launch["block"])


def run_row(row: Mapping[str, Any], program: Program, plain: Plain, function: Any) -> str:
    """``agrees`` or what went wrong."""
    types = {p.name: p.type for p in program.kernel.params}
    for sizes in awkward_sizes(row["sizes"]):
        inputs = draw_inputs(row["args"], sizes, row["input_seed"])
        dim = tuple(evaluate_all(row["launch"]["dim"], sizes))
        buffers: dict[str, tuple[Any, Any]] = {}
        values: list[Any] = []
        for arg, param in zip(row["args"], program.kernel.params, strict=True):
            type_ = types[arg["name"]]
            if isinstance(type_, Array):
                host = as_plain(inputs[arg["name"]], type_.element)
                buffer = cp.asarray(np.frombuffer(host.tobytes(), np.uint8))
                buffers[arg["name"]] = (buffer, host)
                values.append(np.uint64(buffer.data.ptr))
            else:
                values.append(by_value(inputs[param.name], type_))
        values += [np.int32(evaluate(symbol, sizes)) for symbol in plain.sizes.values()]
        named = {name: evaluate(symbol, sizes) for name, symbol in plain.sizes.items()}
        named |= {
            written["name"]: int(inputs[arg["name"]])
            for arg, written in zip(row["args"], plain.args, strict=False)
            if "size:" in arg["init"]
        }
        grid, block = launch_of(plain, named)
        function(grid, block, tuple(values))
        cp.cuda.runtime.deviceSynchronize()
        wanted = run_reference(row["reference"], row["kernel_name"], row["args"], dim, inputs)
        for arg in row["args"]:
            if arg["name"] not in buffers or arg["role"] == "in":
                continue
            buffer, host = buffers[arg["name"]]
            got = np.frombuffer(cp.asnumpy(buffer).tobytes(), host.dtype).reshape(host.shape)
            type_ = types[arg["name"]]
            assert isinstance(type_, Array)
            back = from_plain(got, inputs[arg["name"]], type_.element)
            found = measure(back, wanted[arg["name"]], arg["rtol"], arg["atol"])
            if found.mismatch is not None:
                return f"{arg['name']} at {sizes}: {found.mismatch}"
    return "agrees"


def rendered(text: str) -> Plain:
    return render(from_json(text))


def compiled_of(job: tuple[str, str]) -> tuple[Plain, bytes | str]:
    plain = rendered(job[0])
    return plain, compiled(plain.text, job[1])


def main(folder: Path) -> int:
    rows = [r for p in sorted(folder.glob("[tv]*/*.parquet")) for r in pq.read_table(p).to_pylist()]
    device = cp.cuda.runtime.getDeviceProperties(0)
    arch = f"-arch=sm_{device['major']}{device['minor']}"
    print(f"{device['name'].decode()}, CuPy {cp.__version__}, {len(rows)} rows")
    began = time.perf_counter()
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        made = list(pool.map(compiled_of, [(r["program"], arch) for r in rows], chunksize=8))
    print(f"rendered and compiled in {time.perf_counter() - began:.1f} s")
    outcomes: Counter[str] = Counter()
    for row, (plain, binary) in zip(rows, made, strict=True):
        if isinstance(binary, str):
            outcome = f"compile_error: {binary.splitlines()[:1]}"
        else:
            module = cp.cuda.function.Module()
            module.load(binary)
            function = module.get_function(row["kernel_name"])
            outcome = run_row(row, from_json(row["program"]), plain, function)
        style = plain.schedule.style
        outcomes[f"{style}: {'agrees' if outcome == 'agrees' else 'fails'}"] += 1
        if outcome != "agrees":
            print(row["id"], row["category"], row["idiom"], row["level"], style, outcome[:300])
    print(dict(outcomes))
    return 0 if not any("fails" in name for name in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
