"""`pairsmith lower list`, `show`, `bench` and `validate`, over what a clock of our own measured."""

from __future__ import annotations

import json
import sqlite3
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lower_bench import ComputedBench

from synth.cli.main import main
from synth.lower.choose.request import read_request
from synth.lower.spec import read_spec
from synth.lower.text import lower
from synth.lower.tune.measured import FILE, Measured
from synth.lower.tune.tuner import Tuned, tune

SPECS = (
    '{"op": "softmax", "shape": [4096, 4096]}',
    '{"op": "transpose", "dtype": "float16", "shape": [512, 512]}',
)
no_gpu = pytest.mark.skipif(find_spec("cupy") is not None, reason="there is CuPy")


def call(*words: object, spec: str = "") -> Result:
    return CliRunner().invoke(main, ["lower", *map(str, words)], input=spec)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def tuned(cache: Path, tmp_path: Path) -> list[Tuned]:
    found = []
    for spec in SPECS:
        bench = ComputedBench(tmp_path / "log", device="NVIDIA X1")
        bench.refused.add(read_request(spec).first.key())
        with Measured(cache) as measured:
            found.append(tune(read_request(spec), bench, measured, 14.0))
    return found


def test_list_has_a_line_for_each_that_was_tuned(cache: Path, tuned: list[Tuned]) -> None:
    done = call("list", "--cache", cache)
    assert done.exit_code == 0
    softmax, transpose = done.stdout.splitlines()
    best = tuned[0].best
    assert best is not None
    assert softmax.startswith(f"{best.problem[:12]} softmax float32 4096,4096 on NVIDIA X1: ")
    assert f"{best.time_us:.1f} us {best.key[:12]}, 13 of 14 passed" in softmax
    assert " transpose float16 512,512 " in transpose
    assert call("list", "--op", "transpose", "--cache", cache).stdout == transpose + "\n"
    assert call("list", "--device", "H100", "--cache", cache).stdout == ""
    (first, _) = json.loads(call("list", "--json", "--cache", cache).stdout)
    assert (first["best"], first["measured"], first["passed"]) == (best.key, 14, 13)


def test_show_says_of_each_why_it_was_chosen_or_dropped(cache: Path, tuned: list[Tuned]) -> None:
    best = tuned[0].best
    assert best is not None
    listed = json.loads(call("show", best.problem[:10], "--cache", cache).stdout)
    assert len(listed) == 14
    assert [one["chosen"] for one in listed] == [True] + [False] * 13
    assert listed[0]["key"] == best.key
    assert listed[0]["why"].startswith("chosen: the quickest of 14; the next takes ")
    assert listed[1]["why"].startswith("dropped: it takes ")
    assert listed[-1]["why"] == "dropped: wrong_value: off by more than is allowed"
    for one in listed:
        assert one["spec"] == {"op": "softmax", "dtype": "float32"}
        assert set(one["schedule"]) == {"threads", "held", "rows", "stream"}
        assert one["device"] == "NVIDIA X1"
        assert one["time_us"] is None or len(one["times_us"]) == 3
    assert listed[0]["resources"]["softmax"]["registers"] == 32
    (alone,) = json.loads(call("show", best.key[:12], "--cache", cache).stdout)
    assert alone == listed[0]
    text = call("show", best.key, "--text", "--cache", cache).stdout
    assert text == lower(read_spec(best.spec)).text


def test_lower_takes_what_was_found(cache: Path, tuned: list[Tuned]) -> None:
    best = tuned[0].best
    assert best is not None
    for name in ("NVIDIA X1", "X1"):
        words = ("-", "--json", "--device", name, "--cache", cache)
        found = json.loads(call(*words, spec=SPECS[0]).stdout)
        assert (found["key"], found["chosen"]["by"]) == (best.key, "found")
    assert "the best of 14 tuned here on NVIDIA X1 at these sizes" in found["chosen"]["why"]
    other = json.loads(
        call("-", "--json", "--device", "A100", "--cache", cache, spec=SPECS[0]).stdout
    )
    assert other["chosen"]["by"] == "table"


def test_the_first_word_is_a_file_where_it_is_no_command(tmp_path: Path, cache: Path) -> None:
    file = tmp_path / "spec.json"
    file.write_text(SPECS[1])
    plain = call(file, "--cache", cache)
    assert plain.exit_code == 0
    assert call("make", file, "--cache", cache).stdout == plain.stdout
    assert call("--cache", cache, file).stdout == plain.stdout
    helped = call("--help").stdout
    assert all(word in helped for word in ("make", "list", "show", "bench", "validate"))


def test_validate_checks_texts_anew(cache: Path, tuned: list[Tuned]) -> None:
    done = call("validate", "--quiet", "--cache", cache)
    assert (done.exit_code, done.stdout) == (0, "2 checked, 0 failed\n")
    best = tuned[1].best
    assert best is not None
    with sqlite3.connect(cache / FILE) as database:
        database.execute("DROP TRIGGER measurements_no_update")
        database.execute("UPDATE measurements SET text_sha256='0' WHERE key=?", (best.key,))
    done = call("validate", best.key, "--quiet", "--cache", cache)
    assert done.exit_code == 1
    assert f"{best.key[:12]}: its text is another than the one that was measured" in done.stdout
    assert done.stdout.endswith("1 checked, 1 failed\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("list",), "nothing was tuned in "),
        (("show", "abc"), "nothing was tuned in "),
        (("-", "--shape", "1,1"), "--shape: is allowed with --check alone"),
        (("-", "--budget", "-1"), "Invalid value for '--budget'"),
        (("-", "--tune", "--search", "guess"), "--search"),
    ],
)
def test_a_bad_request_gets_one_line_and_code_2(
    cache: Path, words: tuple[str, ...], line: str
) -> None:
    done = call(*words, "--cache", cache, spec=SPECS[0])
    assert (done.exit_code, done.stdout) == (2, "")
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"pairsmith: {line}")


def test_what_was_not_measured_is_said(cache: Path, tuned: list[Tuned]) -> None:
    assert tuned
    done = call("show", "zzz", "--cache", cache)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "nothing was measured of 'zzz'" in done.stderr


@no_gpu
def test_without_a_gpu_tuning_and_timing_say_so(cache: Path, tuned: list[Tuned]) -> None:
    assert tuned
    for words in (("-", "--tune"), ("bench",)):
        done = call(*words, "--cache", cache, spec=SPECS[0])
        assert (done.exit_code, done.stdout) == (2, "")
        assert "a GPU run needs CuPy" in done.stderr
        assert done.stderr.count("\n") == 1
