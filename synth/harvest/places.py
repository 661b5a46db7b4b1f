"""Which module a file is, and from which folder it is to be imported."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from synth.errors import SettingsError


@dataclass(frozen=True, order=True)
class ModuleFile:
    """One file as the module that it is.

    Attributes:
        module: its dotted name.
        path: the file, resolved.
        root: the folder that holds its outermost package; its own when it is in none.
        wanted: whether its kernels are harvested; else it is only imported with its package.
    """

    module: str
    path: Path
    root: Path
    wanted: bool = True

    @property
    def unit(self) -> tuple[Path, str]:
        """Equal for files that one process imports: those of one outermost package."""
        return self.root, self.module if "." not in self.module else self.module.split(".")[0]


def module_of(path: Path) -> ModuleFile:
    """The module that a file is, from the packages around it.

    A package is the outermost folder with an ``__init__.py`` around the file, up to the folder of
    its project; folders in between may lack one (PEP 420). Where none has one, the relative
    imports of the file say how many folders are its packages.
    """
    path = path.resolve()
    above = list(_folders(path))
    inside = max((i + 1 for i, folder in enumerate(above) if _is_package(folder)), default=0)
    if not inside:
        inside = min(_relative_levels(path), len(above))
    if path.stem == "__init__":
        inside = max(inside, 1)
    folders = [folder.name for folder in reversed(above[:inside])]
    name = ".".join(folders if path.stem == "__init__" else [*folders, path.stem])
    return ModuleFile(name, path, path.parents[inside])


def modules_called(name: str) -> list[ModuleFile]:
    """The file of a module, or all those of a package, by its dotted name; nothing is executed.

    It is looked for where Python would, and in the working directory before. Of a package, files
    that nowhere speak of kernels are not ``wanted``. Raises :class:`SettingsError`.
    """
    first, *rest = name.split(".")
    places = [*_top_level(first)]
    for part in rest:
        places = [found for place in places if place.is_dir() for found in _inside(place, part)]
    if not places:
        raise SettingsError(
            f"no module {name} is found; install it, or set PYTHONPATH to the folder that holds "
            f"{first}"
        )
    depth = len(rest)
    found = [file for place in places for file in _files(name, place, place.parents[depth])]
    if not found:
        raise SettingsError(f"{name} is no module or package of Python files")
    return found


def homes(files: Iterable[ModuleFile]) -> list[Path]:
    """Folders around the files that hold what they import by its first name, nearest first."""
    found: dict[Path, None] = {}
    for file in files:
        for name in sorted(_imported(file.path)):
            for folder in file.path.parents:
                if _holds(folder, name):
                    found.setdefault(folder)
                    break
                if _holds(folder / "src", name):
                    found.setdefault(folder / "src")
                    break
    return list(found)


def _folders(path: Path) -> Iterator[Path]:
    """The folders that may be packages of a file, its own first."""
    for folder in path.parents:
        if not folder.name.isidentifier():
            return
        if not _is_package(folder) and _is_project(folder):
            return
        yield folder


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _is_project(folder: Path) -> bool:
    return any(
        (folder / mark).exists() for mark in ("pyproject.toml", "setup.py", "setup.cfg", ".git")
    )


def _tree(path: Path) -> ast.AST:
    """The parsed file; empty when it does not parse, which its import will say."""
    try:
        return ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _relative_levels(path: Path) -> int:
    """How many folders the relative imports of a file need to be packages."""
    nodes = ast.walk(_tree(path))
    return max((n.level for n in nodes if isinstance(n, ast.ImportFrom)), default=0)


def _imported(path: Path) -> set[str]:
    """First names of the modules that a file imports absolutely, but for Python's own."""
    names = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add((node.module or "").split(".")[0])
    return names - set(sys.stdlib_module_names) - {"warp", "numpy"}


def _holds(folder: Path, name: str) -> bool:
    return (folder / name / "__init__.py").is_file() or (folder / f"{name}.py").is_file()


def _top_level(name: str) -> list[Path]:
    """Files and folders that a first name stands for."""
    with _in_working_directory():
        try:
            spec = importlib.util.find_spec(name) if name else None
        except (ImportError, ValueError):
            spec = None
    if spec is None:
        return []
    if spec.submodule_search_locations is not None:
        return [Path(place).resolve() for place in spec.submodule_search_locations]
    return [Path(spec.origin).resolve()] if spec.origin and spec.has_location else []


@contextmanager
def _in_working_directory() -> Iterator[None]:
    sys.path.insert(0, str(Path.cwd()))
    try:
        yield
    finally:
        sys.path.pop(0)


def _inside(folder: Path, name: str) -> list[Path]:
    if (folder / name).is_dir():
        return [folder / name]
    file = folder / f"{name}.py"
    return [file] if file.is_file() else []


def _files(name: str, place: Path, root: Path) -> Iterator[ModuleFile]:
    if place.is_file():
        if place.suffix == ".py":
            yield ModuleFile(name, place, root)
        return
    for path in sorted(place.rglob("*.py")):
        parts = path.relative_to(place).with_suffix("").parts
        # importing `__main__` would start a program
        if not all(part.isidentifier() for part in parts) or parts[-1] == "__main__":
            continue
        inner = parts[:-1] if parts[-1] == "__init__" else parts
        wanted = b"kernel" in path.read_bytes().lower()
        yield ModuleFile(".".join((name, *inner)), path, root, wanted)
