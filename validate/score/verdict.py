"""Answers, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from validate.score.judge import CounterExample
from validate.statuses import ScoreStatus

Row = Mapping[str, Any]


Launches = Mapping[str, Any] | Sequence[Any] | None
"""How an answer wants to be launched: one launch, a list, or an object of lists; None: not said."""


@dataclass(frozen=True)
class Answer:
    """A text for a row (a completion or bare CUDA), and how it wants to be launched (None: as the
    text says, else as the row's `plain_launch`): one launch, a list of them, or an object of
    `launches` and `scratch`."""

    cuda: Any
    row: Row
    launch: Launches = None


@dataclass(frozen=True)
class Verdict:
    """`status` is a `validate.statuses.ScoreStatus`; `reason` says where and how, without hidden
    sizes, values or indexes; for `compile_error` it is the log. `detail` and `counter_example` have
    them: keep these from who answers, or change the hidden seed.

    `inputs` is one of `hidden.KINDS`: what the answer was run on; empty when it was not.
    `compiled` and `launched` say how far it came, `share` is the part of the outputs that is right.
    """

    id: str
    status: str
    reason: str = ""
    counter_example: CounterExample | None = None
    inputs: str = ""
    detail: str = ""
    compiled: bool = False
    launched: bool = False
    share: float = 0.0

    @property
    def passed(self) -> bool:
        return self.status == ScoreStatus.PASSED

    @property
    def judged(self) -> bool:
        """Whether anything was said of the answer: not for a wrong row, nor when time was up."""
        return self.status not in (ScoreStatus.ROW_UNFIT, ScoreStatus.NOT_JUDGED)

    @property
    def credit(self) -> float:
        """Partial credit: 1 for a text that passes, at most 0.5 for one that does not (0.1 for
        compiling, 0.1 for launching, 0.3 of the share of outputs that are right)."""
        if self.passed:
            return 1.0
        return 0.1 * self.compiled + 0.1 * self.launched + 0.3 * self.share
