"""How many wrong texts pass the scorer, and how many honest ones it refuses, at several seeds.

PYTHONPATH=.:tests/support python scripts/measure/judge/suite.py [--seeds N] [--kind K]
"""

from __future__ import annotations

import argparse
from collections import Counter

from judge_texts import JudgeText, honest_texts, judge_rows, wrong_texts

from validate.score.scorer import Answer, Scorer, Verdict


def main() -> None:
    """Print, by class, what should have been told otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="the first hidden seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kind", help="only this class of texts")
    parser.add_argument("--only", choices=["wrong", "honest"])
    told = parser.parse_args()
    for what, texts, passes in (
        ("wrong", wrong_texts(), False),
        ("honest", honest_texts(), True),
    ):
        if told.only in (None, what):
            chosen = [text for text in texts if told.kind in (None, text.kind)]
            _measure(what, chosen, passes, told)


def _measure(what: str, texts: list[JudgeText], passes: bool, told: argparse.Namespace) -> None:
    rows = judge_rows()
    missed: Counter[str] = Counter()
    said: dict[str, Verdict] = {}
    for seed in range(told.first, told.first + told.seeds):
        with Scorer(hidden_seed=seed, workers=told.workers) as scorer:
            answers = [Answer(t.text, rows[t.row_id], t.launch) for t in texts]
            verdicts = scorer.score_batch(answers)
        for text, verdict in zip(texts, verdicts, strict=True):
            if verdict.passed != passes:
                missed[f"{text.kind}/{text.name}"] += 1
                said[f"{text.kind}/{text.name}"] = verdict
    count = len(texts) * told.seeds
    of_texts = f"({len(missed)} of {len(texts)} texts)"
    print(f"{what}: {sum(missed.values())} of {count} told wrongly {of_texts}")
    print("  by class:", dict(Counter(name.split("/")[0] for name in missed)))
    for name, times in sorted(missed.items()):
        verdict = said[name]
        said_of_it = f"{verdict.status}: {verdict.reason[:160]!r} {verdict.detail[:100]}"
        print(f"  {name}: {times} of {told.seeds}; {said_of_it}")


if __name__ == "__main__":
    main()
