"""C++ that launches the kernels of a row's plain CUDA on tensors of PyTorch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synth.render.cuda.types import SCALARS
from validate.row.dtypes import parse
from validate.row.sizes import symbols
from validate.text.launches import FORMULA

Row = Mapping[str, Any]

SCALAR_TYPES = {
    "bool": "torch::kBool",
    "int8": "torch::kInt8",
    "int16": "torch::kInt16",
    "int32": "torch::kInt32",
    "int64": "torch::kInt64",
    "uint8": "torch::kUInt8",
    "uint16": "torch::kUInt16",
    "uint32": "torch::kUInt32",
    "uint64": "torch::kUInt64",
    "float16": "torch::kFloat16",
    "float32": "torch::kFloat32",
    "float64": "torch::kFloat64",
}
"""What PyTorch calls the components of arrays; unsigned ones wider than a byte from 2.3 on."""

HEADERS = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cstring>
#include <vector>
"""
CHECK = """static void check(const torch::Tensor& tensor, at::ScalarType type, const char* name)
{
    TORCH_CHECK(tensor.is_cuda(), name, " must be on a GPU");
    TORCH_CHECK(tensor.is_contiguous(), name, " must be contiguous");
    TORCH_CHECK(tensor.scalar_type() == type, name, " must hold ", type);
}
"""
PACKED = """template <typename Value, typename Component>
static Value packed(const std::vector<Component>& components, const char* name)
{
    Value value;
    TORCH_CHECK(components.size() * sizeof(Component) == sizeof(Value), name, " has other parts");
    std::memcpy(&value, components.data(), sizeof(Value));
    return value;
}
"""
_INCLUDE = re.compile(r"^#include [<\"].*[>\"]\n+", re.MULTILINE)
_SYMBOL = re.compile(r"[A-Za-z_]\w*")


class NoHostSide(Exception):  # noqa: N818 - no error: a row that has none, and why
    """PyTorch has no tensor for an argument of the row."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a launcher: ``type`` and ``name`` in C++, ``passed`` what the kernel gets of
    it, ``checked`` the scalar type of a tensor, empty for others."""

    type: str
    name: str
    passed: str
    checked: str = ""


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
        self.sizes: dict[str, str] = sizes
        """The parameter that holds each size symbol."""

    def declaration(self) -> str:
        sizes = [f"int64_t {name}" for name in self.sizes.values()]
        params = [f"{p.type} {p.name}" for p in self.params]
        return f"void {self.name}({', '.join([*params, *sizes])})"

    def text(self) -> str:
        """The kernels in a namespace of their own, and the launcher."""
        kernels = _INCLUDE.sub("", self.row["cuda_plain"]).strip()
        lines = [f"namespace {self.namespace} {{", kernels, f"}}  // namespace {self.namespace}"]
        lines += ["", self.declaration(), "{", f"    using namespace {self.namespace};"]
        lines += [
            f'    check({p.name}, {p.checked}, "{p.name}");' for p in self.params if p.checked
        ]
        first = next(p.name for p in self.params if p.checked)
        lines.append(f"    const at::cuda::CUDAGuard guard({first}.device());")
        lines.append("    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();")
        lines += [self._scratch(entry, first) for entry in self.row["plain_scratch"]]
        several = len(self.row["plain_launch"]) > 1
        for number, launch in enumerate(self.row["plain_launch"], 1):
            lines += self._launch(launch, f"_{number}" if several else "")
        return "\n".join([*lines, "}"])

    def includes(self) -> list[str]:
        return [line.strip() for line in _INCLUDE.findall(self.row["cuda_plain"])]

    def _launch(self, launch: Row, ending: str) -> list[str]:
        grid = ", ".join(self._said(extent) for extent in launch["grid"])
        block = ", ".join(map(str, launch["block"]))
        dims = [f"    const dim3 grid{ending}({grid}), block{ending}({block});"]
        passed = ", ".join(self._passed(launch))
        kernel = f"{self.namespace}::{launch['kernel']}"
        where = f"grid{ending}, block{ending}, {launch['shared_bytes']}, stream"
        some = " && ".join(f"grid{ending}.{axis} > 0" for axis in "xyz"[: len(launch["grid"])])
        return [
            *dims,
            f"    if ({some}) {{",
            f"        {kernel}<<<{where}>>>({passed});",
            "        C10_CUDA_KERNEL_LAUNCH_CHECK();",
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
        return f"    const torch::Tensor {entry['name']} = torch::{make}({{{count}}}, {options});"

    def _said(self, formula: str) -> str:
        return _SYMBOL.sub(lambda found: self.sizes.get(found[0], found[0]), str(formula))


def _scratch_pointer(entry: Row) -> str:
    dtype = parse(entry["dtype"])
    if dtype.kind != "scalar":
        raise NoHostSide("scratch memory of composites")
    return f"static_cast<{SCALARS[dtype.scalar]}*>({entry['name']}.data_ptr())"


def _parameter(arg: Row, given: Row) -> Parameter:
    if arg["fields"]:
        raise NoHostSide("structs")
    name, kind = given["name"], parse(arg["dtype"])
    if arg["kind"] == "array":
        pointer = f"static_cast<{given['type']}>({name}.data_ptr())"
        return Parameter("torch::Tensor", name, pointer, SCALAR_TYPES[kind.scalar])
    if kind.kind != "scalar":
        parts = {"float32": "float", "float64": "double", "int32": "int"}.get(kind.scalar)
        if parts is None:
            raise NoHostSide(f"composites of {kind.scalar} by value")
        vector = f"std::vector<{parts}>"
        return Parameter(vector, name, f'packed<{given["type"]}>({name}, "{name}")')
    whole = "bool" if kind.scalar == "bool" else "double" if kind.is_float else "int64_t"
    if kind.scalar == "float16":
        return Parameter(whole, name, f"__float2half(static_cast<float>({name}))")
    return Parameter(whole, name, f"static_cast<{given['type']}>({name})")


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
