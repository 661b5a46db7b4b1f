"""The child process of a host run, seen from its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from validate.errors import HostRunUnavailable

# Importing Warp takes under a second alone, many on a crowded machine.
START_TIMEOUT_S = 120.0


# Not `-m`: that would import modules of these names from the user's working directory.
_START = "import sys; sys.path.remove(''); from validate.host_worker import main; main()"


class WorkerGone(Exception):  # noqa: N818
    """The child died (or was killed for its silence) before it answered."""

    def __init__(self, status: str, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class WorkerProcess:
    """One child process and the connection to it."""

    def __init__(self, folder: Path) -> None:
        """Start a child that keeps its files in `folder`, which no other may use meanwhile.

        Raises RuntimeError when it does not come up; it says why on standard error.
        """
        self.connection, child = Pipe(duplex=True)
        with child:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _START, str(child.fileno()), str(folder)],
                pass_fds=[child.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in sys.path)},
            )

        try:
            message = self.receive(START_TIMEOUT_S)
        except WorkerGone as gone:
            self.stop()
            raise RuntimeError(f"the host runner did not start: {gone}") from gone
        if message["event"] == "unavailable":
            self.stop()
            raise HostRunUnavailable(message["reason"])
        if message["event"] == "error":
            self.stop()
            raise RuntimeError(f"the host runner did not start:\n{message['trace']}")

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a batch. Raises WorkerGone when the child has died since its last answer."""
        try:
            self.connection.send_bytes(json.dumps(message).encode())
        except OSError:
            raise WorkerGone("crashed", self._how_it_ended()) from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next message. Raises WorkerGone when the child dies or stays silent too long."""
        if not self.connection.poll(timeout_s):
            raise WorkerGone("timeout", f"no result within {timeout_s:g} s")
        try:
            message: dict[str, Any] = json.loads(self.connection.recv_bytes())
        except (EOFError, ConnectionResetError):
            raise WorkerGone("crashed", self._how_it_ended()) from None
        return message

    def _how_it_ended(self) -> str:
        code = self.process.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"

    def stop(self) -> None:
        """Kill the child."""
        self.connection.close()
        self.process.kill()
        self.process.wait()
