"""The compile check: good rows compile, and each way of being wrong costs the wrong row alone."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hand_rows import Row, all_rows, grid_2d, soft_clamp, structs

from validate.errors import CompileUnavailable
from validate.nvrtc import program as nvrtc_program
from validate.nvrtc.compiler import (
    CompileResult,
    CompileRunner,
    compile_rows,
)
from validate.row.archs import ARCHS, check_archs
from validate.text.headers import warp_include_dir
from validate.text.warp_program import is_plain, words_of

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
BAD = "bad0bad0bad0bad0"

# Ten to the tenth terms in ten lines.
BOMB = "#define A0 1+1\n" + "".join(
    f"#define A{i + 1} {'+'.join([f'A{i}'] * 10)}\n" for i in range(10)
)
RECURSION = (
    "template<int N> struct R { static const int v = R<N + 1>::v; };\n"
    "static __device__ int endless() { return R<0>::v; }"
)
SPILLER = """extern "C" __global__ void __launch_bounds__(1024, 1) spiller_cuda_kernel_forward(
    float* p, int n)
{
    float a[200];
    __shared__ float s[128];
    for (int i = 0; i < 200; i++) a[i] = p[i * n];
    s[threadIdx.x % 128] = a[3];
    __syncthreads();
    for (int k = 0; k < n; k++)
        _Pragma("unroll") for (int i = 0; i < 200; i++)
            a[i] = a[(i + 7) % 200] * a[i] + s[(i + k) % 128];
    for (int i = 0; i < 200; i++) p[i] = a[i];
}
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[CompileRunner]:
    with CompileRunner() as compiler:
        yield compiler


def samples() -> list[Row]:
    files = sorted(SAMPLES.glob("*/*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def plain_row() -> Row:
    return next(row for row in all_rows() if not row["cuda_helpers"].strip())


def bad(row: Row | None = None, **columns: Any) -> Row:
    """A good row (one without helpers, if none is named) with other columns."""
    return (row or plain_row()) | {"id": BAD} | columns


def edited(row: Row, old: str, new: str, column: str = "cuda_forward") -> Row:
    assert old in row[column]
    return row | {"id": BAD, column: row[column].replace(old, new, 1)}


def among_good(runner: CompileRunner, *wrong: Row) -> list[CompileResult]:
    """Compile bad rows between good ones; the good ones must not notice."""
    rows = [soft_clamp(), *wrong, grid_2d(), structs()]
    results = runner.compile(rows)
    assert [result.id for result in results] == [row["id"] for row in rows]
    good = [results[0], *results[1 + len(wrong) :]]
    assert {result.status for result in good} == {"compiles"}, good
    return results[1 : 1 + len(wrong)]


def test_samples_compile_for_three_architectures() -> None:
    archs = ("sm_120", "sm_80", "sm_90", "sm_80")
    rows = [row for row in samples() if row["level"] in (2, 5)]
    assert len({row["category"] for row in rows}) == 6
    results = compile_rows(rows, archs=archs)
    assert [result.id for result in results] == [row["id"] for row in rows]
    for result in results:
        assert result == CompileResult(result.id, "compiles", ["sm_80", "sm_90", "sm_120"], "")


def test_rows_of_this_project_share_programs() -> None:
    words = words_of(warp_include_dir())
    rows = [*samples(), *all_rows()]
    alone = [row for row in rows if not is_plain(row, words)]
    # A drawn struct may bear a name that the headers' code uses too, such as Shape.
    assert all(set(re.findall(r"\bstruct (\w+)", row["cuda_helpers"])) & words for row in alone)
    assert len(alone) <= 0.05 * len(rows)


def test_log_names_column_and_line(runner: CompileRunner) -> None:
    wrong = edited(soft_clamp(), "var_0 = ", "var_0 = nowhere + ")
    line = wrong["cuda_forward"][: wrong["cuda_forward"].index("nowhere")].count("\n") + 1
    (result,) = among_good(runner, wrong)
    assert (result.status, result.archs) == ("compile_error", [])
    assert result.log.startswith(f'cuda_forward({line}): error: identifier "nowhere"')
    (result,) = among_good(runner, edited(soft_clamp(), "wp::", "pw::", "cuda_backward"))
    assert re.match(r"cuda_backward\(\d+\): error: ", result.log)
    assert re.search(r"/pairsmith|\d/cuda_|using precompiled", result.log) is None


def test_errors_inside_headers_speak_of_the_include_folder(runner: CompileRunner) -> None:
    call = "wp::vec_t<3, float> v; v[0] = 1; wp::length(v, v); static_assert(sizeof(v) == 1);"
    (result,) = among_good(runner, edited(soft_clamp(), "//---------", call))
    assert str(warp_include_dir()) not in result.log
    assert "include/" in result.log


@pytest.mark.parametrize(
    ("columns", "log"),
    [
        ({"cuda_forward": ""}, r"not in the compiled program: \w+_cuda_kernel_forward"),
        ({"cuda_backward": ""}, r"not in the compiled program: \w+_cuda_kernel_backward"),
        ({"kernel_name": "other"}, "not in the compiled program: other_cuda_kernel_forward"),
        ({"kernel_name": "a b"}, "kernel_name is not an identifier"),
        ({"cuda_forward": None}, "cuda_forward is not a text"),
        ({"cuda_forward": "\0"}, "cuda_forward holds a NUL character"),
        ({"cuda_helpers": "\ud800"}, "cuda_helpers is not valid Unicode"),
        ({"cuda_helpers": "\n#include </etc/passwd>"}, r"cuda_helpers\(2\): error: include </etc"),
        ({"cuda_helpers": "# /**/ in\\\nclude </etc/passwd>"}, "only the prologue may include"),
        ({"cuda_prologue": '#include "../passwd"\n'}, "only Warp's headers"),
        ({"cuda_helpers": "#error stop"}, r"cuda_helpers\(1\): catastrophic error: #error .*stop"),
        ({"cuda_helpers": "}"}, r"cuda_helpers\(1\): error: expected a declaration"),
        ({"cuda_helpers": "} namespace pairsmith_row_1 {"}, "expected a declaration"),
        ({"cuda_helpers": "} namespace mine {"}, "expected a declaration"),
        ({"cuda_helpers": "/*"}, "comment unclosed"),
        ({"cuda_helpers": RECURSION}, r"cuda_helpers\(1\): error: excessive recursion"),
        ({"cuda_helpers": "#define wp no\n#define var_0 ("}, r"cuda_forward\(2\): error"),
    ],
)
def test_bad_texts(runner: CompileRunner, columns: Row, log: str) -> None:
    (result,) = among_good(runner, bad(**columns))
    assert (result.id, result.status, result.archs) == (BAD, "compile_error", [])
    assert re.search(log, result.log), result.log
    assert len(result.log) <= 4000


def test_truncated_and_declared_only(runner: CompileRunner) -> None:
    text = plain_row()["cuda_forward"]
    results = among_good(
        runner,
        bad(cuda_forward=text.rstrip()[:-1]),
        bad(cuda_forward=text[:300]),
        bad(cuda_forward=text.split("{")[0].rstrip() + ";"),
    )
    assert [result.status for result in results] == ["compile_error"] * 3


def test_a_row_cannot_live_on_its_neighbours(runner: CompileRunner) -> None:
    row = structs()
    lost = bad(row, cuda_helpers="")
    borrowed = bad(row, cuda_helpers="using namespace pairsmith_row_0;")
    shown = {**row, "cuda_helpers": "#define LEAK 1\n" + row["cuda_helpers"]}
    leaked = edited(soft_clamp(), "var_0 = ", "var_0 = LEAK + ")
    results = runner.compile([row, lost, borrowed, shown, leaked])
    statuses = [result.status for result in results]
    assert statuses == ["compiles", *["compile_error"] * 2, "compiles", "compile_error"]


def test_a_helper_that_collides_with_the_headers_alone(runner: CompileRunner) -> None:
    (result,) = among_good(
        runner, bad(cuda_helpers="static __device__ float sin(double x) { return 0.0f; }")
    )
    assert result.status == "compile_error"
    assert result.log.startswith("cuda_helpers(1): error: ")
    assert "sin" in result.log


def test_out_of_memory_and_timeout() -> None:
    with CompileRunner(timeout_s=600.0, memory_bytes=5 << 29) as patient:
        (result,) = among_good(patient, bad(cuda_helpers=BOMB + "static int b = A10;"))
        assert result.status == "out_of_memory"
    with CompileRunner(timeout_s=600.0, memory_bytes=1 << 36) as hurried:
        assert hurried.compile([soft_clamp()])[0].status == "compiles"
        # For that text alone: what a good row takes is the machine's affair.
        hurried._child.timeout_s = 2.5
        (result,) = hurried.compile([bad(cuda_helpers=BOMB + "static int b = A10;")])
        assert (result.status, result.log) == ("timeout", "compiler: no result within 2.5 s")
        hurried._child.timeout_s = 600.0
        assert hurried.compile([soft_clamp()])[0].status == "compiles"


def test_killed_child_is_replaced(runner: CompileRunner) -> None:
    assert runner.compile([soft_clamp()])[0].status == "compiles"
    worker = runner._child._worker
    assert worker is not None
    os.kill(worker.process.pid, signal.SIGKILL)
    assert {result.status for result in runner.compile(all_rows())} == {"compiles"}
    assert runner._child._worker is not worker
    assert worker.process.returncode == -signal.SIGKILL


def test_registers_spills_and_shared_memory(runner: CompileRunner) -> None:
    spiller = bad(kernel_name="spiller", cuda_forward=SPILLER, cuda_helpers="")
    broken = edited(grid_2d(), "var_0", "nowhere")
    for arch in ("sm_90", "sm_120"):
        first, wrong, light = runner.resources([spiller, broken, soft_clamp()], arch)
        assert wrong is None
        assert first is not None
        assert light is not None
        assert first.shared_bytes == 512
        assert first.registers == 64
        assert first.spill_bytes > 500
        assert 8 < light.registers < 64
        assert light.spill_bytes == 0
    assert runner.resources([soft_clamp()], "sm_120") == [light]


def test_optimised_ptx_sees_meaning_only(runner: CompileRunner) -> None:
    row = soft_clamp()
    text = row["cuda_forward"]
    renamed = row | {
        "kernel_name": "another",
        "cuda_forward": re.sub(r"\bvar_0\b", "local", text).replace(
            row["kernel_name"] + "_", "another_"
        ),
    }
    dead = edited(row, "var_0 = ", "int unused = 3; unused += 4; var_0 = ")
    changed = edited(row, "wp::mul", "wp::add")
    broken = edited(row, "var_0 = ", "var_0 = nowhere + ")
    found = runner.optimised_ptx([grid_2d(), row, renamed, dead, changed, broken, structs()])
    assert found[5] is None
    assert found[1] is not None
    assert found[1] == found[2] == found[3] != found[4]
    assert runner.optimised_ptx([row]) == [found[1]]


def test_swapped_integer_operands_are_equal(runner: CompileRunner) -> None:
    for row in samples():
        whole = "|".join(re.findall(r"wp::int32 (var_\d+);", row["cuda_forward"])) or "none"
        swapped, count = re.subn(
            rf"(= wp::(?:bit_xor|bit_and|bit_or|add|mul))\(({whole}), ({whole})\)",
            r"\1(\3, \2)",
            row["cuda_forward"],
        )
        if count:
            first, second = runner.optimised_ptx([row, row | {"cuda_forward": swapped}])
            assert first is not None
            assert first == second
            return
    pytest.fail("no sample combines integers")


def test_architectures() -> None:
    assert check_archs(["sm_120", "sm_75", "sm_120", "sm_90"]) == ("sm_75", "sm_90", "sm_120")
    assert check_archs(ARCHS[::-1]) == ARCHS
    for names in (["sm_91"], []):
        with pytest.raises(ValueError, match=r"known are sm_75 sm_80 .* sm_121") as caught:
            CompileRunner(archs=names)
        assert "\n" not in str(caught.value)


def test_version_and_missing_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert re.fullmatch(r"\d+\.\d+", nvrtc_program.nvrtc_version())
    with pytest.raises(FileNotFoundError, match="headers"):
        CompileRunner(include_dir=tmp_path)
    monkeypatch.setattr(nvrtc_program, "_MODULE", "cuda.bindings.no_such_module")
    nvrtc_program.load.cache_clear()
    with pytest.raises(CompileUnavailable, match=r"pip install .*nvidia-cuda-nvrtc") as caught:
        nvrtc_program.nvrtc_version()
    assert "\n" not in str(caught.value)
    nvrtc_program.load.cache_clear()
