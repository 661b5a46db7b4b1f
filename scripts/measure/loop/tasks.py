"""Tasks for a small model in the loop: not trained on, of ideas that were.

    PYTHONPATH=. python scripts/measure/loop/tasks.py OUT FOLDER [--asked 200]

OUT is the dataset and FOLDER what `worth.py prepare` made of it. Into FOLDER go `tasks.jsonl.xz`:
`asked`, rows of the split `test` whose idioms were trained on, and `practice`, such rows of the
split `validation`, which `worth.py` leaves alone. Of both those whose question and answer come to
at most so many tokens, in an order that follows from their ids.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.measure.training.prepare import is_held_out, ticket
from scripts.measure.training.tokens import TOKENIZER, conversation_of, read_index
from synth.errors import SettingsError
from synth.loop.tasks import dataset_rows, entry_of

TASKS = "tasks.jsonl.xz"
ASKED, PRACTICE = "asked", "practice"
_SPLITS = {"test": ASKED, "validation": PRACTICE}
_VIEW = "sft"

Entry = dict[str, Any]


def write_tasks(out: Path, folder: Path, most_tokens: int, most: dict[str, int]) -> dict[str, int]:
    """Write the tasks; how many of each part there are. :class:`SettingsError` without any."""
    from tokenizers import Tokenizer

    settings = read_index(folder)["settings"]
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    found: dict[str, list[tuple[float, Entry]]] = {ASKED: [], PRACTICE: []}
    for entry, split in _entries(out, settings["salt"], settings["held_out"]):
        texts = tokenizer.encode_batch([entry["question"], entry["answer"]])
        tokens = conversation_of(*(text.ids for text in texts)).size
        if tokens <= most_tokens:
            place = ticket(f"loop/{settings['salt']}", entry["metadata"]["id"])
            entry["metadata"]["tokens"] = tokens
            found[_SPLITS[split]].append((place, entry))
    lines = []
    for part, placed in found.items():
        if not placed:
            raise SettingsError(f"no task of the part {part!r} has {most_tokens} tokens or fewer")
        placed.sort(key=lambda one: one[0])
        lines += [{"part": part, **entry} for _, entry in placed[: most[part]]]
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (folder / TASKS).write_bytes(lzma.compress(text.encode(), preset=6))
    return {part: min(len(placed), most[part]) for part, placed in found.items()}


def _entries(out: Path, salt: str, held_out: float) -> Iterator[tuple[Entry, str]]:
    for row in dataset_rows(out, tuple(_SPLITS)):
        idiom = f"{row['category']}/{row['idiom']}"
        if is_held_out(idiom, salt, held_out) or (entry := entry_of(row, _VIEW, 0)) is None:
            continue
        yield entry, row["split"]


def read_tasks(folder: Path) -> dict[str, list[Entry]]:
    """The entries of each part."""
    found: dict[str, list[Entry]] = {ASKED: [], PRACTICE: []}
    for line in lzma.decompress((folder / TASKS).read_bytes()).decode().splitlines():
        entry = json.loads(line)
        found[entry.pop("part")].append(entry)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most-tokens", type=int, default=1024, help="question and answer")
    parser.add_argument("--asked", type=int, default=200)
    parser.add_argument("--practice", type=int, default=400)
    told = parser.parse_args()
    try:
        most = {ASKED: told.asked, PRACTICE: told.practice}
        counts = write_tasks(told.out, told.folder, told.most_tokens, most)
    except SettingsError as error:
        print(f"loop_tasks: {error}", file=sys.stderr)
        return 2
    size = (told.folder / TASKS).stat().st_size / 2**20
    print(f"{counts[ASKED]} asked, {counts[PRACTICE]} for practice; {size:.2f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
