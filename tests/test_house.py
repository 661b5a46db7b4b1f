"""The house rules: who imports whom, who touches private Warp, sizes of files and rooms."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = {
    "extract": "",
    "generators": "program build kit *",
    "synth": "errors progress reasons render gradient gates codegen dataset card lower rows run "
    "derive gpu machine page harvest views check loop publish cli __main__",
    "validate": "errors statuses row text oracle process nvrtc host opencl gpu mutants score",
}
"""The rooms of each package from left to right: a room imports none to its right, and of what is
named ``*``, the categories, none imports another. CONTRIBUTING.md and notes/ say what each room
is for."""
FILES = [path for package in ROOMS for path in sorted((ROOT / package).rglob("*.py"))]
SCRIPTS = sorted((ROOT / "scripts").rglob("*.py"))
EVERYWHERE = [*FILES, *SCRIPTS, *(ROOT / "tests").rglob("*.py")]
PRIVATE_WARP = {"synth/codegen/translator.py", "synth/codegen/modules.py", "validate/host/clang.py"}
MOST_LINES, MOST_FUNCTION_LINES, MOST_MODULES = 400, 40, 25


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """All nodes of a source."""
    return tuple(ast.walk(ast.parse(source)))


def _imports(source: str) -> Iterator[str]:
    """Modules that a source names, `from package import module` as `package.module`."""
    for node in nodes(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and "." not in (node.module or ""):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def misplaced(path: Path, source: str) -> list[str]:
    """Imports of a file, as it lies below the root, that the order of the rooms does not allow."""
    package, room = path.parts[0], path.parts[1].removesuffix(".py")
    rooms = ROOMS[package].split()
    rank = {name: rooms.index(name) for name in rooms}
    found = []
    for name in _imports(source):
        other, _, rest = name.partition(".")
        if other in ROOMS and other != package:
            found += [name] if package != "synth" else []
        elif other == package and rooms and room != "__init__":
            target = rest.split(".")[0]
            mine, theirs = (rank.get(r, rank.get("*", -1)) for r in (room, target))
            if theirs > mine or (theirs == mine and target != room):
                found.append(name)
    return found


@pytest.mark.parametrize("package", ROOMS)
def test_packages_are_the_ones_of_this_repository(package: str) -> None:
    found = importlib.import_module(package).__file__
    assert found is not None
    assert Path(found).resolve().is_relative_to(ROOT)


def test_rooms_import_only_what_lies_to_their_left() -> None:
    wrong = {
        str(path.relative_to(ROOT)): found
        for path in FILES
        if (found := misplaced(path.relative_to(ROOT), path.read_text()))
    }
    assert not wrong


@pytest.mark.parametrize(
    ("path", "planted"),
    [
        ("generators/program/keys.py", "from generators.build import KernelBuilder"),
        ("generators/math/subjects/doses.py", "from generators.vector.rays import ray"),
        ("generators/math/subjects/doses.py", "import validate.row.columns"),
        ("synth/dataset/stage.py", "def f():\n    from synth.card.page import write_card"),
        ("synth/rows/maker.py", "from synth import cli"),
        ("synth/render/warp.py", "import synth.gates.judge"),
        ("validate/nvrtc/program.py", "from validate.host import runner"),
        ("validate/row/sizes.py", "from extract import module"),
    ],
)
def test_an_import_against_the_order_is_noticed(path: str, planted: str) -> None:
    assert misplaced(Path(path), planted)


def test_every_room_has_a_place_in_the_order() -> None:
    for package, rooms in ROOMS.items():
        there = {
            path.name for path in (ROOT / package).iterdir() if (path / "__init__.py").is_file()
        }
        known = set(rooms.split())
        assert there <= known if "*" not in known else known - {"*"} <= there


def test_only_three_files_touch_private_warp() -> None:
    touch = {
        p.relative_to(ROOT).as_posix() for p in FILES if re.search(r"\bwarp\._src\b", p.read_text())
    }
    assert touch == PRIVATE_WARP


def test_files_and_functions_stay_small() -> None:
    long = [str(path) for path in FILES if len(path.read_text().splitlines()) > MOST_LINES]
    long += [
        f"{path}:{node.lineno} {node.name}"
        for path in FILES
        for node in nodes(path.read_text())
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert not long


def test_folders_hold_at_most_25_modules() -> None:
    several = Counter(path.parent for path in EVERYWHERE if path.name != "__init__.py")
    assert not {folder: count for folder, count in several.items() if count > MOST_MODULES}


def test_generators_know_neither_warp_nor_files() -> None:
    for path in (ROOT / "generators").rglob("*.py"):
        assert not {"warp", "pathlib", "pyarrow", "os"} & set(_imports(path.read_text())), path


def test_no_list_of_categories_anywhere() -> None:
    names = {"arithmetic", "atomic", "control_flow", "matrix", "vector"}
    for path in FILES:
        strings = {
            node.value
            for node in nodes(path.read_text())
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert len(strings & names) <= 1, path


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_imports_what_is_there(path: Path) -> None:
    """Nothing else notices a script that a renamed module or name left behind."""
    for node in nodes(path.read_text()):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ROOMS:
            module = importlib.import_module(node.module or "")
            for alias in node.names:
                there = hasattr(module, alias.name) or importlib.util.find_spec(
                    f"{node.module}.{alias.name}"
                )
                assert there, f"{node.module} has no {alias.name}"
