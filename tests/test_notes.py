"""Pages that people read: the index of notes, and every path, module and link that a page names."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "data" / "README.md",
    *sorted((ROOT / "notes").rglob("*.md")),
]
PACKAGES = ("extract", "generators", "synth", "validate")
FOLDERS = (*PACKAGES, ".ci", "notes", "scripts", "tests")
PLACEHOLDER = re.compile(r"[A-Z]{3}|<|…|NNNN")
"""What stands for something else in a path: `notes/decisions/NNNN-title.md`, `FILE.py`."""
GONE = {"stages.py", "touches.py", "holes.py", "formula.py"}
"""Files that a note names because they went."""
EXAMPLES = {"generators/math/bump.py", "generators/signal.py", "__init__.py"}
"""Files that CONTRIBUTING.md lets its reader write, and a name that many have."""
_CODE = re.compile(r"```.*?```|`([^`]+)`", re.DOTALL)
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_PATH = re.compile(r"(?<![\w./*-])[\w.*-]+(?:/[\w.*-]+)*/?")
_MODULE = re.compile(rf"(?<![\w./])(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
_LINK = re.compile(r"\]\(([^)#\s]+)")


def _newest(page: Path) -> str:
    """A page's text; of the changelog the newest section alone: older ones tell of their day."""
    text = page.read_text()
    return "\n## ".join(text.split("\n## ")[:2]) if page.name == "CHANGELOG.md" else text


def _code(text: str) -> Iterator[str]:
    """What stands in backticks, and in fenced blocks."""
    for match in _CODE.finditer(text):
        yield match[1] if match[1] is not None else match[0]


def _is_there(path: str) -> bool:
    if path in EXAMPLES | GONE or PLACEHOLDER.search(path):
        return True
    return any(ROOT.glob(path.rstrip("/"))) if "*" in path else (ROOT / path).exists()


def missing_paths(text: str) -> list[str]:
    """Paths of the repository that a text names and that are not there.

    A path is one below a folder of the repository, or the bare name of a Python file or a page: the
    whole path says more, and can be checked.
    """
    found = []
    for code in _code(text):
        for path in _PATH.findall(code):
            of_ours = "/" in path and path.split("/")[0] in FOLDERS
            bare = path[0] not in ".*" and "/" not in path and path.endswith((".py", ".md"))
            if (of_ours or bare) and not _is_there(path):
                found.append(path)
    return found


def missing_modules(text: str) -> list[str]:
    """Dotted names of our packages in a text that no module, nor a name in one, has."""
    found = []
    for code in _code(text):
        for name in _MODULE.findall(code):
            parts = name.split(".")
            whole, parent = ROOT.joinpath(*parts), ROOT.joinpath(*parts[:-1])
            file = parent.with_suffix(".py")
            if file.is_file():
                defined = rf"^(?:(?:def|class) )?{parts[-1]}\b"
                known = re.search(defined, file.read_text(), re.MULTILINE) is not None
            else:
                known = whole.is_dir() or whole.with_suffix(".py").is_file()
                init = parent / "__init__.py"
                known |= init.is_file() and parts[-1] in init.read_text()
            if not known and not name.endswith((".py", ".md")):
                found.append(name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_names_what_is_there(page: Path) -> None:
    text = _newest(page)
    links = _LINK.findall(_FENCE.sub("", text))
    assert not missing_paths(text)
    assert not missing_modules(text)
    assert not [
        link
        for link in links
        if not re.match(r"https?:|mailto:", link) and not (page.parent / link).exists()
    ]


@pytest.mark.parametrize(
    "text",
    [
        "see `synth/cuda_style_tiles.py`",
        "see `gone.py`, which went",
        "all of `tests/validate_*.py`",
        "```sh\npython scripts/try_idiom.py math\n```",
    ],
)
def test_a_path_that_is_not_there_is_noticed(text: str) -> None:
    assert missing_paths(text)


def test_a_module_that_is_not_there_is_noticed() -> None:
    assert missing_modules("see `validate.nvrtc_program`") == ["validate.nvrtc_program"]
    assert missing_modules("see `validate.nvrtc.program.nothing`")
    assert not missing_modules("see `validate.nvrtc.program.WARP_OPTIONS` and `validate.host`")


def test_the_index_of_notes_is_what_its_script_writes() -> None:
    script = ROOT / "scripts" / "author" / "index_notes.py"
    spec = importlib.util.spec_from_file_location("index_notes", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "notes" / "README.md").read_text() == module.index()
