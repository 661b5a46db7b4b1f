"""Small plain kernels run on the host as the scorer runs them: each in a process forked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from validate.host import clang
from validate.host.answered import Answered
from validate.host.plain_link import Linker
from validate.host.stranger_case import Case, Trial, run_apart
from validate.row.inputs import Array

HEAD = 'extern "C" __global__ void k(const int* x, int* out, int n)'


def text(body: str, before: str = "") -> str:
    """A kernel of `const int* x, int* out, int n`; `t` is the thread's number in its block and `i`
    over the grid."""
    return (
        f"{before}\n{HEAD}\n{{\n    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
        f"    {body}\n}}\n"
    )


def _array(name: str, role: str) -> dict[str, Any]:
    return {
        **{"name": name, "kind": "array", "dtype": "int32", "role": role, "shape": ["n"]},
        **{"init": "uniform", "low": "0", "high": "9", "fields": [], "rtol": None, "atol": None},
    }


class Host:
    """Compiles and runs texts in a folder. `x` holds 0, 1, 2, … and `out` starts at -1."""

    def __init__(self, folder: Path) -> None:
        clang.start()
        self.folder, self.linker = folder, Linker(folder)

    def run(
        self,
        kernel: str,
        *,
        grid: int = 1,
        block: int = 64,
        shared: int = 0,
        n: int = 0,
        turns: bool = False,
    ) -> tuple[str, str, Array | None]:
        """How a launch ends, why, and `out` where it came to its end. `n` 0: as many as threads.

        Raises clang.CompileError.
        """
        count = n or grid * block
        args = [_array("x", "in"), _array("out", "inout")]
        inputs = {"x": np.arange(count, dtype=np.int32), "out": np.full(count, -1, np.int32)}
        row = {
            "args": args,
            "plain_args": [
                {"name": "x", "type": "const int*", "size": None},
                {"name": "out", "type": "int*", "size": None},
                {"name": "n", "type": "int", "size": "n"},
            ],
            "plain_launch": {"grid": [grid], "block": [block], "shared_bytes": shared},
            "cuda_plain": kernel,
            "kernels": ["k"],
        }
        trial = Trial({"n": count}, inputs, True, 50_000_000, False, turns=turns)
        ran = run_apart(Case(row, [trial]), self.linker, self.folder)
        if ran.status != "ran":
            return ran.status, ran.reason, None
        said = Answered.from_bytes(ran.answer)
        if said.status != "ran":
            return said.status, said.reason, None
        (written,) = said.outputs
        assert written is not None
        return "ran", "", np.frombuffer(written["out"], np.int32)

    def status(self, kernel: str, **launch: Any) -> str:
        """Only how it ends; "compile_error" where it does not compile."""
        try:
            return self.run(kernel, **launch)[0]
        except clang.CompileError:
            return "compile_error"
