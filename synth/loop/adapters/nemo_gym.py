"""NeMo Gym: a resources server that judges kernels, and the lines of its data.

    rows(tasks) as JSON Lines for an agent's `datasets`, and as the server's entrypoint a file with
    `from synth.loop.adapters.nemo_gym import KernelServer; KernelServer.run_webserver()`

With NeMo Gym 0.5.1: `notes/measurements/loop.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseVerifyRequest,
    BaseVerifyResponse,
    ReverifyMode,
    SimpleResourcesServer,
)

from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import Entry


def rows(tasks: Iterable[Entry]) -> list[dict[str, Any]]:
    """What NeMo Gym reads, a line each; ``row`` is JSON of what the judge needs."""
    return [
        {
            "responses_create_params": {"input": [{"role": "user", "content": entry["question"]}]},
            "row": entry["metadata"]["row"],
            "id": entry["metadata"]["id"],
        }
        for entry in tasks
    ]


class KernelConfig(BaseResourcesServerConfig):
    """Verdicts need nothing but the request, so they can be asked for again."""

    REVERIFY_MODE: ClassVar[ReverifyMode] = ReverifyMode.STATELESS


class KernelVerifyRequest(BaseVerifyRequest):
    """A response to a task; ``row`` as in the task's line."""

    row: str


class KernelVerifyResponse(BaseVerifyResponse):
    """``reward`` 1.0 or 0.0; ``judged`` is 0.0 where nothing can be said, as the row is wrong."""

    status: str
    credit: float
    judged: float


class KernelServer(SimpleResourcesServer):
    """Judges responses on the CPU, as many at a time as the scorer has workers."""

    config: KernelConfig

    async def verify(self, body: KernelVerifyRequest) -> KernelVerifyResponse:
        """The verdict on the last message's text."""
        verdict = await shared_scorer().score_async(_text(body.response), row_of(body.row))
        return KernelVerifyResponse(
            **body.model_dump(include={"responses_create_params", "response"}),
            reward=float(verdict.passed),
            status=str(verdict.status),
            credit=verdict.credit,
            judged=float(verdict.judged),
        )


def _text(response: Any) -> str:
    """The text of the last message of a response; empty where it has none."""
    for output in reversed(response.output):
        if output.type == "message":
            return "".join(part.text for part in output.content if part.type == "output_text")
    return ""
