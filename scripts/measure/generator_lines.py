"""Lines of `generators/` by room and kind, now and at an earlier commit.

Run: python scripts/measure/generator_lines.py [COMMIT ...]. Plumbing is imports, docstrings,
comments, blank lines, signatures and lone brackets; content is what is left: what a kernel says.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BRACKETS = frozenset("()[]{},:")
CORE = {"program", "build", "kit"}


def kinds(source: str) -> Counter[str]:
    """How many lines of a file are content, and how many plumbing."""
    lines = source.splitlines()
    plumbing = {n for n, line in enumerate(lines, 1) if set(line.strip()) <= BRACKETS}
    plumbing |= {n for n, line in enumerate(lines, 1) if line.strip().startswith("#")}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            plumbing |= set(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.FunctionDef):
            plumbing |= set(range(node.lineno, node.body[0].lineno))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(
            node
        ):
            text = node.body[0]
            plumbing |= set(range(text.lineno, (text.end_lineno or 0) + 1))
    return Counter(plumbing=len(plumbing), content=len(lines) - len(plumbing))


def files_at(commit: str) -> Iterator[tuple[str, str]]:
    """Path and text of each file of `generators/` at a commit; those on disk for an empty one."""
    if not commit:
        for path in sorted((ROOT / "generators").rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text()
        return
    listed = ["git", "-C", str(ROOT), "ls-tree", "-r", "--name-only", commit, "generators"]
    for name in subprocess.check_output(listed, text=True).split():
        if name.endswith(".py"):
            shown = ["git", "-C", str(ROOT), "show", f"{commit}:{name}"]
            yield name, subprocess.check_output(shown, text=True)


def room_of(path: str) -> str:
    """The folder of a file; of the flat files of earlier commits the category, or ``core``."""
    parts = path.split("/")
    if len(parts) > 2:
        return "core" if parts[1] in CORE else parts[1]
    name = parts[1].removeprefix("_").removesuffix(".py")
    found = [c for c in CATEGORIES if name == c or name.startswith(f"{c}_")]
    return found[0] if found else "core"


CATEGORIES = sorted(
    path.parent.name
    for path in (ROOT / "generators").glob("*/__init__.py")
    if path.parent.name not in CORE
)


def main(commits: list[str]) -> None:
    for commit in ("", *commits):
        rooms: dict[str, Counter[str]] = {}
        files: Counter[str] = Counter()
        for path, source in files_at(commit):
            rooms.setdefault(room_of(path), Counter()).update(kinds(source))
            files[room_of(path)] += 1
        print(f"{commit or 'now'}: files, lines, of them content and plumbing")
        for room, counts in sorted(rooms.items()):
            print(
                f"{room:14}{files[room]:5}{counts.total():8}{counts['content']:8}"
                f"{counts['plumbing']:8}"
            )
        whole = sum(rooms.values(), Counter())
        print(
            f"{'all':14}{files.total():5}{whole.total():8}{whole['content']:8}{whole['plumbing']:8}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
