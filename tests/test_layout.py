"""The house rules: which package imports which, who touches Warp's private modules, file sizes."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("generators", "synth", "extract", "validate")
ALLOWED = {"generators": set(), "extract": set(), "validate": set(), "synth": {*PACKAGES}}
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).glob("*.py"))]
PRIVATE_WARP = {"synth/codegen.py", "synth/codegen_modules.py", "validate/clang.py"}
MOST_LINES = 260


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_are_the_ones_of_this_repository(package: str) -> None:
    found = importlib.import_module(package).__file__
    assert found is not None
    assert Path(found).resolve().is_relative_to(ROOT)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_imports_form_a_star(path: Path) -> None:
    package = path.parent.name
    others = {name.split(".")[0] for name in _imports(path)} & set(PACKAGES)
    assert others <= ALLOWED[package] | {package}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_only_three_files_touch_private_warp(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    touches = re.search(r"\bwarp\._src\b", path.read_text()) is not None
    assert touches == (name in PRIVATE_WARP)


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_generators_know_neither_warp_nor_files() -> None:
    for path in (ROOT / "generators").glob("*.py"):
        assert not {"warp", "pathlib", "pyarrow", "os"} & set(_imports(path)), path


def test_no_list_of_categories_outside_their_files() -> None:
    names = {"arithmetic", "atomic", "control_flow", "matrix", "vector"}
    for path in FILES:
        strings = {
            node.value
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert len(strings & names) <= 1, path
