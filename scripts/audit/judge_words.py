"""What NVRTC and its assembler say of each wrong text for the judge.

Run: python scripts/audit/judge_words.py. Writes `tests/data/judge/wrong/nvrtc.tsv`: the class, the
name, one of `compiles`, `refused` (by NVRTC), `unlinked` (by the assembler), `endless` (no end in
12 s or 3 GiB), `unreadable` (no UTF-8), and the first complaint. No headers but those of CUDA are
there: a text that includes others is refused for that. `compiles` is right for texts whose fault
shows only when they run.
"""

from __future__ import annotations

import multiprocessing
import re
import resource
import sys
from pathlib import Path
from queue import Empty
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))

from judge_texts import FOLDER, JudgeText, wrong_texts

from validate.nvrtc.program import build_plain, cubin, plain_options
from validate.text.headers import cuda_include_dir

ARCH = "sm_90"
TIMEOUT_S = 12
MEMORY = 3 << 30


class UnlinkedError(Exception):
    """What the assembler does not take."""


def say(text: str, queue: Any) -> None:
    """Put what becomes of a text on the queue: a word and a log."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    built = build_plain(text, ARCH, "ptx")
    if built.text is None:
        queue.put(("endless" if built.out_of_memory else "refused", built.log))
        return
    try:
        cubin(text, "answer.cu", plain_options(ARCH, cuda_include_dir()), UnlinkedError)
    except UnlinkedError as refused:
        queue.put(("unlinked", str(refused)))
    else:
        queue.put(("compiles", ""))


def word(text: JudgeText) -> tuple[str, str]:
    """What becomes of a text, and the first line that complains."""
    try:
        text.text.encode()
    except UnicodeEncodeError as error:
        return "unreadable", error.reason
    queue: Any = multiprocessing.Queue()
    child = multiprocessing.Process(target=say, args=(text.text, queue))
    child.start()
    try:
        found, log = queue.get(timeout=TIMEOUT_S)
    except Empty:
        found, log = "endless", ""
    child.kill()
    child.join()
    complaint = re.search(r"(?:error|fatal) *: *(.*)", log)
    return found, " ".join(complaint[1].split())[:100] if complaint else ""


def main() -> None:
    """Ask of each and write."""
    lines = []
    for text in wrong_texts():
        found, complaint = word(text)
        lines.append("\t".join((text.kind, text.name, found, complaint)).rstrip() + "\n")
    (FOLDER / "wrong" / "nvrtc.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main()
