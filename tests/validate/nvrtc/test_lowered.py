"""Texts lowered with the real tools, beside what the compile check says of the same."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hand_rows import Row

from validate.errors import CompileUnavailable
from validate.nvrtc import disassembler as tool
from validate.nvrtc.compiler import CompileRunner
from validate.nvrtc.image import section_bytes
from validate.nvrtc.lowered import GRADIENT, PLAIN, WARP, Lowered, Lowerer
from validate.nvrtc.program import build_plain
from validate.text.plain import cuda_program

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

SPILLER = """// A helper that is not inlined, two kernels, constants and a stack.
__constant__ float weights[16];

__device__ __noinline__ float turned(const float *x, int k)
{
    return x[k] * weights[k % 16];
}

extern "C" __global__ void __launch_bounds__(1024, 1) spiller(float *p, int n)
{
    float a[200];
    __shared__ float s[128];
    for (int i = 0; i < 200; i++) a[i] = p[i * n];
    s[threadIdx.x % 128] = a[3];
    __syncthreads();
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < 200; i++)
            a[i] = a[(i + 7) % 200] * a[i] + s[(i + k) % 128];
    for (int i = 0; i < 200; i++) p[i] = turned(a, (i * n) % 200);
}

extern "C" __global__ void copy(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += 1.0f;
}
"""

FUNCTIONS = ("sinf", "expf", "sqrtf", "logf", "atanf", "cbrtf", "tanhf")
SWITCH = """extern "C" __global__ void chosen(const int *which, float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = p[i];
    switch (which[i]) {
CASES    }
    p[i] = v;
}
"""


@pytest.fixture(scope="module")
def lowerer() -> Iterator[Lowerer]:
    with Lowerer(disassembler=tool.disassembler()) as one:
        yield one


@pytest.fixture(scope="module")
def samples() -> list[Row]:
    files = sorted(SAMPLES.glob("*/*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()][:4]


@pytest.fixture(scope="module")
def plain(lowerer: Lowerer, samples: list[Row]) -> list[Lowered]:
    return [lowerer.lower(row, PLAIN, "sm_90") for row in samples]


def test_ptx_is_that_of_a_build_without_lines(samples: list[Row], plain: list[Lowered]) -> None:
    for row, found in zip(samples, plain, strict=True):
        alone = build_plain(cuda_program([row]), "sm_90", "ptx")
        assert alone.text is not None
        assert found.ptx == alone.text.rstrip() + "\n"
        assert found.nvrtc in found.ptx
        assert re.fullmatch(r"\d+\.\d+\.\d+", found.nvrtc)


def test_lines_are_those_of_the_text(samples: list[Row], plain: list[Lowered]) -> None:
    for row, found in zip(samples, plain, strict=True):
        (kernel,) = found.kernels
        source = row["cuda_plain"].splitlines()
        assert kernel.sass is not None
        offsets = [at for at, _ in kernel.sass.lines]
        assert offsets == sorted(set(offsets))
        assert all(f"/*{at:04x}*/" in kernel.sass.text for at in offsets)
        lines = {line for _, line in kernel.sass.lines if line is not None}
        assert max(lines) <= len(source)
        # What loads and stores comes of lines that index something.
        assert any("[" in source[line - 1] for line in lines)
        assert kernel.sass.text.startswith(f"{kernel.name}:\n")
        assert kernel.sass.text.count("\n    /*") == kernel.sass.instructions
        assert "File" not in kernel.sass.text


def test_figures_are_those_of_the_compile_check(lowerer: Lowerer, samples: list[Row]) -> None:
    with CompileRunner() as runner:
        known = runner.resources(samples[:2], "sm_80")
    for row, one in zip(samples, known, strict=False):
        (kernel,) = lowerer.lower(row, WARP, "sm_80").kernels
        assert one is not None
        used = kernel.usage
        assert used.registers == one.registers
        assert used.spill_stores + used.spill_loads == one.spill_bytes
        assert used.shared_bytes == one.shared_bytes
        assert kernel.sass is not None
        lines = {line for _, line in kernel.sass.lines if line is not None}
        assert 1 < max(lines) <= len(row["cuda_forward"].splitlines())


def test_spills_stack_constants_and_several_kernels(lowerer: Lowerer) -> None:
    found = lowerer.lower({"cuda_plain": SPILLER}, PLAIN, "sm_90")
    assert found.status == "compiles"
    assert [kernel.name for kernel in found.kernels] == ["spiller", "copy"]
    spiller, copy = found.kernels
    assert spiller.usage.registers == 64
    assert spiller.usage.spill_stores > 0 < spiller.usage.spill_loads
    assert spiller.usage.shared_bytes == 512
    assert spiller.usage.stack_bytes >= 800
    assert spiller.usage.barriers == 1
    assert (copy.usage.spill_stores, copy.usage.stack_bytes, copy.usage.barriers) == (0, 0, 0)
    # Sixteen floats of the module, and both kernels take a pointer and an int.
    assert spiller.constant_bytes >= copy.constant_bytes > 64
    assert spiller.sass is not None
    assert copy.sass is not None
    assert re.search(r'STL .*"SpillRefill"', spiller.sass.text)
    assert "STL" not in copy.sass.text
    assert "turned" in spiller.sass.text


def test_jump_tables_say_where_they_lead(lowerer: Lowerer) -> None:
    cases = "".join(f"        case {k}: v = {f}(v); break;\n" for k, f in enumerate(FUNCTIONS))
    text = SWITCH.replace("CASES", cases)
    (kernel,) = lowerer.lower({"cuda_plain": text}, PLAIN, "sm_90").kernels
    assert kernel.sass is not None
    tables = re.findall(r"BRX .*BRANCH_TARGETS ([^\"]*)", kernel.sass.text)
    assert tables
    labels = {label for table in tables for label in table.split(",")}
    # The last case may be what is left over.
    assert len(labels) >= len(FUNCTIONS) - 1
    assert all(f"\n{label}:\n" in kernel.sass.text for label in labels)


def test_faults_are_said(lowerer: Lowerer, samples: list[Row]) -> None:
    wrong = lowerer.lower({"cuda_plain": SPILLER.replace("n;", "nowhere;", 1)}, PLAIN, "sm_90")
    assert wrong.status == "compile_error"
    assert re.search(r'cuda_plain\(16\): error: identifier "nowhere"', wrong.reason)
    none = lowerer.lower({"cuda_plain": "void f() {}"}, PLAIN, "sm_90")
    assert (none.status, none.kernels) == ("compile_error", ())
    assert "no extern" in none.reason
    assert lowerer.lower({GRADIENT: "int asm;"}, GRADIENT, "sm_90").status == "compile_error"
    reaching = {**samples[0], "cuda_forward": '#include "/etc/passwd"'}
    assert "only the prologue may include" in lowerer.lower(reaching, WARP, "sm_90").reason


def test_a_killed_compiler_costs_no_row(lowerer: Lowerer, samples: list[Row]) -> None:
    before = lowerer.lower(samples[0], PLAIN, "sm_90")
    worker = lowerer._child._worker
    assert worker is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    assert lowerer.lower(samples[0], PLAIN, "sm_90") == before


def test_what_is_no_machine_code(lowerer: Lowerer, tmp_path: Path) -> None:
    path = tmp_path / "no.cubin"
    path.write_bytes(b"nothing")
    with pytest.raises(tool.NotDisassembled, match=r"^nvdisasm: ") as caught:
        tool.disassembler().listing(path, 60.0)
    assert caught.value.status == "compile_error"
    with pytest.raises(ValueError, match="no ELF"):
        section_bytes(b"nothing")


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """The tool is looked for anew, by toolkits alone, and the finding is forgotten."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(tool, "WHEEL", "a-package-that-is-not-there")
    tool.disassembler.cache_clear()
    yield monkeypatch
    tool.disassembler.cache_clear()


def test_without_the_tool(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fresh.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileUnavailable, match=r"pip install 'pairsmith\[lowered\]'"):
        tool.disassembler()


def test_a_toolkit_s_tool(fresh: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = shutil.which("echo")
    assert found is not None
    folder = tmp_path / "bin"
    folder.mkdir()
    said = folder / "nvdisasm"
    fresh.setenv("CUDA_HOME", str(tmp_path))
    for text, wanted in (
        ("release 99.1, V99.1.7", None),
        ("release 9.1, V9.1.7", "is older than NVRTC"),
        ("nothing of use", "says no version"),
    ):
        said.write_text(f"#!/bin/sh\n{found} '{text}'\n")
        said.chmod(said.stat().st_mode | stat.S_IXUSR)
        tool.disassembler.cache_clear()
        if wanted is None:
            assert tool.disassembler() == tool.Disassembler(said, "99.1.7")
        else:
            with pytest.raises(CompileUnavailable, match=wanted):
                tool.disassembler()
    said.chmod(0o644)
    with pytest.raises(CompileUnavailable, match="does not run"):
        tool._checked(said)
