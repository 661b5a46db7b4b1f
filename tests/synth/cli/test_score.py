"""``pairsmith score``: counts, pass@k, and one line for what is wrong with a request."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from generators.program.serialise import from_json
from synth.check.answers import pass_at_k
from synth.cli.main import main
from synth.render.cuda.choose import schedule_for
from synth.render.cuda.module import render
from validate.row.columns import ROW_SCHEMA

ROOT = Path(__file__).resolve().parents[3]
SHARD = ROOT / "data" / "samples" / "train" / "shard-00000.parquet"
ASM = 'extern "C" __global__ void k() { asm("nop"); }'
SEED = ("--hidden-seed", 4711)
Row = dict[str, Any]


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "synth", "score", *map(str, arguments)]


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def pairsmith_score(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command(*arguments), "--quiet"],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )


def pairsmith_score_here(*arguments: object) -> Result:
    """The same in this process, for what ends before any answer is judged."""
    return CliRunner().invoke(main, ["score", *map(str, arguments), "--quiet"])


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Five rows, launched over one dimension if there are such; the last but one has no plain CUDA,
    the last one that is no kernel."""
    found: list[Row] = pq.read_table(SHARD).to_pylist()
    found = sorted(found, key=lambda row: len(row["launch"]["dim"]))[:5]
    for row in found:
        program = from_json(row["program"])
        row.update(render(program, schedule_for(program, "guarded")).columns())
    found[3].update(cuda_plain=None, plain_args=None, schedule=None)
    found[3].update(plain_scratch=None, plain_launch=None)
    found[4].update(cuda_plain="int x;")
    return found


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> Path:
    out = tmp_path_factory.mktemp("score") / "out"
    (out / "train").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, ROW_SCHEMA), out / "train" / "shard-00000.parquet")
    return out


def write(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def answer(row: Row, cuda: str | None = None, **more: Any) -> Row:
    return {"id": row["id"], "cuda": row["cuda_plain"] if cuda is None else cuda, **more}


def reported(
    folder: Path, dataset: Path, lines: list[Any], *options: object
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """What the command says of lines, and its report, which is strict ASCII JSON."""
    report = folder / "report.json"
    file = write(folder / "answers.jsonl", *lines)
    done = pairsmith_score(dataset, file, "--report", report, *options)

    def refuse(word: str) -> None:
        raise AssertionError(word)

    found: dict[str, Any] = json.loads(report.read_bytes().decode("ascii"), parse_constant=refuse)
    return done, found


@pytest.mark.parametrize("workers", [1, 2])
def test_samples_are_counted(dataset: Path, rows: list[Row], tmp_path: Path, workers: int) -> None:
    right, other, third = rows[:3]
    lines = [answer(right)] * 2 + [answer(right, "nothing")] * 3
    lines += [answer(other, ASM)] * 5 + [answer(third)] * 40
    done, found = reported(tmp_path, dataset, lines, "--workers", workers)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "50 answers to 3 rows scored" in done.stdout
    assert "answers/s" in done.stdout
    assert found["complete"]
    assert found["verdicts"] == {"passed": 42, "no_kernel": 3, "compile_error": 5}
    everything = found["groups"]["all"]
    assert everything["pass_at"] == {"1": pytest.approx(1.4 / 3), "5": pytest.approx(2 / 3)}
    assert (everything["tasks"], everything["samples"]) == (3, 50)
    assert any(name.startswith("category ") for name in found["groups"])
    assert any(name.startswith("level ") for name in found["groups"])
    assert [entry["line"] for entry in found["answers"]] == list(range(1, 51))
    assert [entry["credit"] for entry in found["answers"][:3]] == [1.0, 1.0, 0.0]
    assert "pass@1" in done.stdout
    assert "pass@10" not in done.stdout


def test_a_drawn_seed_is_printed_and_gives_the_same_again(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    row = rows[0]
    lines = [answer(row, row["cuda_plain"].replace("if (", "if (0 && ", 1))]
    done, first = reported(tmp_path, dataset, lines)
    assert done.returncode == 0, done.stderr
    (seed,) = re.findall(r"--hidden-seed (\d+)", done.stdout)
    assert first["hidden_seed"] == int(seed)
    done, again = reported(tmp_path, dataset, lines, "--hidden-seed", seed)
    assert first == again
    assert "--hidden-seed" not in done.stdout
    _, other = reported(tmp_path, dataset, lines)
    assert other["hidden_seed"] != int(seed)


def test_a_launch_of_its_own_is_used(dataset: Path, rows: list[Row], tmp_path: Path) -> None:
    row = rows[0]
    (own,) = row["plain_launch"]
    launch = {key: own[key] for key in ("grid", "block", "shared_bytes")}
    whole = {"grid": [4096], "block": ["32 * 2"], "shared_bytes": "0"}
    lines = [
        answer(row, launch={"grid": ["1"], "block": [4096]}),
        answer(row, launch={**launch, "block": [str(size) for size in launch["block"]]}),
        answer(row, launch=whole),
        answer(row, launch={"grid": [True], "block": [64]}),
        answer(row, launch={"grid": ["\ud800"], "block": [64]}),
        answer(row, launch={}),
    ]
    done, found = reported(tmp_path, dataset, lines, *SEED)
    assert done.returncode == 0, done.stderr
    statuses = [entry["status"] for entry in found["answers"]]
    assert statuses == ["bad_launch", "passed", "passed", *["bad_launch"] * 3]


def test_a_completion_is_read(dataset: Path, rows: list[Row], tmp_path: Path) -> None:
    row = rows[0]
    said = f"<think>Let me see.</think>Here it is:\n\n```cuda\n{row['cuda_plain']}\n```\nDone."
    lines = [{"id": row["id"], "completion": said}, answer(row, said)]
    done, found = reported(tmp_path, dataset, lines, *SEED)
    assert done.returncode == 0, done.stderr
    assert found["verdicts"] == {"passed": 2}


def test_text_that_is_no_unicode_costs_only_itself(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    row = rows[0]
    text = row["cuda_plain"]
    # As a JSON writer would write it: a half of a pair alone.
    lines = [
        answer(row),
        answer(row, "\ud800"),
        answer(row, f"{text}\n// \udfff\n"),
        answer(row, text.replace(";", "; int \ud800 = 0;", 1)),
        answer(row, text.replace(";", '; const char* s = "\ud800";', 1)),
        answer(row, f"\ud83d```\n{text}\n```\ud800"),
        answer(row),
    ]
    done, found = reported(tmp_path, dataset, lines, *SEED)
    assert done.returncode == 0, done.stderr
    statuses = [entry["status"] for entry in found["answers"]]
    assert len(statuses) == len(lines)
    assert statuses[0] == statuses[-1] == "passed"
    assert statuses[1] == "compile_error"
    assert statuses[3] == "compile_error"


def test_feedback_for_models_tells_nothing_hidden(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    stored = re.compile(r"^ +\w+\[[^\]\n]+\] = [^;]*;\n", re.MULTILINE)
    row = next(row for row in rows if stored.search(row["cuda_plain"] or ""))
    wrong = answer(row, stored.sub("", row["cuda_plain"]))
    done, full = reported(tmp_path, dataset, [wrong, answer(row)], *SEED)
    assert done.returncode == 0, done.stderr
    bad, good = full["answers"]
    assert bad["status"] == "wrong_value"
    example = bad["counter_example"]
    assert set(example["sizes"]) == {entry["symbol"] for entry in row["sizes"]}
    assert example["output"] in bad["detail"]
    assert bad["compiled"]
    assert bad["launched"]
    assert 0 < bad["credit"] <= 0.5
    assert 0 <= bad["share"] < 1
    assert (good["share"], good["credit"], good["counter_example"]) == (1.0, 1.0, None)
    assert full["hidden_seed"] == SEED[1]

    done, public = reported(tmp_path, dataset, [wrong, answer(row)], *SEED, "--feedback", "public")
    assert done.returncode == 0, done.stderr
    assert "hidden_seed" not in public
    for told, all_of in zip(public["answers"], full["answers"], strict=True):
        assert told == {k: v for k, v in all_of.items() if k not in ("detail", "counter_example")}


def test_bad_requests_get_one_line_and_code_2(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    good = answer(rows[0])
    for lines, what in (
        ([good, "{not json"], "line 2 is no JSON"),
        ([good, "[]"], "line 2 is no JSON object"),
        ([good, {"id": rows[0]["id"]}], "line 2 has no text 'cuda'"),
        ([{"id": rows[0]["id"], "completion": 3}], "line 1 has no text 'completion'"),
        ([{**good, "completion": "x"}], "line 1 has both 'cuda' and 'completion'"),
        ([{**good, "text": "x"}], "line 1 has the unknown key 'text'"),
        ([{**good, "\ud800": "x"}], "line 1 has the unknown key '\\ud800'"),
        ([{**good, "launch": 3}], "line 1: launch is no JSON object"),
        ([good, {**good, "id": "feedfeedfeedfeed"}], "line 2: no row"),
        ([good, {**good, "id": "\ud800"}], "line 2: no row"),
        ([answer(rows[3], "x")], "has no plain CUDA"),
        ([""], "holds no answer"),
    ):
        done = pairsmith_score_here(dataset, write(tmp_path / "bad.jsonl", *lines))
        assert done.exit_code == 2, done.stderr
        assert what in done.stderr
        assert done.stderr.count("\n") == 1
    for arguments in (
        (dataset, tmp_path / "missing.jsonl"),
        (tmp_path, write(tmp_path / "good.jsonl", good)),
        (dataset, tmp_path / "good.jsonl", "--workers", 0),
        (dataset, tmp_path / "good.jsonl", "--timeout", 0),
        (dataset, tmp_path / "good.jsonl", "--timeout", "nan"),
        (dataset, tmp_path / "good.jsonl", "--report", tmp_path / "none" / "r.json"),
    ):
        done = pairsmith_score_here(*arguments)
        assert done.exit_code == 2, done.stderr
        assert done.stderr.count("\n") == 1


def test_a_row_that_is_wrong_itself_counts_against_nobody(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    right, wrong = rows[0], rows[4]
    text = right["cuda_plain"]
    lines = [answer(wrong, text), answer(right), answer(wrong, text), answer(right, "nothing")]
    done, found = reported(tmp_path, dataset, lines, *SEED)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"row {wrong['id']}: its own plain CUDA" in done.stderr
    assert "2 answers not judged" in done.stderr
    assert found["verdicts"] == {"row_unfit": 2, "passed": 1, "no_kernel": 1}
    assert found["groups"]["all"] == {"tasks": 1, "samples": 2, "pass_at": {"1": 0.5}}
    assert [entry["status"] for entry in found["answers"]][::2] == ["row_unfit"] * 2

    done, found = reported(tmp_path, dataset, lines[:1])
    assert done.returncode == 1
    assert found["groups"] == {}


def test_what_is_not_judged_in_time_counts_against_nobody(
    dataset: Path, rows: list[Row], tmp_path: Path
) -> None:
    done, found = reported(tmp_path, dataset, [answer(rows[0])] * 9, "--timeout", "1e-6")
    assert done.returncode == 1
    assert done.stderr == "pairsmith: 9 answers not judged: the time was up\n"
    assert found["verdicts"] == {"not_judged": 9}
    assert found["groups"] == {}


def running(group: int) -> list[int]:
    """Processes of a group, those that have ended left out."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = path.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(of) == group and state != "Z":
            found.append(int(path.parent.name))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_keeps_what_was_judged(
    dataset: Path, rows: list[Row], tmp_path: Path, whole_group: bool
) -> None:
    """A terminal sends it to the whole group, `kill` to the command alone."""
    report = tmp_path / "report.json"
    file = write(tmp_path / "answers.jsonl", *[answer(rows[0])] * 2000)
    process = subprocess.Popen(
        command(dataset, file, "--workers", 2, "--report", report),
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Tests that a shell runs in the background would hand on that it is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    said = b""
    while not re.search(rb"\b[1-9]\d*/2000", said):
        part = os.read(process.stderr.fileno(), 4096)
        assert part, said
        said += part
    time.sleep(0.3)
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=240)
    assert process.returncode == 130, errors
    assert not running(process.pid)
    assert b"Traceback" not in errors
    assert b"broken off" in errors
    assert b"pass@1" in out
    found = json.loads(report.read_text())
    assert not found["complete"]
    assert 8 <= len(found["answers"]) < 2000
    assert set(found["verdicts"]) == {"passed"}


def test_pass_at_k_is_the_unbiased_estimator() -> None:
    assert pass_at_k(10, 0, 5) == 0.0
    assert pass_at_k(10, 10, 10) == 1.0
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)
    assert pass_at_k(5, 2, 2) == pytest.approx(1 - 3 / 10)
    assert pass_at_k(5, 4, 2) == 1.0
