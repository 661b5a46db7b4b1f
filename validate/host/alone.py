"""One row's forward text, run alone and in this process: no reference, no child.

For who has another way from the same inputs to the same outputs, and wants the two compared.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from validate.host import clang
from validate.host.launch import Entry, launch, load_entry
from validate.host.memory import Arena, Watch, arrays_of, damage
from validate.oracle.compare import measure
from validate.row.inputs import draw_inputs
from validate.row.sizes import evaluate_all, own_sizes
from validate.statuses import Likeness
from validate.text.headers import warp_include_dir
from validate.text.warp_host import translation_unit

RTOL, ATOL = 1e-4, 1e-6
"""Two compilers' roundings of one computation differ by less; its outputs have no tolerances."""


def prepare(folder: Path, block_dim: int) -> None:
    """Load the compiler and keep its precompiled header in ``folder``, for forks of this process.

    The folder belongs to one process and its forks. Raises HostRunUnavailable.
    """
    clang.start()
    clang.make_precompiled_header(warp_include_dir(), folder, block_dim)


class LoneRun:
    """What a row's forward text did at the row's own sizes.

    ``dim`` and ``inputs`` are what it was given; ``trouble`` is a status and a reason where it
    touched what it must not, else None; ``changed`` says whether any array is not as drawn.
    ``other`` holds the same arrays as drawn, for the other way.
    """

    def __init__(self, row: Mapping[str, Any], entry: Entry) -> None:
        """Draw inputs and launch what `build` gave: that may crash this process or never end.

        Raises ValueError where no inputs can be drawn, and as `validate.host.launch.launch`.
        """
        sizes = own_sizes(row["sizes"])
        self.args = row["args"]
        self.dim = evaluate_all(row["launch"]["dim"], sizes)
        self.inputs = draw_inputs(self.args, sizes, row["input_seed"])
        arrays = arrays_of(self.args, self.inputs)
        self.arena, self.other = Arena(arrays), Arena(arrays)
        watch = Watch(self.arena)
        launch(entry, self.dim, self.arena.parameters(self.args, self.inputs), watch)
        self.trouble = damage(self.args, self.arena, watch)
        self.changed = bool(self.arena.changed(list(arrays)))

    def likeness(self) -> Likeness:
        """How the outputs in ``other`` compare with those of the text."""
        if damage(self.args, self.other) is not None:
            return Likeness.OUT_OF_BOUNDS
        numbers = False
        for arg in self.args:
            if arg["role"] == "in":
                continue
            got, want = self.arena.array(arg["name"]), self.other.array(arg["name"])
            if got.dtype.kind == "f":
                # the bits of a NaN depend on the order of operands, and compilers may swap these
                both = np.isnan(got) & np.isnan(want)
                got[both] = want[both] = 0.0
                numbers |= not both.all()
            else:
                numbers = True
            if got.tobytes() == want.tobytes():
                continue
            if measure(got, want, RTOL, ATOL).mismatch is not None:
                return Likeness.DIFFERS
        return Likeness.AGREES if numbers else Likeness.ONLY_NAN


def build(row: Mapping[str, Any], folder: Path, name: str = "") -> Entry:
    """Compile a row's forward text in ``folder``, whatever its inputs are to be.

    What is loaded has a ``name``: another text under it takes its place.

    Raises clang.CompileError and LoadError.
    """
    name = name or f"run_{os.getpid()}"
    path = folder / f"{name}.o"
    try:
        text = translation_unit([{**row, "cuda_backward": None}])
        clang.build(text, path, warp_include_dir(), folder)
        clang.load(path, name)
    finally:
        path.unlink(missing_ok=True)
        path.with_suffix(".cpp").unlink(missing_ok=True)
    return load_entry(name, "forward", 0)
