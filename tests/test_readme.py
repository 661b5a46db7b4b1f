"""What a new user is shown: the README, its row, the guides and the page of commands."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from scripts.author import write_cli, write_example
from synth.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
SHOWN = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "notes" / "guides").glob("*.md"))]
MOST_README_BYTES = 6000
MOST_PICTURE_BYTES = 200_000
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?\w+\}?")
_OF_OURS = re.compile(r"(?:CUDA|HF|PAIRSMITH|RAY|XDG)_[A-Z_]+")


def shown_commands(text: str) -> Iterator[list[str]]:
    """The words of each command in the blocks of a page, for a shell; variables read as 1."""
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.shlex(_VARIABLE.sub("1", line), posix=True, punctuation_chars="|&;")
            words.whitespace_split = True
            command: list[str] = []
            for word in [*words, ";"]:
                if set(word) <= set("|&;"):
                    yield from [command] if command else []
                    command = []
                else:
                    command.append(word)


def wrong(command: list[str]) -> str:
    """What the parser, or the Makefile, says against a command; empty when it would be run."""
    if command[0] == "make":
        known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        return " ".join(word for word in command[1:] if word not in known)
    if Path(command[0]).name != "pairsmith":
        return ""
    group: click.Command = main
    context, rest = click.Context(main), command[1:]
    try:
        while isinstance(group, click.Group):
            name, found, rest = group.resolve_command(context, rest)
            assert found is not None
            group = found
            context = click.Context(group, parent=context, info_name=name)
        group.parse_args(context, list(rest))
    except click.UsageError as error:
        return "" if "does not exist" in error.message else f"{command}: {error.message}"
    return ""


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_that_a_page_shows_are_taken(page: Path) -> None:
    commands = list(shown_commands(page.read_text()))
    assert commands
    assert not list(filter(None, map(wrong, commands)))


@pytest.mark.parametrize(
    "line",
    [
        ".venv/bin/pairsmith generate -n 60",
        "pairsmith generate -n 60 -o data/mine --verify all   # nearly",
        "pairsmith gpu race data/mine",
        "make demo && .venv/bin/pairsmith stats data/demo \\\n  --plot x",
        "make coffee",
    ],
)
def test_a_command_that_is_not_taken_is_noticed(line: str) -> None:
    assert any(map(wrong, shown_commands(f"```sh\n{line}\n```\n")))


def test_the_readme_is_short_and_its_picture_small() -> None:
    assert len(README.read_bytes()) <= MOST_README_BYTES
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README.read_text())
    assert pictures
    assert all((ROOT / path).stat().st_size <= MOST_PICTURE_BYTES for path in pictures)


def test_the_row_of_the_readme_is_one_of_the_samples() -> None:
    text = README.read_text()
    assert text == write_example.with_example(text), "run: make samples"


def test_the_page_of_commands_is_what_the_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        written = write_cli.PAGE.read_text()
        assert written == write_cli.page(), "run: python scripts/author/write_cli.py"


def test_every_option_is_on_the_page_of_commands() -> None:
    text = write_cli.PAGE.read_text()
    groups: list[click.Group] = [main]
    for group in groups:
        for name, command in group.commands.items():
            groups += [command] if isinstance(command, click.Group) else []
            assert f" {name}\n" in text
            for option in command.params:
                assert isinstance(option, click.Argument) or all(
                    f"`{word}`" in text for word in option.opts
                )


def test_every_environment_variable_has_its_line() -> None:
    page = (ROOT / "notes" / "reference" / "files.md").read_text()
    named = {
        node.value
        for package in ("synth", "validate")
        for path in (ROOT / package).rglob("*.py")
        if "os.environ" in (source := path.read_text())
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str)
        if _OF_OURS.fullmatch(node.value)
    }
    assert named
    assert not {name for name in named if f"`{name}`" not in page}
