"""The host run: good rows agree, and each way of being wrong costs the wrong row alone."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hand_rows import Row, all_rows, atomics, grid_2d, size_of, soft_clamp, structs

from validate.host.memory import Arena
from validate.host.runner import HostRunner, RunResult
from validate.statuses import RunStatus
from validate.text.headers import warp_include_dir
from validate.text.warp_host import translation_unit


@pytest.fixture(scope="module")
def runner() -> Iterator[HostRunner]:
    with HostRunner() as host:
        yield host


def with_text(row: Row, old: str, new: str, column: str = "cuda_forward") -> Row:
    assert old in row[column]
    return row | {"id": "bad0bad0bad0bad0", column: row[column].replace(old, new, 1)}


def among_good(runner: HostRunner, *bad: Row) -> list[RunResult]:
    """Run bad rows between good ones; the good ones must not notice."""
    rows = [soft_clamp(), *bad, grid_2d(), atomics()]
    results = runner.run(rows)
    assert [result.id for result in results] == [row["id"] for row in rows]
    good = [results[0], *results[1 + len(bad) :]]
    assert {result.status for result in good} == {"agrees"}, good
    return results[1 : 1 + len(bad)]


def in_kernel(row: Row, statement: str) -> Row:
    return with_text(row, "//---------", f"{statement}\n        //---------")


def test_all_hand_written_rows_agree(runner: HostRunner) -> None:
    results = runner.run(all_rows())
    assert [result.reason for result in results] == [""] * len(results)
    assert {result.status for result in results} == {"agrees"}
    assert results[0].shapes == ["n=64", "n=1", "n=251"]
    assert all(0.0 <= result.tolerance_used < 0.5 for result in results)
    assert all(result.max_ulp < 50 for result in results)


def test_results_do_not_depend_on_the_batch(runner: HostRunner) -> None:
    together = runner.run(all_rows())
    assert [runner.run([row])[0] for row in all_rows()] == together


def test_swapped_operator(runner: HostRunner) -> None:
    (result,) = among_good(runner, with_text(soft_clamp(), "wp::mul", "wp::add"))
    assert result.status == "wrong_value"
    assert result.reason.startswith("result[")
    assert result.reason.endswith("at n=64")


def test_a_wrong_field_of_a_struct_is_found(runner: HostRunner) -> None:
    (result,) = among_good(runner, with_text(structs(), "wp::mul", "wp::add"))
    assert result.status == "wrong_value"
    assert ".mass is" in result.reason


def test_unwritten_output(runner: HostRunner) -> None:
    (result,) = among_good(runner, with_text(soft_clamp(), "wp::array_store", "if (0) wp::store"))
    assert result.status == "compile_error"
    (result,) = among_good(
        runner, with_text(soft_clamp(), "wp::array_store", "if (var_0 > 0) wp::array_store")
    )
    assert result.status == "wrong_value"
    assert "nan" in result.reason


def test_endless_loop_and_crash_and_broken_text_at_once() -> None:
    hangs = in_kernel(soft_clamp(), "for (volatile int go = 1; go;) { }")
    falls = in_kernel(grid_2d(), "*(volatile int*)8 = 1;")
    aborts = in_kernel(grid_2d(), "__builtin_trap();")
    broken = with_text(atomics(), "wp::atomic_max", "wp::no_such_function")
    unbalanced = with_text(structs(), "}", "")
    with HostRunner(timeout_s=5.0) as hurried:
        results = among_good(hurried, hangs, falls, broken, aborts, unbalanced)
    assert [result.status for result in results] == [
        "timeout",
        "crashed",
        "compile_error",
        "crashed",
        "compile_error",
    ]
    assert results[0].reason == "no result within 5 s"
    assert results[1].reason == "SIGSEGV"
    assert results[2].reason.startswith("cuda_forward:")
    assert "no_such_function" in results[2].reason
    assert str(warp_include_dir()) not in results[2].reason
    assert results[3].reason in ("SIGILL", "SIGTRAP", "SIGABRT")


def test_unknown_symbol_does_not_load(runner: HostRunner) -> None:
    bad = in_kernel(soft_clamp(), "extern void nowhere(); nowhere();")
    (result,) = among_good(runner, bad)
    assert result.status == "compile_error"


@pytest.mark.parametrize("at", ["result.shape[0]", "-1", "result.shape[0] + 900"])
def test_write_outside_an_array(runner: HostRunner, at: str) -> None:
    bad = in_kernel(soft_clamp(), f"var_result.data[{at.replace('result', 'var_result')}] = 0.0f;")
    (result,) = among_good(runner, bad)
    assert result.status == "wrote_out_of_bounds"
    assert "result" in result.reason


def test_input_overwritten(runner: HostRunner) -> None:
    (result,) = among_good(runner, in_kernel(soft_clamp(), "var_heights.data[0] += 1.0f;"))
    assert (result.status, result.reason) == ("input_changed", "wrote to heights at n=64")


def test_reference_that_raises(runner: HostRunner) -> None:
    bad = with_text(soft_clamp(), "for i in range(dim[0]):", "for i in dim[1]:", "reference")
    (result,) = among_good(runner, bad)
    assert result.status == "reference_error"
    assert "IndexError" in result.reason


def test_args_that_do_not_fit_the_kernel(runner: HostRunner) -> None:
    row = soft_clamp()
    more = row | {"args": [*row["args"], size_of("more", "n")]}
    other = row | {"args": [a | {"dtype": "float64"} for a in row["args"]]}
    planar = row | {"launch": {"dim": ["n", "1"], "block_dim": 256}}
    undrawable = row | {"args": [a | {"init": "unit"} for a in row["args"]]}
    results = among_good(runner, more, other, undrawable, planar)
    assert {result.status for result in results} == {"bad_row"}
    assert results[0].reason == "the kernel takes 3 parameters, args has 4"
    assert results[1].reason == "parameter 1: 4 bytes in the kernel, 8 in args"
    assert results[3].reason == "the kernel has 1 launch dimensions, launch.dim has 2"


@pytest.mark.parametrize(
    ("at", "place"),
    [
        ("var_0 + 64", "bytes after the end of heights"),
        ("var_0 - 65", "bytes before the start of heights"),
    ],
)
def test_read_outside_an_array(runner: HostRunner, at: str, place: str) -> None:
    bad = with_text(
        soft_clamp(), "wp::address(var_heights, var_0)", f"wp::address(var_heights, {at})"
    )
    (result,) = among_good(runner, bad)
    assert result.status == "read_out_of_bounds"
    assert place in result.reason


def test_an_atomic_made_plain_is_a_race(runner: HostRunner) -> None:
    row = atomics()
    old = next(line for line in row["cuda_forward"].splitlines() if "wp::atomic_add(" in line)
    target, value = old.split("= ")
    array, *index, added = value[len("wp::atomic_add(") : -2].split(", ")
    at = ", ".join((array, *index))
    new = f"{target}= wp::load(wp::address({at})); "
    new += f"wp::array_store({at}, {target.strip()} + {added});"
    (result,) = among_good(runner, with_text(row, old, new))
    assert result.status == "data_race"
    assert re.match(r"thread \d+ reads \w+\[\d+\], which thread \d+ writes at", result.reason)


def test_two_threads_that_store_to_one_element_are_a_race(runner: HostRunner) -> None:
    bad = with_text(
        soft_clamp(), "wp::array_store(var_result, var_0,", "wp::array_store(var_result, var_0 / 2,"
    )
    (result,) = among_good(runner, bad)
    assert result.status == "data_race"
    assert result.reason == "thread 1 writes result[0], which thread 0 writes at n=64"


def test_a_loop_of_gotos_ends_by_count_not_by_clock(runner: HostRunner) -> None:
    bad = in_kernel(soft_clamp(), "again:; if (dim.size > 1) goto again;")
    results = [among_good(runner, bad)[0] for _ in range(2)]
    assert results[0] == results[1]
    assert results[0].status == "timeout"
    assert "without end" in results[0].reason


def test_memory_eater() -> None:
    eat = "for (;;) { char* p = (char*)malloc(1 << 24); "
    eat += "for (int b = 0; b < (1 << 24); b += 512) p[b] = 1; }"
    with HostRunner(timeout_s=600.0) as patient:
        (result,) = among_good(patient, in_kernel(soft_clamp(), eat))
    assert result.status == "out_of_memory"
    assert "bytes of memory" in result.reason


def test_abort(runner: HostRunner) -> None:
    (result,) = among_good(runner, in_kernel(soft_clamp(), "if (dim.size > 1) __builtin_trap();"))
    assert (result.status, result.reason) == ("crashed", "SIGILL")


def test_every_status_is_listed(runner: HostRunner) -> None:
    assert {result.status for result in runner.run(all_rows())} <= {*RunStatus}
    assert runner.run([]) == []


def test_rows_run_with_the_headers_of_a_dataset(tmp_path: Path) -> None:
    include = tmp_path / "with a space" / "include"
    shutil.copytree(warp_include_dir(), include, ignore=shutil.ignore_patterns("*.cpp", "*.cu"))
    with HostRunner(include_dir=include) as host:
        assert [result.status for result in host.run([soft_clamp()])] == ["agrees"]
    (include / "builtin.h").write_text("#error not these\n", encoding="utf-8")
    with HostRunner(include_dir=include) as host, pytest.raises(RuntimeError, match="headers"):
        host.run([soft_clamp()])
    with pytest.raises(FileNotFoundError):
        HostRunner(include_dir=tmp_path)


def test_a_row_alone_is_compiled_as_it_stands() -> None:
    row = soft_clamp()
    text = translation_unit([row])
    assert "namespace pairsmith_row" not in text
    assert row["cuda_helpers"] in text
    assert row["cuda_forward"] in text


def test_guards_surround_every_array() -> None:
    for name, byte, place in (("x", -1, "before the start of x"), ("y", 6, "after the end of y")):
        arena = Arena({"x": np.zeros(3, np.int16), "y": np.zeros(6, np.int8)})
        assert arena.written_outside() == ""
        arena.memory[arena.start[name] + byte] ^= 1
        assert arena.written_outside().endswith(place)
        assert arena.changed(["x", "y"]) == []


@pytest.mark.parametrize(
    "past", ["-5000", "arena.memory.size + 5000", "arena.memory.size + 9_000_000"]
)
def test_what_writes_far_outside_ends_the_process_and_changes_nothing_of_ours(past: str) -> None:
    code = f"""
import ctypes, numpy as np
from validate.host.memory import Arena
arena = Arena({{"x": np.zeros(3)}})
others = [bytes(1000) for _ in range(1000)]
ctypes.memset(arena.base + {past}, 1, 4)
"""
    ended = subprocess.run([sys.executable, "-c", code], timeout=600, check=False)
    assert ended.returncode == -signal.SIGSEGV


def test_importing_the_host_run_does_not_import_warp() -> None:
    modules = (
        "host.runner, host.worker, host.alone, host.clang, row.schema, row.inputs, row.columns"
    )
    modules += ", oracle.reference, oracle.compare"
    names = ", ".join(f"validate.{name}" for name in modules.split(", "))
    code = f"import sys, {names}; sys.exit('warp' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
