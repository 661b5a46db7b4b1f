"""What a view makes of a row: messages as trainers take them."""

from __future__ import annotations

from dataclasses import dataclass

Columns = dict[str, list[dict[str, str]]]
"""Messages by column, as trainers take them."""


@dataclass(frozen=True)
class Exchange:
    """One question, its answer, and the reasons that may stand before it; ``before`` are the
    messages that led to the question, the user's first."""

    question: str
    answer: str
    reasons: str = ""
    before: tuple[str, ...] = ()

    def columns(self, with_reasons: bool) -> Columns:
        """The conversation."""
        said = [self.reasons] if with_reasons and self.reasons else []
        texts = (*self.before, self.question, "\n\n".join([*said, self.answer]))
        return {"messages": [_message(ROLES[k % 2], text) for k, text in enumerate(texts)]}


@dataclass(frozen=True)
class Preference:
    """One question with the better answer and the worse."""

    question: str
    chosen: str
    rejected: str

    def columns(self, _with_reasons: bool) -> Columns:
        """As preference optimisation takes them; both without reasons, which only one has."""
        return {
            "prompt": [_message(ROLES[0], self.question)],
            "chosen": [_message(ROLES[1], self.chosen)],
            "rejected": [_message(ROLES[1], self.rejected)],
        }


ROLES = ("user", "assistant")


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
