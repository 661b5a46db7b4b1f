"""A model on this machine: OpenAI's chat completions over HTTP, with the faults of real servers.

A request takes the next fault of its script, or is answered. What was answered once under an
``Idempotency-Key`` is given again under it and billed once. Answers are a function of the messages
and of the number of earlier billed answers to the same first question.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-loopback"
FAULTS = ("429", "500", "503 page", "cut", "malformed", "no choices", "half a stream")
Answer = Callable[[Sequence[dict[str, str]]], str]


@dataclass
class Model:
    """What the server answers and what it saw."""

    answer: Answer
    faults: list[str] = field(default_factory=list)
    thinking: str = ""
    usage: bool = True
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    billed: dict[str, str] = field(default_factory=dict)
    times: Counter[str] = field(default_factory=Counter)
    """Whole answers that were sent for each key."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    at_once: int = 0
    most_at_once: int = 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model = self.model
        with model.lock:
            model.requests.append(body)
            model.at_once += 1
            model.most_at_once = max(model.at_once, model.most_at_once)
            fault = model.faults.pop(0) if model.faults else ""
        try:
            self._serve(body, fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with model.lock:
                model.at_once -= 1

    def _serve(self, body: dict[str, Any], fault: str) -> None:
        if self.headers["Authorization"] != f"Bearer {KEY}":
            self._send(401, {"error": {"message": "Incorrect API key provided"}})
        elif fault == "429":
            self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
        elif fault == "500":
            self._send(500, {"error": {"message": "out of memory"}})
        elif fault == "503 page":
            self._send(503, "<html>Service Unavailable</html>")
        elif fault == "400":
            self._send(400, {"error": {"message": "maximum context length is 16 tokens"}})
        elif fault == "malformed":
            self._send(200, '{"choices": [{"mess')
        elif fault == "no choices":
            self._send(200, {"object": "chat.completion", "choices": []})
        elif fault == "cut":
            self.close_connection = True
        else:
            self._answer(body, whole=fault != "half a stream")

    def _answer(self, body: dict[str, Any], whole: bool) -> None:
        model, key = self.model, self.headers["Idempotency-Key"]
        with model.lock:
            text = model.billed.setdefault(key, model.answer(body["messages"]))
        counts = {"prompt_tokens": len(json.dumps(body["messages"])) // 4}
        counts["completion_tokens"] = len(text) // 4
        usage = {**counts, "total_tokens": sum(counts.values())} if model.usage else None
        if body.get("stream"):
            self._stream(text, usage, whole)
        elif whole:
            message = {"role": "assistant", "content": text, "reasoning_content": model.thinking}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send(200, {"object": "chat.completion", "choices": [choice], "usage": usage})
        else:
            self.close_connection = True
        if whole:
            with model.lock:
                model.times[key] += 1

    def _send(
        self, status: int, body: dict[str, Any] | str, headers: dict[str, str] | None = None
    ) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(body, str) and status != 200 else "application/json"
        for name, value in {"Content-Type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, text: str, usage: dict[str, int] | None, whole: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        pieces = [text[at : at + 50] for at in range(0, len(text), 50)]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": self.model.thinking}] if self.model.thinking else []
        deltas += [{"content": piece} for piece in pieces]
        for delta in deltas if whole else deltas[: len(deltas) // 2]:
            self._event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        if whole:
            self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            self._event({"choices": [], "usage": usage})
            self.wfile.write(b"data: [DONE]\n\n")

    def _event(self, chunk: dict[str, Any]) -> None:
        whole = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", **chunk}
        self.wfile.write(f"data: {json.dumps(whole)}\n\n".encode())


@contextmanager
def served(model: Model) -> Iterator[Model]:
    """The model at ``model.url``, until the block ends."""
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
