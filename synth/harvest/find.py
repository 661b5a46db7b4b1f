"""Import one file of a user's and find its kernels, and those that an import does not make."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from synth.harvest.places import ModuleFile


class ImportFailed(Exception):  # noqa: N818 - the module's doing, not an error of ours
    """The file could not be imported; the message says why in one line.

    ``missing`` is the first name of the module that is not installed, if that is why.
    """

    def __init__(self, reason: str, missing: str = "") -> None:
        super().__init__(reason)
        self.missing = missing


@dataclass(frozen=True)
class Found:
    """One concrete kernel: its plain name, its line in the file, and Warp's object."""

    name: str
    line: int
    kernel: Any


def import_package(file: ModuleFile) -> None:
    """Execute the outermost package around a file; what it raises, the file's import will too."""
    if _is_in_package(file):
        with suppress(BaseException):
            importlib.import_module(file.module.split(".")[0])


def import_file(file: ModuleFile) -> ModuleType:
    """Execute the file as the module that it is. Raises :class:`ImportFailed` for whatever it
    raises."""
    sys.argv = [str(file.path)]
    try:
        if _is_in_package(file):
            module = importlib.import_module(file.module)
        else:
            module = _import_alone(file.path)
    except SystemExit as error:
        raise ImportFailed(f"it called sys.exit({error.code!r})") from error
    except BaseException as error:
        raise ImportFailed(one_line(error), _missing(error)) from error
    if Path(str(module.__file__)).resolve() != file.path:
        raise ImportFailed(f"another module is called {file.module}")
    return module


def _is_in_package(file: ModuleFile) -> bool:
    return "." in file.module or file.path.stem == "__init__"


def _missing(error: BaseException | None) -> str:
    """The first name of the module that is not installed, when that is why an import failed."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            first = error.name.split(".")[0]
            return "" if first in sys.modules or _is_found(first) else first
        error = error.__cause__ or error.__context__
    return ""


def _is_found(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _import_alone(path: Path) -> ModuleType:
    plain = re.sub(r"\W", "_", path.stem)
    # not under its own name when that is a module of Python's or ours, such as `extract.py`
    name = plain if plain not in sys.modules and plain.isidentifier() else f"harvested_{plain}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def one_line(error: BaseException) -> str:
    """An exception as one line without paths, addresses or hashes."""
    said = last_line(str(error))
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    text = re.sub(r"0x[0-9a-fA-F]{6,}", "0x…", text)
    text = re.sub(r"(?<![\w.])/(?:[^\s'\":]*/)+", "", text)
    return text[:300]


def last_line(message: str) -> str:
    """The line of Warp's message that says the cause: it puts that last, behind the lines of
    source that it concerns."""
    said = message.rpartition("\n;")[2]
    return next((line.strip() for line in said.splitlines() if line.strip()), "")


def kernels_of(path: Path, recorded: Sequence[Any]) -> tuple[list[Found], list[tuple[str, str]]]:
    """The concrete kernels that the file defines, in the order of their lines and creation.

    Returns also (name, reason) for each generic kernel without a concrete overload.
    """
    found: list[Found] = []
    generic: list[tuple[str, str]] = []
    for kernel in dict.fromkeys(recorded):
        if not _is_of(path, kernel):
            continue
        name, line = kernel.func.__name__, kernel.func.__code__.co_firstlineno
        overloads = list(kernel.overloads.values()) if kernel.is_generic else [kernel]
        found += [Found(name, line, each) for each in overloads]
        if not overloads:
            generic.append((name, "generic: no concrete overload"))
    return sorted(found, key=lambda f: f.line), generic


def _is_of(path: Path, kernel: Any) -> bool:
    file = kernel.func.__code__.co_filename
    return Path(file).is_absolute() and Path(file).resolve() == path.resolve()


def made_lines(path: Path, recorded: Sequence[Any]) -> set[int]:
    """The first lines of the file's kernels that were made."""
    return {k.func.__code__.co_firstlineno for k in recorded if _is_of(path, k)}


def unreached(
    path: Path, recorded: Sequence[Any], reasons: Mapping[int, str]
) -> Iterator[tuple[str, str]]:
    """(name, reason) of each kernel in the file's text that was not made.

    ``reasons`` has what is known, by the kernel's first line.
    """
    made = made_lines(path, recorded)
    for name, lines, places in _definitions(ast.parse(path.read_bytes()), ()):
        if made.isdisjoint(lines):
            plain = "deep in a function" if places else "its definition did not run"
            yield ".".join((*places, name)), reasons.get(lines[0], f"not reached: {plain}")


def _definitions(
    node: ast.AST, places: tuple[str, ...]
) -> Iterator[tuple[str, range, tuple[str, ...]]]:
    """(name, lines of its head, functions around it) of everything decorated as a kernel."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if any(is_kernel_decorator(d) for d in child.decorator_list):
                first = min(d.lineno for d in child.decorator_list)
                yield child.name, range(first, child.lineno + 1), places
            yield from _definitions(child, (*places, child.name))
        else:
            yield from _definitions(child, places)


def is_kernel_decorator(node: ast.expr) -> bool:
    """Whether a decorator is ``wp.kernel``, called or not, under whatever name Warp has."""
    target = node.func if isinstance(node, ast.Call) else node
    return (isinstance(target, ast.Attribute) and target.attr == "kernel") or (
        isinstance(target, ast.Name) and target.id == "kernel"
    )
