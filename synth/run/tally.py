"""What happened to draws: the count of them, why some were not taken, what checks measured."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """``rejects`` counts by ``category/idiom/reason``; ``rejected_rows`` failed a check, with what
    broke them; ``evidence`` are raw measurements of rows by this host."""

    draws: int = 0
    rejects: Counter[str] = field(default_factory=Counter)
    rejected_rows: list[dict[str, Any]] = field(default_factory=list)
    evidence: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.draws += other.draws
        self.rejects.update(other.rejects)
        self.rejected_rows += other.rejected_rows
        self.evidence += other.evidence

    def to_json(self) -> str:
        return json.dumps(
            {
                "draws": self.draws,
                "rejects": dict(sorted(self.rejects.items())),
                "rejected_rows": self.rejected_rows,
                "evidence": self.evidence,
            },
            sort_keys=True,
        )

    @staticmethod
    def from_json(text: str) -> Tally:
        found = json.loads(text)
        return Tally(
            found["draws"], Counter(found["rejects"]), found["rejected_rows"], found["evidence"]
        )
