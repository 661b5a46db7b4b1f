"""The kinds of text that the child can run: Warp's, plain CUDA, and our own backward kernels."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from validate.host import clang
from validate.host.case import Ran, run_case
from validate.host.gradient import run_gradient_case
from validate.host.launch import Entry, load_entry
from validate.host.plain_case import run_plain_case
from validate.host.plain_launch import PlainEntry, load_all
from validate.host.plain_link import Layout, Linker
from validate.host.shared_calls import SharedFunctions
from validate.oracle.compare import Finding
from validate.row.columns import GRADIENT_COLUMNS
from validate.row.edges import EDGES
from validate.row.gradient import backward_row
from validate.row.inputs import Array
from validate.statuses import RunStatus
from validate.text import warp_host as host_unit

Rows = Sequence[Mapping[str, Any]]

_MOST_KEPT = 512

# What the child needs of a row; the rest need not travel.
_ALWAYS = ("id", "kernel_name", "reference", "args", "sizes", "launch", "input_seed")
NEEDED = {
    "warp": (*_ALWAYS, "cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward"),
    "plain": (*_ALWAYS, "cuda_plain", "plain_args", "plain_launch", "relaunch"),
    "gradient": (*_ALWAYS, *GRADIENT_COLUMNS),
}
OPTIONAL = (EDGES, "plain_scratch", "array_python")
"""What it takes where a row has it."""


# All that says what a row's reference makes of which inputs.
_SAYS_WHAT_IS_WANTED = (*_ALWAYS, EDGES)


class Kept:
    """How Warp's text of the latest rows ran, for their plain text to be compared with.

    What the reference makes of the same inputs need not be found out again.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[str, tuple[Mapping[str, Any], list[Ran]]] = OrderedDict()

    def add(self, row: Mapping[str, Any], ran: list[Ran]) -> None:
        self._found[row["id"]] = (row, ran)
        if len(self._found) > _MOST_KEPT:
            self._found.popitem(last=False)

    def take(self, row: Mapping[str, Any]) -> list[Ran]:
        """What ran, by setting; none when the row is not among the latest, or was another."""
        other, ran = self._found.pop(row["id"], (row, []))
        same = all(row.get(name) == other.get(name) for name in _SAYS_WHAT_IS_WANTED)
        return ran if same else []


class Cases(Protocol):
    """Builds rows into an object file, finds their kernels in it, and runs them."""

    def build(self, rows: Rows, obj_path: Path, include_dir: Path) -> None: ...

    def loaded(self, handle: str) -> None:
        """Told when the object file is loaded, before anything of it is called."""

    def entry(self, handle: str, position: int, row: Mapping[str, Any]) -> Any: ...

    def run(self, row: Mapping[str, Any], entry: Any) -> Finding: ...


class WarpCases:
    """Warp's text, forward and adjoint; its precompiled headers lie in `folder`."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        self.folder = folder
        self.kept = kept
        self._functions = SharedFunctions(folder)
        self._table: Array | None = None

    def build(self, rows: Rows, obj_path: Path, include_dir: Path) -> None:
        """Rows together share the functions that they call; a row alone is compiled as it stands,
        so that what is shared never decides about a row that fails."""
        self._table = None
        if len(rows) == 1:
            text = host_unit.translation_unit(rows)
        else:
            text, calls = host_unit.shared_unit(rows)
            self._table = self._functions.table(rows[0]["cuda_prologue"], include_dir, calls)
        clang.build(text, obj_path, include_dir, self.folder)

    def loaded(self, handle: str) -> None:
        if self._table is not None:
            self._functions.connect(handle, self._table)

    def entry(
        self, handle: str, position: int, row: Mapping[str, Any]
    ) -> tuple[Entry, Entry | None]:
        found = [load_entry(handle, way, position) for way in host_unit.directions(row)]
        return found[0], found[1] if len(found) > 1 else None

    def run(self, row: Mapping[str, Any], entry: tuple[Entry, Entry | None]) -> Finding:
        ran: list[Ran] = []
        finding = run_case(row, *entry, ran)
        if finding.status == RunStatus.AGREES:
            self.kept.add(row, ran)
        return finding


class PlainCases:
    """Plain CUDA; what Warp's text of the same row wrote, if `kept`, is compared with as well."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        self.folder = folder
        self.kept = kept
        self._linker: Linker | None = None
        self._layouts: list[Layout] = []

    def build(self, rows: Rows, obj_path: Path, include_dir: Path) -> None:
        if self._linker is None:
            self._linker = Linker(self.folder)
        self._layouts = self._linker.build(rows, obj_path)

    def loaded(self, handle: str) -> None:
        """Nothing is left to do: the object is linked when it is built."""

    def entry(self, handle: str, position: int, row: Mapping[str, Any]) -> list[PlainEntry]:
        return load_all(handle, position, row, self._layouts[position])

    def run(self, row: Mapping[str, Any], entry: list[PlainEntry]) -> Finding:
        return run_plain_case(row, entry, self.kept.take(row))


class GradientCases(PlainCases):
    """Backward kernels of ours, compared with derivatives of the forward kernel's reference."""

    def build(self, rows: Rows, obj_path: Path, include_dir: Path) -> None:
        super().build([backward_row(row) for row in rows], obj_path, include_dir)

    def entry(self, handle: str, position: int, row: Mapping[str, Any]) -> list[PlainEntry]:
        return super().entry(handle, position, backward_row(row))

    def run(self, row: Mapping[str, Any], entry: list[PlainEntry]) -> Finding:
        return run_gradient_case(row, entry)
