"""Measure an archive of many attempts: writing, queries, exports.

Run: PYTHONPATH=. python scripts/measure/loop/archive.py [--attempts 10000] [--judged 200]
[--folder FOLDER]

Attempts have the texts of data/samples, right and spoilt, so that their sizes and verdicts are
those of real ones; nothing is asked. Trajectories and preferences of the first --judged attempts
are judged again as they are exported, loaded, and given to TRL's functions, where it is installed
(it needs no torch for these).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pairsmith
from synth.loop.archive import Archive, Attempt, Judgement, best_of
from synth.loop.export import export
from synth.loop.prompts import feedback_of, first_messages, next_messages
from synth.loop.solve import archived_tasks

ROOT = Path(__file__).resolve().parents[3]
MODELS = ("small", "large")
STATUSES = ("passed", "wrong_value", "compile_error", "no_kernel")
JUDGED = ("trajectories", "preference")
FORMS = ("attempts", "best", *JUDGED)
COLUMNS = ("messages", "prompt", "chosen", "rejected")


SLIPS: dict[str, Callable[[str], str]] = {
    "passed": lambda right: right,
    "wrong_value": lambda right: right.replace("blockIdx.x", "7 + blockIdx.x"),
    "compile_error": lambda right: right.replace(";\n", "\n", 1),
    "no_kernel": lambda right: "I would write a kernel with a thread for each element.",
}
"""What a first answer is, and what makes it so of a right one."""


def fill(archive: Archive, attempts: int) -> float:
    """Add attempts and their verdicts, in chains of two where the first is wrong; seconds for
    one."""
    entries = list(pairsmith.tasks("sft", path=ROOT / "data" / "samples"))
    tasks = archived_tasks(entries, "sft")
    archive.add_tasks(tasks)
    began_s, number, chain = time.perf_counter(), 0, 0
    while number < attempts:
        task, right = tasks[chain % len(tasks)], entries[chain % len(tasks)]["answer"]
        model = MODELS[chain // len(tasks) % len(MODELS)]
        status = STATUSES[chain // 7 % len(STATUSES)]
        messages, parent = first_messages(task.question), None
        for turn, verdict in enumerate((status, "passed") if status != "passed" else (status,)):
            text = SLIPS[verdict](right)
            name = f"{number:024x}"
            told = (name, parent, task.id, model, chain, turn, messages)
            archive.add_attempt(Attempt(*told, text, "", "stop", 900, 700))
            archive.add_judgement(judgement(name, verdict))
            said = feedback_of({}, verdict, "no reason is kept", {}, "stop", full=False)
            messages, parent = next_messages(messages, text, said), name
            number += 1
        chain += 1
    return (time.perf_counter() - began_s) / number


def judgement(name: str, status: str) -> Judgement:
    passed = status == "passed"
    metrics = {"credit": float(passed), "share": 0.5, "compiled": True, "launched": True}
    return Judgement(name, status, "", [], {"detail": ""}, metrics, passed, True, 0.1)


def exported(archive: Archive, out: Path, judged: int) -> None:
    """Export all as they are, and of the first ``judged`` attempts what is judged again; load each
    as trainers do."""
    from datasets import load_dataset

    last = archive.query(columns=("answered_at",), limit=judged + 1)[-1]["answered_at"]
    for form in FORMS:
        wanted = {"until": last} if form in JUDGED else {}
        began_s = time.perf_counter()
        done = export(archive, out / f"{form}.parquet", form, **wanted)
        took_s = time.perf_counter() - began_s
        file, cache = str(out / f"{form}.parquet"), str(out / "cache")
        rows = load_dataset("parquet", data_files=file, cache_dir=cache)["train"]
        assert len(rows) == done.rows
        print(f"export {form}: {done.rows} rows, {done.otherwise} otherwise, {took_s:.1f} s; loads")
        if form in JUDGED:
            print(f"    TRL: {checked_by_trl(list(rows))}")


def checked_by_trl(rows: list[dict[str, Any]]) -> str:
    """What TRL's own functions say of rows, as its trainers call them before they begin."""
    try:
        from trl import __version__
        from trl.data_utils import (
            apply_chat_template,
            is_conversational,
            maybe_extract_prompt,
        )
    except ImportError as error:
        return f"not there ({error})"
    speaker = Speaker()
    for row in rows:
        assert is_conversational(row)
        told = {name: row[name] for name in COLUMNS if name in row}
        if "chosen" in told:
            # There is a prompt of its own, and none is to be found.
            assert maybe_extract_prompt(told) == told
        texts = apply_chat_template(told, speaker)
        if "chosen" not in told:
            assert texts["text"] == speaker.apply_chat_template(told["messages"], tokenize=False)
            assert [m["role"] for m in told["messages"][:3]] == ["system", "user", "assistant"]
            assert told["messages"][-1]["role"] == "assistant"
            continue
        for side in ("chosen", "rejected"):
            assert texts["prompt"] + texts[side] == speaker.apply_chat_template(
                [*told["prompt"], *told[side]], tokenize=False
            )
            assert row[side][0]["content"] in texts[side]
        assert texts["chosen"] != texts["rejected"]
    return f"{len(rows)} rows pass its data_utils (form, prompt, chat template), {__version__}"


class Speaker:
    """In a tokenizer's place: messages as a text."""

    def apply_chat_template(
        self, messages: list[dict[str, str]], add_generation_prompt: bool = False, **_more: Any
    ) -> str:
        """Messages one after the other, as chat templates have them."""
        text = "".join(f"<|{m['role']}|>{m['content']}<|end|>" for m in messages)
        return text + "<|assistant|>" * add_generation_prompt


def timed(work: Callable[[], object], times: int = 9) -> tuple[float, float]:
    """Median and most seconds."""
    taken = []
    for _ in range(times):
        began_s = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began_s)
    return statistics.median(taken), max(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--judged", type=int, default=200, help="attempts to judge again")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        path = Path(folder) / "a.sqlite"
        with Archive(path, create=True) as archive:
            each_s = fill(archive, asked.attempts)
            print(f"written: {1000 * each_s:.2f} ms for an attempt and its verdict")
            print(f"file: {path.stat().st_size / 1e6:.1f} MB")
            task = archive.query(columns=("task",), limit=1)[0]["task"]
            line = ("id", "task", "model", "sample", "turn", "verdict", "error")
            for name, work in {
                "query, 50 lines": lambda: archive.query(columns=line, limit=50),
                "query --task": lambda: archive.query(columns=line, task=task),
                "query --model --verdict": lambda: archive.query(
                    columns=line, model="small", verdict="wrong_value"
                ),
                "query --not-passed, all lines": lambda: archive.query(columns=line, passed=False),
                "query --json, all": lambda: archive.query(),
                "show TASK": lambda: best_of(archive.query(task=task)),
                "list": archive.summary,
                "export attempts": lambda: export(archive, path.with_suffix(".pq"), "attempts"),
            }.items():
                median_s, most_s = timed(work, 3 if name.startswith("export") else 9)
                print(f"{name:32} {1000 * median_s:8.1f} ms, most {1000 * most_s:8.1f} ms")
            exported(archive, Path(folder), asked.judged)


if __name__ == "__main__":
    main()
