"""What a view makes of a row: messages as trainers take them."""

from __future__ import annotations

from dataclasses import dataclass

Columns = dict[str, list[dict[str, str]]]
"""Messages by column, as trainers take them."""


@dataclass(frozen=True)
class Exchange:
    """One question, its answer, and the reasons that may stand before it; ``earlier`` are those
    that led to the question."""

    question: str
    answer: str
    reasons: str = ""
    earlier: tuple[Exchange, ...] = ()

    def columns(self, with_reasons: bool) -> Columns:
        """The conversation."""
        messages = [
            _message(role, text)
            for one in (*self.earlier, self)
            for role, text in zip(ROLES, (one.question, one.said(with_reasons)), strict=True)
        ]
        return {"messages": messages}

    def said(self, with_reasons: bool) -> str:
        """The answer, after its reasons where these are wanted."""
        return "\n\n".join([self.reasons] * (with_reasons and bool(self.reasons)) + [self.answer])


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
