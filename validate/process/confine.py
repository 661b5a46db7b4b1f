"""Take from this process all it does not need to compute: on Linux, nearly every system call.

For a process that is about to run machine code of strangers. After `confine` it can compute, ask
for memory up to its limits, write to files that are open, and end; whatever else it asks of the
system ends it with SIGSYS. There is no way back.

Not defended against: faults of the kernel in the few calls left, timing of caches, and all that
the code does inside its own memory. Elsewhere than on Linux on x86-64 or aarch64, only limits on
time, files and processes hold.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys

# Numbers from the kernel's tables, each line for one machine. In the same order: write, close,
# mmap, munmap, mremap, madvise, brk, futex, exit, exit_group, rt_sigreturn, rt_sigprocmask,
# sched_yield, clock_gettime, getrandom.
_MACHINES = {
    "x86_64": (
        0xC000003E,
        (1, 3, 9, 11, 25, 28, 12, 202, 60, 231, 15, 14, 24, 228, 318),
    ),
    "aarch64": (
        0xC00000B7,
        (64, 57, 222, 215, 216, 233, 214, 98, 93, 94, 139, 135, 124, 113, 278),
    ),
}
_NO_NEW_PRIVS, _SET_SECCOMP, _SET_DUMPABLE, _SET_PDEATHSIG = 38, 22, 4, 1
_FILTER = 2
_SIGKILL = 9
# Instructions of the classic packet filter: load a word, jump when equal, return.
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_KILL_PROCESS, _ALLOW = 0x80000000, 0x7FFF0000


def die_with_parent() -> None:
    """On Linux, have this process killed when the one that started it ends."""
    if sys.platform == "linux":
        _prctl(_SET_PDEATHSIG, _SIGKILL)


def confine(keep_fd: int, cpu_s: int) -> None:
    """Close every file but one, limit the time, and shut the system calls off.

    Raises OSError when the kernel refuses any of it.
    """
    os.closerange(0, keep_fd)
    os.closerange(keep_fd + 1, 4096)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return
    _prctl(_SET_DUMPABLE, 0)
    _prctl(_NO_NEW_PRIVS, 1)
    if platform.machine() in _MACHINES:
        _filter_calls(*_MACHINES[platform.machine()])


def _filter_calls(architecture: int, allowed: tuple[int, ...]) -> None:
    steps = [
        struct.pack("HBBI", _LOAD, 0, 0, _ARCHITECTURE_AT),
        struct.pack("HBBI", _JUMP_IF_EQUAL, 1, 0, architecture),
        struct.pack("HBBI", _RETURN, 0, 0, _KILL_PROCESS),
        struct.pack("HBBI", _LOAD, 0, 0, _NUMBER_AT),
    ]
    for left, number in zip(range(len(allowed), 0, -1), allowed, strict=True):
        steps.append(struct.pack("HBBI", _JUMP_IF_EQUAL, left, 0, number))
    steps.append(struct.pack("HBBI", _RETURN, 0, 0, _KILL_PROCESS))
    steps.append(struct.pack("HBBI", _RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(steps))
    program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
    _prctl(_SET_SECCOMP, _FILTER, ctypes.addressof(program))


def _prctl(option: int, *values: int) -> None:
    words = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    if ctypes.CDLL(None, use_errno=True).prctl(option, *words) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option} is refused")
