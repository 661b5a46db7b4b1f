"""What modules lacked to be imported, and under which names their projects require it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata

from synth.harvest.places import ModuleFile
from synth.harvest.requirements import names_of, required_by_project


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
            yield from names_of(metadata.requires(owner) or ())
        yield from required_by_project(root)
