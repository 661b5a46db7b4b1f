"""Score mutated texts, each twice: do verdicts repeat, and does anything hang, end or stay behind?

    PYTHONPATH=.:tests/support python scripts/measure/judge/fuzz.py [--count N] [--seed S] …

The texts are those of tests/data/judge, the own plain CUDA of its rows and of data/samples, and the
rewrites of tests/data/honest_rewrites; the mutations are those of mutations.py. All follows
from the seed. Each text is scored by two scorers of one hidden seed: the first takes them one by
one (every other round: together, in order), the second all together in another order. Status and
share must be equal, no exception may come, and in the end no process and no file may be left.
Verdicts that differ, and texts that took too long or made the scorer fail, are printed and written
to --keep as JSON lines. Exit code 1 when there was any. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.measure.judge.corpus import (
    SAMPLES,
    Text,
    dataset_rows,
    own_texts,
    rewritten_texts,
    suite,
    suite_rows,
)
from scripts.measure.judge.mutations import mutate
from scripts.measure.processes import keep_orphans, processes_below, reaped, usage
from validate.score.scorer import Scorer, Verdict

_FAILED = "exception"
_SHOWN = 160


@dataclass
class Found:
    """What a run comes to. `faults` are lines of `--keep`."""

    statuses: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    faults: list[dict[str, Any]] = field(default_factory=list)
    count: int = 0
    slowest_s: float = 0.0
    slowest: str = ""
    busy_s: float = 0.0


def corpus() -> list[Text]:
    """What is mutated; the texts of megabytes are left out, for they are slow to mutate."""
    texts = [*suite("wrong"), *suite("honest"), *rewritten_texts()]
    texts += own_texts([*suite_rows(), *dataset_rows(SAMPLES)])
    return [text for text in texts if len(text.cuda) <= 200_000]


def mutated(texts: Sequence[Text], seed: int, number: int) -> Text:
    """The mutated text of a number: the same for the same seed."""
    stream = random.Random(f"{seed}/{number}")
    at = stream.randrange(len(texts))
    changed, names = mutate(stream, [text.cuda for text in texts], at)
    return Text(f"{number}/{texts[at].name}/{names}", texts[at].row, changed, texts[at].launch)


def _alone(scorer: Scorer, text: Text) -> tuple[Verdict | str, float]:
    began = time.monotonic()
    try:
        found: Verdict | str = scorer.score(text.cuda, text.row, launch=text.launch)
    except Exception as error:  # noqa: BLE001 - that there is none is what is measured
        found = f"{type(error).__name__}: {error}"
    return found, time.monotonic() - began


def one_by_one(
    scorer: Scorer, texts: Sequence[Text], workers: int
) -> list[tuple[Verdict | str, float]]:
    """A verdict (or the words of an exception) for each text, and the seconds it took."""
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda text: _alone(scorer, text), texts))


def together(scorer: Scorer, texts: Sequence[Text]) -> list[Verdict | str]:
    """The same of one batch; after an exception one by one, to know whose it is."""
    try:
        return list(scorer.score_batch([text.answer for text in texts]))
    except Exception as error:  # noqa: BLE001 - as above
        print(f"the batch failed: {type(error).__name__}: {error}", flush=True)
        return [
            f"batch: {found}" if isinstance(found, str) else found
            for found, _ in one_by_one(scorer, texts, 1)
        ]


def _said(found: Verdict | str) -> tuple[str, float]:
    return (_FAILED, 0.0) if isinstance(found, str) else (found.status, found.share)


def _words(found: Verdict | str) -> str:
    if isinstance(found, str):
        return f"{_FAILED}: {found}"
    return f"{found.status} {found.share:.6g} {found.reason} | {found.detail}"


def _round(
    scorers: tuple[Scorer, Scorer],
    texts: Sequence[Text],
    number: int,
    told: argparse.Namespace,
    found: Found,
) -> None:
    began = time.monotonic()
    if number % 2 == 0:
        first = one_by_one(scorers[0], texts, told.workers)
    else:
        first = [(verdict, 0.0) for verdict in together(scorers[0], texts)]
    order = list(range(len(texts)))
    random.Random(f"{told.seed}/order/{number}").shuffle(order)
    shuffled = together(scorers[1], [texts[at] for at in order])
    second = dict(zip(order, shuffled, strict=True))
    found.busy_s += time.monotonic() - began
    for at, (text, (verdict, took_s)) in enumerate(zip(texts, first, strict=True)):
        found.count += 1
        found.statuses[_said(verdict)[0]] += 1
        found.changes.update(text.name.rsplit("/", 1)[1].split("+"))
        if took_s > found.slowest_s:
            found.slowest_s, found.slowest = took_s, text.name
        why = _fault(verdict, second[at], took_s, told.slow_s)
        if why:
            _keep(found, text, why, verdict, second[at], took_s)


def _fault(first: Verdict | str, second: Verdict | str, took_s: float, slow_s: float) -> str:
    if isinstance(first, str) or isinstance(second, str):
        return _FAILED
    if _said(first) != _said(second):
        return "differs"
    return "slow" if took_s > slow_s else ""


def _keep(
    found: Found,
    text: Text,
    why: str,
    first: Verdict | str,
    second: Verdict | str,
    took_s: float,
) -> None:
    found.faults.append(
        {
            "why": why,
            "name": text.name,
            "row": text.row["id"],
            "launch": text.launch,
            "first": _words(first),
            "second": _words(second),
            "seconds": round(took_s, 2),
            "text": text.cuda,
        }
    )
    print(f"{why}: {text.name} ({took_s:.1f} s)")
    for verdict in (first, second):
        print(f"    {ascii(_words(verdict))[:_SHOWN]}", flush=True)


def _line(number: int, found: Found) -> str:
    now, rate = usage(), 2 * found.count / max(1e-9, found.busy_s)
    return (
        f"round {number}: {found.count} texts, {rate:.1f} verdicts/s, "
        f"slowest {found.slowest_s:.1f} s; "
        f"{now.own_mib:.0f} MiB, below {now.below_mib:.0f} MiB in {now.processes} processes "
        f"(largest {now.largest_mib:.0f}), {now.files} files open, {len(found.faults)} faults"
    )


def _left_behind(folder: Path) -> list[str]:
    """Names of processes and files that should be gone."""
    for _ in range(20):
        ended = list(reaped())
        left = processes_below()
        if not left and not ended:
            break
        time.sleep(0.1)
    processes = [f"process {pid}: {name}" for pid, name in left.items()]
    return processes + [f"file {path}" for path in sorted(folder.rglob("*"))]


def fuzz(told: argparse.Namespace) -> Found:
    """Score until the texts, or the time, are used up."""
    texts, found = corpus(), Found()
    end = time.monotonic() + told.time_limit_s
    print(f"{len(texts)} texts to mutate, hidden seed {told.hidden_seed}")
    with (
        Scorer(hidden_seed=told.hidden_seed, workers=told.workers) as first,
        Scorer(hidden_seed=told.hidden_seed, workers=told.workers) as second,
    ):
        for number, start in enumerate(range(told.first, told.first + told.count, told.round)):
            if time.monotonic() > end:
                print(f"the time was up after {found.count} texts")
                break
            numbers = range(start, min(start + told.round, told.first + told.count))
            drawn = [mutated(texts, told.seed, at) for at in numbers]
            _round((first, second), drawn, number, told, found)
            print(_line(number, found), flush=True)
    return found


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=400, help="texts to score")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations")
    parser.add_argument("--hidden-seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1, help="of each of the two scorers")
    parser.add_argument("--round", type=int, default=100, help="texts of a batch")
    parser.add_argument("--time-limit-s", type=float, default=3600.0, help="of the whole run")
    parser.add_argument("--slow-s", type=float, default=10.0, help="no answer may take longer")
    parser.add_argument("--keep", type=Path, help="write the faults here")
    return parser.parse_args()


def main() -> int:
    """Score, print, and look for what is left behind."""
    told = arguments()
    keep_orphans()
    with tempfile.TemporaryDirectory(prefix="score-fuzz-") as name:
        # Of this run alone: others may use the system's folder meanwhile.
        os.environ["TMPDIR"] = tempfile.tempdir = name
        found = fuzz(told)
        left = _left_behind(Path(tempfile.gettempdir()))
        tempfile.tempdir = None
        del os.environ["TMPDIR"]
    print("statuses:", dict(found.statuses.most_common()))
    print("mutations:", dict(found.changes.most_common()))
    print(f"slowest: {found.slowest_s:.2f} s, {found.slowest}")
    print("faults:", dict(Counter(fault["why"] for fault in found.faults)))
    print("left behind:", left or "nothing")
    if told.keep:
        told.keep.write_text("".join(json.dumps(fault) + "\n" for fault in found.faults))
    return 1 if found.faults or left else 0


if __name__ == "__main__":
    sys.exit(main())
