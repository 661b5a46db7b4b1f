"""Texts of strangers as NVRTC sees them: whether a device's compiler takes them, and what they use.

Texts that run on the host are tried together, each in a namespace of its own; what does not
compile so, or could mean something else there, is compiled alone, as a file of its own would be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from validate.nvrtc.result import Child
from validate.process.parent import WorkerGone
from validate.row.archs import ALWAYS_FIT_THREADS, DEFAULT_ARCH, MOST_SHARED_BYTES
from validate.statuses import CompileStatus
from validate.text import plain as plain_unit
from validate.text import ptx
from validate.text.prelude import prelude

TIMEOUT_S = 6.0
MEMORY_BYTES = 4 << 30
REGISTERS_OF_A_BLOCK = 65536
_TOGETHER = 16
_CHECK, _MACHINE = "answers", "answer_machine"
_LOG_CHARACTERS = 4000
_NAMESPACE = "pairsmith_row_"
_SHARED = re.compile(r"^\s*\.shared (?:\.align \d+ )?\.[bfsu]8 [\w$]+\[(\d+)\]", re.MULTILINE)
_SHARED_SCALAR = re.compile(r"^\s*\.shared (?:\.align \d+ )?\.[bfsu](\d+) [\w$]+;", re.MULTILINE)
_ERROR = re.compile(r"^.*\berror\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class DeviceText:
    """What is compiled of an answer: its code, the headers it includes, its kernel's name in C++
    (empty for several), and the most threads of a block that it is launched with."""

    code: str
    headers: tuple[str, ...]
    kernel: str
    block_threads: int


@dataclass(frozen=True)
class DeviceResult:
    """`status` is a `CompileStatus`, or "too_much" for a kernel that a device cannot launch;
    `reason` is the log, or what there is too much of. `shared_bytes` is static shared memory."""

    status: str
    reason: str = ""
    shared_bytes: int = 0


TOO_MUCH = "too_much"


class AnswerCompiler:
    """Keeps one compiling child process. `include_dir` is only named: no header of Warp is read."""

    def __init__(self, arch: str = DEFAULT_ARCH) -> None:
        self.arch = arch
        self._killed = False
        self._child = Child(Path("/"), TIMEOUT_S, MEMORY_BYTES, header_timeout_s=0.0)

    def close(self) -> None:
        """End the child process."""
        self._child.close()

    def kill(self) -> None:
        """End the child process from another thread than the one that compiles, and for good:
        there, WorkerGone is raised."""
        self._killed = True
        self._child.kill()

    def compile(self, texts: Sequence[DeviceText]) -> list[DeviceResult]:
        """Compile texts; results in their order.

        Raises CompileUnavailable when NVRTC is missing, RuntimeError when the machinery fails, and
        WorkerGone after `kill`.
        """
        found: dict[int, DeviceResult] = {}
        for batch in _batches(texts):
            if len(batch) > 1:
                found.update(self._batch(texts, batch))
            for position in batch:
                if position not in found:
                    found[position] = self._alone(texts[position])
        return [found[position] for position in range(len(texts))]

    def _batch(self, texts: Sequence[DeviceText], batch: list[int]) -> dict[int, DeviceResult]:
        """Results of texts that are right together; none when that is not known of each."""
        mine = [texts[position] for position in batch]
        machine = mine[0].block_threads > ALWAYS_FIT_THREADS
        status, said = self._built(_together(mine), (), _MACHINE if machine else _CHECK, small=True)
        if status != "built":
            return {}
        if not machine:
            if _shared_bytes(said) > MOST_SHARED_BYTES:
                return {}
            return dict.fromkeys(batch, DeviceResult(CompileStatus.COMPILES))
        used = ptx.resources(said)
        return {
            position: _launchable(text, used, _mangled_namespace(number))
            for number, (position, text) in enumerate(zip(batch, mine, strict=True))
        }

    def _alone(self, text: DeviceText) -> DeviceResult:
        program, names = _whole(text)
        status, said = self._built(program, names, _CHECK)
        if status != "built":
            errors = "\n".join(_ERROR.findall(said)) or said
            return DeviceResult(status, f"NVRTC: {errors}"[:_LOG_CHARACTERS])
        shared = _shared_bytes(said)
        if shared <= MOST_SHARED_BYTES and text.block_threads <= ALWAYS_FIT_THREADS:
            return DeviceResult(CompileStatus.COMPILES, shared_bytes=shared)
        status, said = self._built(program, names, _MACHINE)
        if status != "built":
            return DeviceResult(TOO_MUCH, f"ptxas: {said}"[:_LOG_CHARACTERS])
        name = text.kernel.split("<")[0].split("::")[-1]
        return _launchable(text, ptx.resources(said), name)

    def _built(
        self,
        program: str,
        names: Sequence[str],
        goal: str,
        *,
        small: bool = False,
        again: bool = True,
    ) -> tuple[str, str]:
        row = {"program": program, "name_expressions": list(names), "small": small}
        try:
            answer = self._child.build([row], self.arch, goal)
        except WorkerGone as gone:
            if self._killed:
                raise
            # A process that someone else killed says nothing of the text.
            if gone.reason == "SIGKILL" and again:
                return self._built(program, names, goal, small=small, again=False)
            return str(gone.status), f"compiler: {gone}"
        if answer["event"] == "built":
            return "built", str(answer["rows"][0])
        return str(answer["event"]), str(answer["log"])


def _launchable(
    text: DeviceText, used: Mapping[str, tuple[int, int, int]], name: str
) -> DeviceResult:
    """Whether a kernel, of what ptxas says of entries, fits the blocks that it is launched with."""
    mine = [of for entry, of in used.items() if name in entry] or list(used.values())
    # Of several kernels the worst of each, as if one needed all of it.
    registers, shared = max(use[0] for use in mine), max(use[2] for use in mine)
    # Registers are given out eight at a time to each thread.
    if -(-registers // 8) * 8 * text.block_threads > REGISTERS_OF_A_BLOCK:
        reason = f"{registers} registers a thread are too many for blocks of "
        return DeviceResult(TOO_MUCH, f"{reason}{text.block_threads} threads")
    return DeviceResult(CompileStatus.COMPILES, shared_bytes=shared)


def _batches(texts: Sequence[DeviceText]) -> Iterator[list[int]]:
    """Positions of texts that are compiled together: of like headers, and for machine code or not
    for it."""
    groups: dict[tuple[str, bool], list[int]] = {}
    for position, text in enumerate(texts):
        if _can_share(text):
            kind = (prelude(text.headers), text.block_threads > ALWAYS_FIT_THREADS)
            groups.setdefault(kind, []).append(position)
        else:
            yield [position]
    for group in groups.values():
        yield from (group[k : k + _TOGETHER] for k in range(0, len(group), _TOGETHER))


def _can_share(text: DeviceText) -> bool:
    """Whether a text means the same in a namespace as in a file of its own, and what is asked of it
    can be told of several."""
    return (
        "<" not in text.kernel
        # Its dynamic shared memory is added to what is static, which is known of one text alone.
        and "extern" not in text.code
        and plain_unit.shares(text.code)
        and not plain_unit.overloads(text.code)
    )


def _together(texts: Sequence[DeviceText]) -> str:
    parts = [prelude(texts[0].headers)]
    for number, text in enumerate(texts):
        parts.append(f'\nnamespace {_NAMESPACE}{number} {{\n#line 1 "answer"\n{text.code}\n}}\n')
    return "".join(parts)


def _mangled_namespace(number: int) -> str:
    name = f"{_NAMESPACE}{number}"
    return f"{len(name)}{name}"


def _whole(text: DeviceText) -> tuple[str, list[str]]:
    program = f'{prelude(text.headers)}\n#line 1 "answer"\n{text.code}\n'
    return program, [text.kernel] if "<" in text.kernel else []


def _shared_bytes(text: str) -> int:
    arrays = sum(int(size) for size in _SHARED.findall(text))
    return arrays + sum(int(bits) // 8 for bits in _SHARED_SCALAR.findall(text))
