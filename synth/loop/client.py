"""A model behind an endpoint that speaks OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.errors import RunError, SettingsError

Messages = Sequence[Mapping[str, str]]

_NOBODY = (401, 403, 404)
_AGAIN = (408, 409, 425, 429)
_MOST_SAID = 300


@dataclass(frozen=True)
class Endpoint:
    """Where a model is and how it is asked. ``extra`` goes into the body of each request as it is;
    a ``max_completion_tokens`` there takes the place of ``answer_tokens``."""

    base_url: str
    model: str
    key: str = field(repr=False)
    answer_tokens: int = 8192
    stream: bool = False
    timeout_s: float = 600.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises :class:`SettingsError` for a bad address."""
        if not self.base_url.startswith(("http://", "https://")):
            raise SettingsError(f"--base-url {self.base_url}: it begins with http:// or https://")

    def body(self) -> dict[str, Any]:
        """What decides an answer beside the messages."""
        most = {} if "max_completion_tokens" in self.extra else {"max_tokens": self.answer_tokens}
        return {"model": self.model, **most, **self.extra}

    def most_tokens(self) -> int:
        """Most tokens of an answer."""
        body = self.body()
        return int(body.get("max_completion_tokens", body.get("max_tokens", 0)))


@dataclass(frozen=True)
class Reply:
    """What came; tokens are None where the server tells none."""

    text: str
    thinking: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Trouble(Exception):  # noqa: N818 - what a network does, and no bug
    """A request without an answer. ``again``: another try may have one; ``sent``: the model may
    have answered, and that may be billed; ``after_s``: the server wants so long a pause."""

    def __init__(
        self, said: str, *, again: bool, sent: bool = False, after_s: float | None = None
    ) -> None:
        super().__init__(" ".join(said.split())[:_MOST_SAID])
        self.again, self.sent, self.after_s = again, sent, after_s


def load_openai() -> Any:
    """The package, loaded when it is needed. Raises :class:`SettingsError` without it."""
    try:
        import openai
    except ImportError:
        raise SettingsError("solve needs openai: pip install 'pairsmith[solve]'") from None
    return openai


class Chat:
    """A client for one endpoint; use it as an asynchronous context manager, in one event loop."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Raises :class:`SettingsError` without the package ``openai``."""
        openai = load_openai()
        self.endpoint = endpoint
        self._errors = openai
        # Retries are ours: each is to be counted, and kept.
        self._client = openai.AsyncOpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.key,
            timeout=endpoint.timeout_s,
            max_retries=0,
        )

    async def __aenter__(self) -> Chat:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._client.close()

    async def ask(self, messages: Messages, key: str) -> Reply:
        """The answer to messages. ``key`` is sent as ``Idempotency-Key``: one for each attempt.

        Raises :class:`Trouble`, and RunError where no request can have an answer (a wrong key, a
        model that there is not).
        """
        request = self._streamed if self.endpoint.stream else self._whole
        errors = self._errors
        try:
            return await request(messages, {"Idempotency-Key": key})
        except errors.APIStatusError as error:
            raise _refusal(error, self.endpoint) from None
        except errors.APITimeoutError:
            raise Trouble("no answer in time", again=True, sent=True) from None
        except errors.APIError as error:
            # A cut connection, or an error in the midst of a stream.
            cause = error.__cause__ or error
            said = f"{type(cause).__name__}: {cause}"
            raise Trouble(said, again=True, sent=not _refused(cause)) from None

    async def _whole(self, messages: Messages, headers: Mapping[str, str]) -> Reply:
        raw = await self._client.chat.completions.with_raw_response.create(
            **self._request(messages, headers)
        )
        return _read(raw.text)

    async def _streamed(self, messages: Messages, headers: Mapping[str, str]) -> Reply:
        request = self._request(messages, headers)
        parts: dict[str, list[str]] = {"content": [], "thinking": []}
        finish, usage = "", None
        told = {"include_usage": True}
        try:
            stream = await self._client.chat.completions.create(
                **request, stream=True, stream_options=told
            )
            async for chunk in stream:
                found = chunk.model_dump()
                usage = found.get("usage") or usage
                for choice in (found.get("choices") or [])[:1]:
                    delta = choice.get("delta") or {}
                    parts["content"].append(delta.get("content") or "")
                    parts["thinking"].append(_thinking(delta))
                    finish = choice.get("finish_reason") or finish
        except (ValueError, AttributeError, TypeError) as error:
            raise Trouble(f"malformed stream: {error}", again=True, sent=True) from None
        except self._errors.APIStatusError:
            raise
        except Exception as error:
            if isinstance(error, self._errors.APIError) or not _of_network(error):
                raise
            raise Trouble(f"{type(error).__name__}: {error}", again=True, sent=True) from None
        if not finish:
            raise Trouble("the stream ended before the answer did", again=True, sent=True)
        text, thinking = ("".join(parts[name]) for name in ("content", "thinking"))
        return Reply(text, thinking, finish, *_tokens(usage))

    def _request(self, messages: Messages, headers: Mapping[str, str]) -> dict[str, Any]:
        body = self.endpoint.body()
        return {
            "model": body.pop("model"),
            "messages": [dict(message) for message in messages],
            "extra_headers": dict(headers),
            "extra_body": body,
        }


def _read(text: str) -> Reply:
    """The reply in the body of an answer."""
    try:
        body = json.loads(text)
        choice = body["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        if not isinstance(content, str):
            raise TypeError("the content is no text")
        finish = str(choice.get("finish_reason") or "")
        return Reply(content, _thinking(message), finish, *_tokens(body.get("usage")))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        said = f"malformed answer: {type(error).__name__}: {error}"
        raise Trouble(said, again=True, sent=True) from None


def _thinking(message: Mapping[str, Any]) -> str:
    """What servers that take thinking apart send beside the answer."""
    said = message.get("reasoning_content") or message.get("reasoning") or ""
    return said if isinstance(said, str) else json.dumps(said)


def _tokens(usage: Any) -> tuple[int | None, int | None]:
    if not isinstance(usage, Mapping):
        return None, None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (count if isinstance(count, int) else None for count in counts)
    return prompt, completion


def _refusal(error: Any, endpoint: Endpoint) -> Exception:
    """What a status of HTTP that is no answer means."""
    status = error.status_code
    if status in _NOBODY:
        return RunError(
            f"{endpoint.base_url} answers {status} for the model {endpoint.model!r}: "
            f"{' '.join(str(error).split())[:_MOST_SAID]}; what was answered before is kept"
        )
    again = status in _AGAIN or status >= 500
    return Trouble(f"HTTP {status}: {error}", again=again, after_s=_pause(error))


def _pause(error: Any) -> float | None:
    """Seconds of ``Retry-After``, where it is a number."""
    try:
        return max(float(error.response.headers["retry-after"]), 0.0)
    except (KeyError, ValueError):
        return None


def _refused(cause: BaseException) -> bool:
    """Whether nobody was there to be asked."""
    return type(cause).__name__ in ("ConnectError", "ConnectTimeout")


def _of_network(error: BaseException) -> bool:
    """Whether the client's transport raised it: an error of ours goes on as it is."""
    return type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2")
