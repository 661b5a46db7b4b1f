"""What modules lacked to be imported, and under which names their projects require it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from synth.harvest.places import ModuleFile

_REQUIREMENT = r"([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@][^\"'\n]*)?"
_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "requirements/*.txt")
_MOST_FOLDERS_UP = 4


def distributions_for(
    lacking: Iterable[str], files: Iterable[ModuleFile]
) -> Mapping[str, str | None]:
    """The name to install each lacking module by, where the files' own project names it.

    The names are those that the project's metadata requires: of the installed distribution when
    there is one, and of the files in the folders above the package. One of them is a module's when
    it is equal to its name up to case and signs, or else the only one that begins or ends with it
    or contains it as a word, as ``GitPython`` for ``git``. None where no name is: a guess could
    install what somebody else has published under it.
    """
    required = sorted(set(_required(files)))
    return {name: _named(name, required) for name in sorted(set(lacking))}


def _named(module: str, required: list[str]) -> str | None:
    wanted = _plain(module)
    equal = [name for name in required if _plain(name) == wanted]
    if equal:
        return equal[0]
    near = [
        name
        for name in required
        if wanted in re.split(r"[-_.]", name.lower())
        or (len(wanted) > 2 and _plain(name).startswith(wanted))
        or (len(wanted) > 2 and _plain(name).endswith(wanted))
    ]
    return near[0] if len(near) == 1 else None


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "", name).lower()


def _required(files: Iterable[ModuleFile]) -> Iterator[str]:
    owners = metadata.packages_distributions()
    for root, first in sorted({file.unit for file in files}):
        for owner in owners.get(first, ()):
            for line in metadata.requires(owner) or ():
                found = re.match(_REQUIREMENT, line)
                if found:
                    yield found[1]
        yield from _required_by_project(root)


def _required_by_project(root: Path) -> Iterator[str]:
    """From the nearest folder above that has metadata; a name there stands for itself in quotes,
    or at the start of a line."""
    for folder in [root, *root.parents][:_MOST_FOLDERS_UP]:
        found = sorted(path for pattern in _FILES for path in folder.glob(pattern))
        for path in found:
            text = path.read_text(encoding="utf-8", errors="replace")
            yield from re.findall(rf"[\"']{_REQUIREMENT}[\"']", text)
            if path.suffix in (".txt", ".cfg"):
                yield from re.findall(rf"^\s*{_REQUIREMENT}\s*(?:#.*)?$", text, re.MULTILINE)
        if found:
            return
