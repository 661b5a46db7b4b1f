"""clang-format leaves plain CUDA as it is, and no line is longer than 100 columns."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import synth.render.cuda
from synth.render.cuda.breaks import WIDTH
from synth.render.cuda.lines import wrapped
from synth.render.cuda.module import render
from synth.rows.maker import Accepted

STYLE = Path(synth.render.cuda.__file__).with_name("plain.clang-format")


def formatter() -> str:
    """The clang-format of this environment, else that of the path."""
    beside = Path(sys.executable).with_name("clang-format")
    found = str(beside) if beside.is_file() else shutil.which("clang-format")
    if found is None:
        pytest.skip("clang-format is not installed")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    major = int(re.findall(r"version (\d+)", version.stdout)[0])
    if not 20 <= major < 22:
        pytest.skip(f"clang-format {major} may break lines in other ways")
    return found


def formatted(folder: Path, texts: list[str]) -> list[str]:
    """What clang-format makes of the texts, all in one call."""
    files = [folder / f"{k}.cu" for k in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    subprocess.run([formatter(), "-i", f"--style=file:{STYLE}", *map(str, files)], check=True)
    return [file.read_text() for file in files]


def test_clang_format_leaves_the_text(all_accepted: list[Accepted], tmp_path: Path) -> None:
    """Every 29th program, over all levels."""
    texts = [render(accepted.program).text for accepted in all_accepted[::29]]
    assert formatted(tmp_path, texts) == texts


def test_lines_fit(all_accepted: list[Accepted]) -> None:
    for accepted in all_accepted[::29]:
        lines = render(accepted.program).text.splitlines()
        assert not [line for line in lines if len(line) > WIDTH]


LONG = [
    "const float speed = gravity * (position[row * width + col] - position[row * width + left])"
    " + drag * (velocity[row * width + col] - velocity[row * width + left]) - friction;",
    "out[(batch * height + row) * width + col] = source[(batch * height + row) * width + col] > 0"
    " ? 1.0f : (source[(batch * height + row) * width + left] > 0 ? 2.0f : 3.0f);",
    "return fmaxf(fmaxf(distance_to_box(point, low_corner, high_corner), distance_to_plane(point,"
    " normal)), distance_to_sphere(point, center, radius));",
    "atomicAdd(&histogram[(batch * height + row) * width + col], weight[(batch * height + row)"
    " * width + col] * fminf(fmaxf(value, lower), upper));",
    "if (source[(batch * height + row) * width + col] > lower_limit && !(source[(batch * height"
    " + row) * width + col] < upper_limit && flags[row])) {",
    "for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < batches * heights * widths;"
    " index += gridDim.x * blockDim.x) {",
]


def test_long_statements_are_broken_as_clang_format_has_them(tmp_path: Path) -> None:
    lines = []
    for text in LONG:
        lines += wrapped(4, text) + (["        return;", "    }"] if text[-1] == "{" else [])
    text = "\n".join(["__global__ void kernel(int n)", "{", *lines, "}", ""])
    assert max(map(len, lines)) <= WIDTH
    assert formatted(tmp_path, [text]) == [text]


def test_operators_lead_lines_and_products_stay_whole() -> None:
    _, *rest = wrapped(0, LONG[0])
    assert all(line.lstrip()[0] in "+-" for line in rest)
