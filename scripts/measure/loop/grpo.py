"""A small model in the loop on one GPU machine: trained, asked, told what was wrong, rewarded.

    python scripts/measure/judge/kit.py KIT.tar.xz    # where that machine has no Warp
    PYTHONPATH=. python scripts/measure/worth.py prepare OUT FOLDER --view sft --view renamed
    PYTHONPATH=. python scripts/measure/loop/tasks.py OUT FOLDER
    PYTHONPATH=site:. python scripts/measure/loop/grpo.py FOLDER RUN  # there, 10 minutes at most

The transformer of `worth.py` is trained from nothing; `synth.loop.solve` asks it 200 tasks, eight
samples and two turns each; then it learns from verdicts (`grpo_step.py`) until `--minutes` are
over, and is asked again. RUN gets `grpo.jsonl`, a line for each thing that was measured as soon as
it was, and `attempts.sqlite.gz`, the archive of its answers. Stopped at any time, both hold what
was done. Needs torch, NumPy, tokenizers and what the judge needs, no network.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from scripts.measure.loop.grpo_step import Asked, Learner, verdicts_of
from scripts.measure.loop.speaker import Speaker, Voice
from scripts.measure.loop.tasks import ASKED, PRACTICE, read_tasks
from scripts.measure.training.answers import Draw
from scripts.measure.training.plan import Plan as Training_
from scripts.measure.training.tokens import TOKENIZER, TRAIN, read_documents, read_index
from scripts.measure.training.train import Training
from synth.check.answers import pass_at_k
from synth.errors import SettingsError
from synth.loop.archive import Archive
from synth.loop.budget import Budget, Price
from synth.loop.client import Endpoint
from synth.loop.rewards import processors
from synth.loop.solve import Judge, Plan, Solver, archived_tasks
from validate.score.scorer import Scorer

HIDDEN_SEED = 20_261_124
"""Of the rewards and of the two measurements around them; answers in the archive have another."""
_ASKED_AGAIN = 2
_LAST_S = 45.0
"""Left for the measurement after learning."""
_OWN = 32

Tell = Callable[..., None]


def main() -> int:
    told = _parser().parse_args()
    told.run.mkdir(parents=True, exist_ok=True)
    with (told.run / "grpo.jsonl").open("w", encoding="utf-8") as file:
        began_s = time.monotonic()

        def tell(what: str, **values: Any) -> None:
            line = {"what": what, "at_s": round(time.monotonic() - began_s, 2), **values}
            print(json.dumps(line), file=file, flush=True)
            print(json.dumps(line), flush=True)

        try:
            _measure(told, tell, began_s + 60 * told.minutes)
        except SettingsError as error:
            print(f"grpo: {error}", file=sys.stderr)
            return 2
    return 0


def _measure(told: argparse.Namespace, tell: Tell, deadline_s: float) -> None:
    tasks = read_tasks(told.folder)
    asked = tasks[ASKED][: told.tasks]
    with Scorer(hidden_seed=HIDDEN_SEED, workers=told.workers) as scorer:
        _check_judge(scorer, asked, told.workers, tell)
        voice = _trained(told, tell)
        if told.samples:
            _solve(told, voice, asked, tell)
        tell("before", **_passing(voice, scorer, asked))
        practice = [_asked(voice, entry) for entry in tasks[PRACTICE][: told.practice]]
        learner = Learner(
            voice,
            scorer,
            group=told.group,
            rate=told.rate,
            rises=told.rises,
            batch=told.batch_tokens,
        )
        longest_s = 0.0
        for some in islice(_in_turn(practice, told.tasks_a_step), told.steps):
            if time.monotonic() + longest_s + told.last > deadline_s:
                break
            step_s = time.monotonic()
            tell("step", **learner.step(some))
            longest_s = max(longest_s, time.monotonic() - step_s)
        tell("after", **_passing(voice, scorer, asked))


def _check_judge(
    scorer: Scorer, entries: Sequence[Mapping[str, Any]], workers: int, tell: Tell
) -> None:
    """Raises :class:`SettingsError` where rows' own answers do not pass: nothing would be true."""
    began_s = time.monotonic()
    some = entries[:_OWN]
    rows = [json.loads(entry["metadata"]["row"]) for entry in some]
    verdicts, _ = verdicts_of(scorer, rows, [entry["answer"] for entry in some])
    wrong = [verdict for verdict in verdicts if not verdict.passed]
    tell("judge", own=len(some), seconds=time.monotonic() - began_s, workers=workers)
    if wrong:
        raise SettingsError(f"an own answer is {wrong[0].status}: {wrong[0].reason[:300]}")


def _trained(told: argparse.Namespace, tell: Tell) -> Voice:
    """The model, trained here, or with the weights of an earlier run."""
    index, parts = read_index(told.folder), read_documents(told.folder)
    plan = Training_(
        minutes=told.train_minutes,
        steps=told.train_steps,
        width=told.width,
        layers=told.layers,
        batch_tokens=told.batch_tokens,
        learning_rate=told.train_rate,
        device=told.device,
        compiled=told.compiled,
        parts=told.parts,
        matrix_rate=told.matrix_rate,
        schedule=told.schedule,
    )
    plan.check()
    context = index["settings"]["max_tokens"]
    training = Training(parts[TRAIN], index["vocabulary"], context, plan)
    if told.weights and told.weights.is_file():
        state = torch.load(told.weights, map_location=training.device, weights_only=True)
        training.model.load_state_dict(state)
        tell("weights", path=told.weights.name)
    else:
        training.run()
        found = training.metrics()
        tell("trained", **{name: found[name] for name in found if name not in ("plan", "losses")})
        tell("losses", losses=found["losses"])
        if told.weights:
            torch.save(training.model.state_dict(), told.weights)
    draw = Draw(told.temperature, torch.Generator(training.device).manual_seed(told.seed))
    tokenizer = Tokenizer.from_file(str(told.folder / TOKENIZER))
    return Voice(training.model, tokenizer, draw, told.answer_tokens)


def _solve(
    told: argparse.Namespace, voice: Voice, entries: Sequence[dict[str, Any]], tell: Tell
) -> None:
    """Samples and turns by the machinery of `pairsmith solve`; pass rates from its archive."""
    began_s = time.monotonic()
    tasks = archived_tasks(entries, "sft")
    speaker = Speaker(voice, Endpoint("http://in-process", "worth", "none", told.answer_tokens))
    plan = Plan(samples=told.samples, turns=told.turns, at_once=told.samples * len(tasks))

    async def solved(archive: Archive) -> None:
        with Judge(archive.hidden_seed, told.workers) as judge:
            solver = Solver(archive, speaker, judge, plan, budget=Budget(), price=Price())
            await solver.run(tasks)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempts.sqlite"
        with Archive(path, create=True) as archive:
            asyncio.run(solved(archive))
            columns = ("task", "sample", "turn", "passed", "judged", "verdict", "judge_seconds")
            found = [dict(row) for row in archive.query(columns=columns)]
        (told.run / "attempts.sqlite.gz").write_bytes(gzip.compress(path.read_bytes()))
    rates = pass_rates(found, told.samples)
    spent = {"speak_s": speaker.asked_s, "tokens": speaker.spoken}
    tell("solve", **rates, **spent, seconds=time.monotonic() - began_s)


def pass_rates(found: Sequence[Mapping[str, Any]], samples: int) -> dict[str, Any]:
    """Shares of tasks from attempts: ``pass_at_1`` and ``pass_at_k`` of first answers, and by
    turn the share of chains that came to pass until then (``by_turn``), and of tasks (``any``)."""
    judged = [one for one in found if one["judged"]]
    first: dict[str, int] = {}
    chains: dict[int, set[tuple[str, int]]] = {}
    for one in judged:
        first.setdefault(one["task"], 0)
        first[one["task"]] += one["passed"] and one["turn"] == 0
        if one["passed"]:
            chains.setdefault(one["turn"], set()).add((one["task"], one["sample"]))
    count, passed, by_turn = len(first), set[tuple[str, int]](), []
    for turn in range(max((one["turn"] for one in judged), default=0) + 1):
        passed |= chains.get(turn, set())
        share = len(passed) / (count * samples)
        by_turn.append({"chains": share, "any": len({task for task, _ in passed}) / count})
    ks = [k for k in (1, 2, 4, 8) if k <= samples]
    rates = {
        f"pass_at_{k}": sum(pass_at_k(samples, c, k) for c in first.values()) / count for k in ks
    }
    verdicts: dict[str, int] = {}
    for one in judged:
        name = f"{one['turn']}/{one['verdict']}"
        verdicts[name] = verdicts.get(name, 0) + 1
    return {"tasks": count, "attempts": len(found), **rates, "turns": by_turn, "verdicts": verdicts}


def _passing(voice: Voice, scorer: Scorer, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The share of drawn answers to tasks that pass."""
    asked = [_asked(voice, entry) for entry in entries for _ in range(_ASKED_AGAIN)]
    began_s = time.monotonic()
    said = voice.say([task.question for task in asked])
    said_s = time.monotonic()
    texts = [voice.text_of(tokens) for tokens in said]
    verdicts, _ = verdicts_of(scorer, [task.row for task in asked], texts)
    done_s = time.monotonic()
    passed = sum(verdict.passed for verdict in verdicts)
    credit = sum(verdict.credit for verdict in verdicts) / len(verdicts)
    times = {"speak_s": said_s - began_s, "judge_s": done_s - said_s}
    return {"answers": len(said), "passed": passed / len(said), "reward": credit, **times}


def _asked(voice: Voice, entry: Mapping[str, Any]) -> Asked:
    return Asked(voice.tokens_of([entry["question"]]), json.loads(entry["metadata"]["row"]))


def _in_turn(tasks: Sequence[Asked], count: int) -> Iterator[Sequence[Asked]]:
    """So many tasks at a time, without end; all have come before one comes again."""
    at = 0
    while True:
        yield [tasks[(at + k) % len(tasks)] for k in range(count)]
        at += count


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--minutes", type=float, default=9.3, help="for all of it")
    parser.add_argument("--last", type=float, default=_LAST_S, help="seconds left for the end")
    parser.add_argument("--weights", type=Path, help="kept here, or taken from here")
    parser.add_argument("--train-minutes", type=float, default=3.5)
    parser.add_argument("--train-steps", type=int)
    parser.add_argument("--train-rate", type=float, default=1.2e-3)
    parser.add_argument("--matrix-rate", type=float, default=0.0, help="Muon's, in training")
    parser.add_argument("--schedule", choices=("cosine", "stays"), default="cosine")
    parser.add_argument("--parts", default="", help="as of `worth.py train`")
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--batch-tokens", type=int, default=65536)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--samples", type=int, default=8, help="0: solve is left out")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--answer-tokens", type=int, default=768)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--practice", type=int, default=96, help="tasks to learn from")
    parser.add_argument("--tasks-a-step", type=int, default=24)
    parser.add_argument("--group", type=int, default=8, help="answers to a task in a step")
    parser.add_argument("--steps", type=int, help="at most")
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--rises", type=int, default=3, help="steps until the rate is reached")
    parser.add_argument("--workers", type=int, default=processors(), help="answers judged at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="")
    parser.add_argument("--no-compile", dest="compiled", action="store_false")
    return parser


if __name__ == "__main__":
    sys.exit(main())
