"""`pairsmith lower` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from synth.cli.main import main
from synth.lower import build as lower_build
from synth.lower.spec import read_spec
from synth.lower.text import Lowered
from synth.lower.text import lower as lowered_text
from validate.errors import CompileUnavailable

ROOT = Path(__file__).resolve().parents[3]
SPEC = '{"op": "matmul_relu", "schedule": {"tile_m": 16, "tile_n": 16}}'


def lower(*arguments: object, spec: str = SPEC) -> Result:
    return CliRunner().invoke(main, ["lower", *map(str, arguments)], input=spec)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_the_text_goes_to_stdout_or_a_file(tmp_path: Path, cache: Path) -> None:
    text = lowered_text(read_spec(SPEC)).text
    done = lower("-", "--cache", cache)
    assert (done.exit_code, done.stdout) == (0, text)
    assert done.stderr.startswith("built ")
    file = tmp_path / "spec.json"
    file.write_text(SPEC)
    done = lower(file, "-o", tmp_path / "out.cu", "--cache", cache)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.startswith("reused ")
    assert (tmp_path / "out.cu").read_text() == text


def test_check_compiles_and_runs_and_json_says_so(cache: Path) -> None:
    arguments = ("-", "--json", "--check", "--arch", "sm_90", "--arch", "sm_80", "--cache", cache)
    first = lower(*arguments)
    assert first.exit_code == 0
    found = json.loads(first.stdout)
    spec = read_spec(SPEC)
    assert {"key", "op", "schedule", "launch", "args", "text", "archs", "checks"} <= set(found)
    assert found["key"] == spec.key()
    assert found["schedule"]["vectorize"] == 4
    assert found["archs"] == {"sm_80": "compiles", "sm_90": "compiles"}
    assert len(found["checks"]) == 5
    assert {check["status"] for check in found["checks"]} == {"agrees"}
    assert {"m": 1, "n": 1, "k": 1} in [check["shape"] for check in found["checks"]]
    assert "sm_80: compiles\n" in first.stderr
    assert "m=1,n=1,k=1: agrees" in first.stderr
    second = lower(*arguments)
    assert second.stdout == first.stdout
    assert second.stderr.splitlines()[:-1] == first.stderr.splitlines()[:-1]
    assert second.stderr.splitlines()[-1].startswith("reused ")


def test_a_schedule_that_is_chosen_is_explained(cache: Path) -> None:
    spec = '{"op": "matmul", "dtype": "float16", "shape": [512, 512, 512]}'
    done = lower("-", "--json", "--cache", cache, spec=spec)
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["chosen"]["by"] == "model"
    assert found["chosen"]["sizes"] == {"m": 512, "n": 512, "k": 512, "batch": 1}
    assert done.stderr.startswith(f"schedule model: {found['chosen']['why']}\nbuilt ")
    assert "for NVIDIA H100" in found["chosen"]["why"]
    other = lower("-", "--json", "--device", "A100", "--cache", cache, spec=spec)
    assert "for A100 at m=512" in other.stderr


def test_shapes_are_those_asked_for(cache: Path) -> None:
    done = lower(
        "-", "--json", "--check", "--shape", "3,5,7", "--shape", "20,4,8", "--cache", cache
    )
    shapes = [tuple(check["shape"].values()) for check in json.loads(done.stdout)["checks"]]
    assert shapes == [(3, 5, 7), (20, 4, 8)]


def test_a_second_call_compiles_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lower("-", "--check", "--shape", "3,5,7", "--cache", cache)
    assert first.stderr.splitlines()[-1].startswith("built ")

    def unavailable(*_: object) -> None:
        raise CompileUnavailable("NVRTC is missing")

    monkeypatch.setattr(lower_build, "compile_archs", unavailable)
    second = lower("-", "--check", "--shape", "3,5,7", "--cache", cache)
    assert second.exit_code == 0
    assert second.stderr.splitlines()[-1].startswith("reused ")
    third = lower("-", "--check", "--arch", "sm_80", "--cache", cache)
    assert (third.exit_code, third.stderr) == (2, "pairsmith: NVRTC is missing\n")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("__syncthreads();", "", "m=16,n=32,k=16: read_out_of_bounds (thread"),
        ("sum += ", "sum -= ", "wrong_value"),
        ("int ty =", "int ty : ", "sm_90: compile_error"),
    ],
)
def test_a_failed_check_gives_code_1(
    cache: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    def broken(spec: object) -> Lowered:
        sound = lowered_text(read_spec(SPEC_OF_ONE))
        text = sound.text.replace(old, new)
        assert text != sound.text
        return replace(sound, text=text)

    monkeypatch.setattr(lower_build, "lower", broken)
    done = lower("-", "--check", "--cache", cache, spec=SPEC_OF_ONE)
    assert done.exit_code == 1
    assert said in done.stderr


SPEC_OF_ONE = '{"op": "matmul", "schedule": {"tile_m": 16, "tile_n": 16, "vectorize": 1}}'


@pytest.mark.parametrize(
    ("arguments", "spec", "line"),
    [
        ((), '{"op": "gemm"}', 'op: "gemm" is not allowed; allowed are matmul, relu, matmul_relu'),
        ((), "no", "the spec is no JSON: Expecting value"),
        ((), '{"op": "matmul", "schedule": {"tile_k": 7}}', "schedule.tile_k: 7 is not allowed"),
        (("--arch", "sm_1"), SPEC, "--arch: unknown architecture 'sm_1'; known are sm_75"),
        (("--shape", "1,1,1"), SPEC, "--shape: is allowed with --check alone"),
        (("--check", "--shape", "1,1"), SPEC, "--shape: '1,1' is not allowed; allowed are M,N,K"),
        (("--check", "--shape", "0,1,1"), SPEC, "--shape: '0,1,1' is not allowed"),
        (("--check", "--shape", "1,-1,1"), SPEC, "--shape: '1,-1,1' is not allowed"),
        (("--check", "--shape", "9999,9999,99"), SPEC, "products in whole tiles"),
        (("--check", "--shape", "1,1,65537"), SPEC, "--shape: '1,1,65537' is not allowed"),
        (("-o", "/dev/null/x.cu"), SPEC, "-o: cannot write /dev/null/x.cu: "),
        (("--cache", "/dev/null/x"), SPEC, "--cache: cannot "),
    ],
)
def test_a_bad_request_gets_one_line_and_code_2(
    cache: Path, arguments: tuple[str, ...], spec: str, line: str
) -> None:
    done = lower("-", "--cache", cache, *arguments, spec=spec)
    assert done.exit_code == 2
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"pairsmith: {line}") or line in last
    assert len(done.stderr.splitlines()) == 1


def test_a_field_that_does_nothing_is_said(cache: Path) -> None:
    spec = '{"op": "relu", "schedule": {"tile_k": 16}}'
    done = lower("-", "--cache", cache, spec=spec)
    assert done.exit_code == 0
    assert done.stderr.startswith("schedule.tile_k: relu has no inner dimension")
    plain = lower("-", "--cache", cache, spec='{"op": "relu"}')
    assert "tile_k" not in plain.stderr


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (None, "cannot read spec.json: No such file"),
        (b"\xff\xfe", "cannot read spec.json: it is no"),
    ],
)
def test_as_a_user_runs_it(tmp_path: Path, data: bytes | None, line: str) -> None:
    if data is not None:
        (tmp_path / "spec.json").write_bytes(data)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "synth", "lower", "spec.json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"pairsmith: {line}")
    assert len(done.stderr.splitlines()) == 1
    (tmp_path / "spec.json").write_text(SPEC)
    done = subprocess.run(
        [sys.executable, "-m", "synth", "lower", "spec.json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout == lowered_text(read_spec(SPEC)).text
    assert len(list((tmp_path / "pairsmith" / "lower").rglob("*.json"))) == 1


def test_a_closed_standard_input_is_said_in_one_line() -> None:
    words = [sys.executable, "-m", "synth", "lower", "-"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "pairsmith: cannot read the spec: standard input is closed\n"
