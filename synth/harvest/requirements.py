"""The names of distributions that a project requires, read from its metadata without running it."""

from __future__ import annotations

import ast
import configparser
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?=$|[\[<>=!~;@(#])")
_KEYWORDS = frozenset({"install_requires", "extras_require", "setup_requires", "tests_require"})
_MOST_FOLDERS_UP = 4


def names_of(requirements: Iterable[str]) -> Iterator[str]:
    """The name of each requirement, such as ``numpy`` of ``numpy[all]>=1; python_version>'3'``."""
    for line in requirements:
        if found := _NAME.match(line):
            yield found[1]


def required_by_project(root: Path) -> Iterator[str]:
    """Names that the metadata in the nearest folder from ``root`` upwards requires.

    Of ``pyproject.toml``, ``setup.cfg`` and ``setup.py`` what stands where requirements do, for an
    extra too, and no other text: tools name modules there, which may be published by somebody else.
    A file that cannot be read requires nothing.
    """
    for folder in [root, *root.parents][:_MOST_FOLDERS_UP]:
        found = [(path, read) for pattern, read in _READERS for path in folder.glob(pattern)]
        for path, read in sorted(found, key=lambda one: one[0]):
            yield from names_of(read(path.read_text(encoding="utf-8", errors="replace")))
        if found:
            return


def _of_pyproject(text: str) -> Iterator[str]:
    try:
        whole = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    project, poetry = _table(whole, "project"), _table(whole, "tool", "poetry")
    yield from _texts(project.get("dependencies"))
    for tables in (_table(project, "optional-dependencies"), _table(whole, "dependency-groups")):
        for listed in tables.values():
            yield from _texts(listed)
    groups = [_table(poetry, "group", name) for name in _table(poetry, "group")]
    for table in (poetry, *groups):
        for key in ("dependencies", "dev-dependencies"):
            yield from (name for name in _table(table, key) if name != "python")


def _table(whole: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        whole = whole.get(key) if isinstance(whole, dict) else None
    return whole if isinstance(whole, dict) else {}


def _texts(listed: Any) -> list[str]:
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []


def _of_setup_cfg(text: str) -> Iterator[str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in parser.sections():
        for key, value in parser.items(section):
            if section == "options.extras_require" or (section == "options" and key in _KEYWORDS):
                yield from value.splitlines()


def _of_setup_py(text: str) -> Iterator[str]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    named: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            named.update({at.id: node.value for at in node.targets if isinstance(at, ast.Name)})
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _KEYWORDS:
            yield from _written(node.value, named)


def _written(node: ast.expr, named: Mapping[str, ast.expr]) -> Iterator[str]:
    """Texts that an expression lists; of a dictionary (extras) those of its values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from node.value.splitlines()
    elif isinstance(node, ast.Name) and node.id in named:
        rest = {name: value for name, value in named.items() if name != node.id}
        yield from _written(named[node.id], rest)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        for one in node.elts:
            yield from _written(one, named)
    elif isinstance(node, ast.Dict):
        for one in node.values:
            yield from _written(one, named)
    elif isinstance(node, ast.BinOp):
        yield from _written(node.left, named)
        yield from _written(node.right, named)


_READERS: tuple[tuple[str, Callable[[str], Iterable[str]]], ...] = (
    ("pyproject.toml", _of_pyproject),
    ("setup.cfg", _of_setup_cfg),
    ("setup.py", _of_setup_py),
    ("requirements*.txt", str.splitlines),
    ("requirements/*.txt", str.splitlines),
)
