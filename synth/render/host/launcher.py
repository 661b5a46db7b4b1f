"""C++ that launches the kernels of a row's plain CUDA on tensors of PyTorch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from synth.render.breaks import TAB, WIDTH
from synth.render.cuda.types import SCALARS
from validate.row.dtypes import parse
from validate.row.sizes import symbols
from validate.text.launches import FORMULA

Row = Mapping[str, Any]

SCALAR_TYPES = {
    "bool": "at::kBool",
    "int8": "at::kChar",
    "int16": "at::kShort",
    "int32": "at::kInt",
    "int64": "at::kLong",
    "uint8": "at::kByte",
    "uint16": "at::kUInt16",
    "uint32": "at::kUInt32",
    "uint64": "at::kUInt64",
    "float16": "at::kHalf",
    "float32": "at::kFloat",
    "float64": "at::kDouble",
}
"""What PyTorch calls the components of arrays; unsigned ones wider than a byte from 2.3 on."""

HEADERS = """#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#include <vector>
"""
"""Of the C++ side: a few of `torch/extension.h`, which takes four times as long to compile."""
DEVICE_HEADERS = """#include <cuda_runtime.h>
#include <cstdint>
"""
CHECK = """static void check(
    const at::Tensor& tensor, at::ScalarType type, const char* name, int64_t alignment = 1)
{
    TORCH_CHECK(tensor.is_cuda(), name, " must be on a GPU");
    TORCH_CHECK(tensor.is_contiguous(), name, " must be contiguous");
    TORCH_CHECK(tensor.scalar_type() == type, name, " must hold ", type);
    TORCH_CHECK(reinterpret_cast<int64_t>(tensor.data_ptr()) % alignment == 0,
        name, " must start at a multiple of ", alignment, " bytes");
}
"""
PACKED = """#include <cstring>

template <typename Value, typename Component>
static Value packed(const Component* components)
{
    Value value;
    std::memcpy(&value, components, sizeof(Value));
    return value;
}
"""
_INCLUDE = re.compile(r"^#include [<\"].*[>\"]\n+", re.MULTILINE)
_ALIGNED = re.compile(r"struct __align__\((\d+)\) (\w+)")
_CAST = re.compile(r"reinterpret_cast<(?:const )?(\w+)\*>\(&?(\w+)")
_SCALAR_BYTES = {"char": 1, "short": 2, "int": 4, "float": 4, "longlong": 8, "double": 8}
_VECTOR = re.compile(rf"u?({'|'.join(_SCALAR_BYTES)})([24])")
_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_FUNCTION = re.compile(
    r"^__device__ [^\n({]*?(\w+)\([^{}]*\)\s*\{(.*?)^\}", re.MULTILINE | re.DOTALL
)


class NoHostSide(Exception):  # noqa: N818 - no error: a row that has none, and why
    """PyTorch has no tensor for an argument of the row."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a launcher: ``type`` and ``name`` in C++, ``given`` what it hands over to the
    CUDA side, where it has the type ``crossing``, ``passed`` what the kernel gets of that;
    ``checked`` is the scalar type of a tensor, ``components`` how many a list has."""

    type: str
    name: str
    given: str
    crossing: str
    passed: str
    checked: str = ""
    components: int = 0


class Launcher:
    """The launcher of one text: ``row`` has its `args` and `plain_` columns."""

    def __init__(self, row: Row, namespace: str) -> None:
        self.row, self.namespace = row, namespace
        self.name = f"launch_{row['kernel_name']}"
        self.params = [
            _parameter(arg, given)
            for arg, given in zip(row["args"], row["plain_args"], strict=False)
        ]
        sizes = {given["size"]: given["name"] for given in row["plain_args"] if given["size"]}
        taken = {given["name"] for given in row["plain_args"]}
        for symbol in sorted(formula_symbols(row) - set(sizes)):
            sizes[symbol] = symbol if symbol not in taken else f"{symbol}_size"
        self.aligned = alignments(row["cuda_plain"], row["plain_args"])
        """Bytes of which arrays have to start at a multiple."""
        self.sizes: dict[str, str] = sizes
        """The parameter that holds each size symbol."""

    def text(self) -> str:
        """The CUDA side: the kernels in a namespace of their own, and what enqueues them."""
        kernels = _INCLUDE.sub("", self.row["cuda_plain"]).strip()
        lines = [f"namespace {self.namespace} {{"]
        lines += [f"using ::{name};" for name in overloaded(kernels)]
        lines += [kernels, f"}}  // namespace {self.namespace}"]
        lines += ["", *self._enqueuing(""), "{", f"    using namespace {self.namespace};"]
        several = len(self.row["plain_launch"]) > 1
        for number, launch in enumerate(self.row["plain_launch"], 1):
            lines += self._launch(launch, f"_{number}" if several else "")
        return "\n".join([*lines, "}"])

    def host_text(self) -> str:
        """The C++ side: what Python calls, with tensors."""
        sizes = [f"int64_t {name}" for name in self.sizes.values()]
        params = [f"{p.type} {p.name}" for p in self.params]
        lines = [*self._enqueuing(";"), ""]
        lines += [*spread(f"void {self.name}", [*params, *sizes], ""), "{"]
        for p in self.params:
            if p.checked:
                bytes_ = self.aligned.get(p.name, 1)
                aligned = f", {bytes_}" if bytes_ > 1 else ""
                lines.append(f'    check({p.name}, {p.checked}, "{p.name}"{aligned});')
            elif p.components:
                wanted = f"{p.name}.size() == {p.components}"
                lines.append(f'    TORCH_CHECK({wanted}, "{p.name} has {p.components} parts");')
        first = next(p.name for p in self.params if p.checked)
        lines.append(f"    const c10::cuda::CUDAGuard {self._free('guard')}({first}.device());")
        lines += [self._scratch(entry, first) for entry in self.row["plain_scratch"]]
        given = [p.given for p in self.params] + list(self.sizes.values())
        given += [f"{entry['name']}.data_ptr()" for entry in self.row["plain_scratch"]]
        stream = "c10::cuda::getCurrentCUDAStream()"
        enqueue = f"    enqueue_{self.row['kernel_name']}"
        lines += spread(enqueue, [*given, stream], ";")
        return "\n".join([*lines, "    C10_CUDA_KERNEL_LAUNCH_CHECK();", "}"])

    def _enqueuing(self, end: str) -> list[str]:
        params = [f"{p.crossing} {p.name}" for p in self.params]
        params += [f"int64_t {name}" for name in self.sizes.values()]
        params += [f"void* {entry['name']}" for entry in self.row["plain_scratch"]]
        head = f"void enqueue_{self.row['kernel_name']}"
        return spread(head, [*params, f"cudaStream_t {self._free('stream')}"], end)

    def _free(self, name: str) -> str:
        """A name of the launcher's own, which no parameter has."""
        taken = {p.name for p in self.params} | set(self.sizes.values())
        taken |= {entry["name"] for entry in self.row["plain_scratch"]}
        while name in taken:
            name += "_"
        return name

    def includes(self) -> list[str]:
        return [line.strip() for line in _INCLUDE.findall(self.row["cuda_plain"])]

    def _launch(self, launch: Row, ending: str) -> list[str]:
        grid = ", ".join(self._said(extent) for extent in launch["grid"])
        block = ", ".join(map(str, launch["block"]))
        grids, blocks = self._free(f"grid{ending}"), self._free(f"block{ending}")
        dims = [f"    const dim3 {grids}({grid}), {blocks}({block});"]
        passed = self._passed(launch)
        kernel = f"{self.namespace}::{launch['kernel']}"
        where = f"{grids}, {blocks}, {launch['shared_bytes']}, {self._free('stream')}"
        some = " && ".join(f"{grids}.{axis} > 0" for axis in "xyz"[: len(launch["grid"])])
        return [
            *dims,
            f"    if ({some}) {{",
            *spread(f"        {kernel}<<<{where}>>>", passed, ";"),
            "    }",
        ]

    def _passed(self, launch: Row) -> list[str]:
        scratch = {e["name"]: _scratch_pointer(e) for e in self.row["plain_scratch"]}
        known = {p.name: p.passed for p in self.params} | scratch
        known |= {
            given["name"]: f"static_cast<int>({given['name']})"
            for given in self.row["plain_args"]
            if given["size"]
        }
        names = launch["args"] or [given["name"] for given in self.row["plain_args"]]
        return [
            f"static_cast<int>({self._said(name.removeprefix(FORMULA))})"
            if name.startswith(FORMULA)
            else known[name]
            for name in names
        ]

    def _scratch(self, entry: Row, first: str) -> str:
        make = "zeros" if entry["init"] == "zero" else "empty"
        dtype = parse(entry["dtype"])
        count = self._said(entry["count"])
        for extent in dtype.shape:
            count = f"({count}) * {extent}"
        options = f"{first}.options().dtype({SCALAR_TYPES[dtype.scalar]})"
        return f"    const at::Tensor {entry['name']} = at::{make}({{{count}}}, {options});"

    def _said(self, formula: str) -> str:
        return _SYMBOL.sub(lambda found: self.sizes.get(found[0], found[0]), str(formula))


def alignments(text: str, args: Sequence[Row]) -> dict[str, int]:
    """Bytes of which each array has to start at a multiple: what the widest type needs as which a
    text loads or stores it. A cast of another pointer asks it of all arrays."""
    structs = {name: int(count) for count, name in _ALIGNED.findall(text)}
    arrays = [arg["name"] for arg in args if arg["type"].endswith("*")]
    found = {
        arg["name"]: _alignment(arg["type"].removeprefix("const ").rstrip("* "), structs)
        for arg in args
        if arg["name"] in arrays
    }
    for kind, name in _CAST.findall(text):
        for array in [name] if name in found else arrays:
            found[array] = max(found[array], _alignment(kind, structs))
    return found


def _alignment(kind: str, structs: Mapping[str, int]) -> int:
    """Of a type in C++: 1 for scalars, which a tensor's own type aligns."""
    vector = _VECTOR.fullmatch(kind)
    if vector is None:
        return structs.get(kind, 1)
    return min(16, _SCALAR_BYTES[vector[1]] * int(vector[2]))


def overloaded(text: str) -> list[str]:
    """CUDA's own functions that a text overloads for vectors: its definitions that call their own
    name. In a namespace they would hide those for numbers."""
    functions = [(found[1], found[2]) for found in _FUNCTION.finditer(text)]
    return sorted({name for name, body in functions if re.search(rf"\b{name}\(", body)})


def spread(head: str, args: Sequence[str], end: str) -> list[str]:
    """``head(args)end`` on one line if it fits, else with one argument a line."""
    line = f"{head}({', '.join(args)}){end}"
    if len(line) <= WIDTH:
        return [line]
    pad = " " * (len(head) - len(head.lstrip()) + TAB)
    return [f"{head}(", *(f"{pad}{arg}," for arg in args[:-1]), f"{pad}{args[-1]}){end}"]


def _scratch_pointer(entry: Row) -> str:
    dtype = parse(entry["dtype"])
    if dtype.kind != "scalar":
        raise NoHostSide("scratch memory of composites")
    return f"static_cast<{SCALARS[dtype.scalar]}*>({entry['name']})"


def _parameter(arg: Row, given: Row) -> Parameter:
    if arg["fields"]:
        raise NoHostSide("structs")
    name, kind = given["name"], parse(arg["dtype"])
    if arg["kind"] == "array":
        crossing = "const void*" if given["type"].startswith("const ") else "void*"
        pointer = f"static_cast<{given['type']}>({name})"
        checked = SCALAR_TYPES[kind.scalar]
        return Parameter("at::Tensor", name, f"{name}.data_ptr()", crossing, pointer, checked)
    if kind.kind != "scalar":
        part = {"float32": "float", "float64": "double", "int32": "int"}.get(kind.scalar)
        if part is None:
            raise NoHostSide(f"composites of {kind.scalar} by value")
        passed = f"packed<{given['type']}>({name})"
        listed, crossing, parts = f"std::vector<{part}>", f"const {part}*", prod(kind.shape)
        return Parameter(listed, name, f"{name}.data()", crossing, passed, components=parts)
    whole = "bool" if kind.scalar == "bool" else "double" if kind.is_float else "int64_t"
    passed = f"static_cast<{given['type']}>({name})"
    if kind.scalar == "float16":
        passed = f"__float2half(static_cast<float>({name}))"
    return Parameter(whole, name, name, whole, passed)


def formula_symbols(row: Row) -> set[str]:
    """Size symbols that launches and scratch memory ask for."""
    formulas: list[Any] = [e["count"] for e in row["plain_scratch"]]
    for launch in row["plain_launch"]:
        formulas += launch["grid"]
        formulas += [a.removeprefix(FORMULA) for a in launch["args"] if a.startswith(FORMULA)]
    return {found for formula in formulas for found in _SYMBOL.findall(str(formula))}


def sources_of(row: Row, arrays: Sequence[Row]) -> dict[str, str]:
    """How Python finds each size symbol from these arrays: ``x.shape[0]``, or a parameter."""
    found: dict[str, str] = {}
    for arg in arrays:
        for axis, extent in enumerate(arg["shape"]):
            if symbols(extent) == {extent}:
                found.setdefault(extent, f"{arg['name']}.shape[{axis}]")
    for arg in row["args"]:
        prefix, _, symbol = (arg["init"] or "").partition(":")
        if prefix == "size" and arg["kind"] == "scalar" and _SYMBOL.fullmatch(symbol):
            found.setdefault(symbol, arg["name"])
    return found
