"""What runs a stranger's machine code can compute and answer, and nothing else."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from score_rows import cube_row, kernel

from validate.errors import HostRunUnavailable
from validate.host import clang, stranger_case
from validate.host.plain_link import Linker
from validate.process.confine import confine

ASKS: dict[str, Callable[[], Any]] = {
    "fork": os.fork,
    "exec": lambda: os.execv("/bin/true", ["true"]),
    "open": lambda: os.open("/dev/null", os.O_WRONLY),
    "socket": socket.socket,
    "kill": lambda: os.kill(os.getppid(), 0),
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can filter system calls")
@pytest.mark.parametrize("ask", ASKS)
def test_a_confined_process_can_only_compute_and_answer(ask: str) -> None:
    read_fd, write_fd = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            confine(write_fd, 5)
            os.write(write_fd, str(sum(range(10**6))).encode())
            ASKS[ask]()
            os.write(write_fd, b" and more")
        finally:
            os._exit(0)
    os.close(write_fd)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read_fd) as answer:
        assert answer.read() == "499999500000"
    assert os.waitstatus_to_exitcode(status) == -signal.SIGSYS


def test_a_system_that_cannot_confine_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(*_values: int) -> None:
        raise OSError(1, "prctl is refused")

    clang.start()
    linker = Linker(tmp_path)
    row = cube_row()
    text = {"cuda_plain": kernel(""), "kernels": ["k"], "plain_launch": {"grid": [1], "block": [1]}}
    case = stranger_case.Case({**row, **text}, [])
    assert stranger_case.run_apart(case, linker, tmp_path).status == "ran"
    monkeypatch.setattr(stranger_case, "confine", refused)
    monkeypatch.setattr(stranger_case, "_proven", False)
    with pytest.raises(HostRunUnavailable, match="give up system calls"):
        stranger_case.run_apart(case, linker, tmp_path)
    assert not (tmp_path / "answer.o").exists()
