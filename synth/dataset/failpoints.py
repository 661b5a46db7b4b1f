"""Places at which a test kills a run, to see that nothing is lost.

With ``PAIRSMITH_KILL_AT=K`` in the environment the process kills itself (SIGKILL) as it passes its
K-th failpoint.
"""

from __future__ import annotations

import os
import signal

VARIABLE = "PAIRSMITH_KILL_AT"

_passed: list[str] = []


def failpoint(name: str) -> None:
    """Die here if that was asked for."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return
    _passed.append(name)
    if len(_passed) == int(wanted):
        os.kill(os.getpid(), signal.SIGKILL)


def passed() -> list[str]:
    """The failpoints that this process passed while the variable was set, in order."""
    return list(_passed)


def reset() -> None:
    """Forget what was passed."""
    _passed.clear()
