"""Assemble the PTX of a dataset's configuration `lowered` with ptxas itself, and compare.

Run: PYTHONPATH=. python scripts/measure/assemble_again.py OUT [--rows N] [--ptxas FILE].
The SASS and the figures that `pairsmith compile` wrote come from the assembler in NVRTC, which was
asked for lines too; here the PTX of each goes through the ptxas of the wheel nvidia-cuda-nvcc (pip
install it, of NVRTC's version). Prints what differs; exit code 1 when something does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from synth.dataset.lowered import lowered_records
from validate.nvrtc import sass
from validate.nvrtc.disassembler import disassembler
from validate.text import ptx

_FIGURES = ("registers", "spill_stores", "spill_loads", "shared_bytes", "stack_bytes", "barriers")


def wheels_ptxas() -> Path:
    files = distribution("nvidia-cuda-nvcc").files or ()
    return next(Path(str(file.locate())) for file in files if file.name == "ptxas")


def again(record: dict[str, object], ptxas: Path, folder: Path) -> list[str]:
    """What differs for a record, by name."""
    source, image = folder / "text.ptx", folder / "text.cubin"
    source.write_text(str(record["ptx"]))
    command = [ptxas, f"-arch={record['arch']}", "-v", source, "-o", image]
    said = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    kernel = str(record["kernel"])
    used = ptx.usage(said.stderr + said.stdout)[kernel]
    code = sass.kernels(disassembler().listing(image, 60.0), ())[kernel]
    differing = [name for name in _FIGURES if getattr(used, name) != record[name]]
    return [*differing, *(["sass"] if code.text != record["sass"] else [])]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--ptxas", type=Path)
    asked = parser.parse_args()
    ptxas = asked.ptxas or wheels_ptxas()
    whole = [r for r in lowered_records(asked.out) if r["sass"] and r["registers"] is not None]
    chosen = whole[:: max(1, len(whole) // asked.rows)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for record in chosen:
            if differing := again(record, ptxas, Path(folder)):
                wrong += 1
                print(record["id"], record["column"], record["kernel"], *differing)
    print(f"{len(chosen)} kernels assembled again, {wrong} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
