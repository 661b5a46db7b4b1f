"""Write ``notes/reference/cli.md``: every command of ``pairsmith`` with its arguments and options.

Run: python scripts/author/write_cli.py. The words stand in ``synth/cli/``; a test compares the page
with them. It is made from the commands themselves and not from what ``--help`` prints, whose
wording and line breaks change with the terminal and with versions of click.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from synth.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "notes" / "reference" / "cli.md"

_HEAD = """\
# The command line

Every command with its arguments and options; `pairsmith COMMAND --help` prints the same.
Written by `python scripts/author/write_cli.py` from `synth/cli/`: change the words there.

In a clone it is `.venv/bin/pairsmith`, or `python -m synth` with the packages of `pyproject.toml`.
"""
_OWN_DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
"""How a help text states a default that is no value."""


def page() -> str:
    """The text of the page."""
    return "\n".join([_HEAD, _paragraphs(main), "", *_sections("pairsmith", main)])


def _sections(name: str, group: click.Group) -> Iterator[str]:
    for word, command in sorted(group.commands.items()):
        whole = f"{name} {word}"
        if isinstance(command, click.Group):
            yield f"## {whole}\n\n{_paragraphs(command)}\n"
            yield from _sections(whole, command)
        else:
            yield _section(whole, command)


def _section(name: str, command: click.Command) -> str:
    options = [param for param in command.params if isinstance(param, click.Option)]
    usage = [name, *(_placed(p) for p in command.params if isinstance(p, click.Argument))]
    usage += [_example(option) for option in options if option.required]
    if len(options) > sum(option.required for option in options):
        usage.append("[OPTIONS]")
    rows = [f"| {_names(option)} | {_meaning(option)} |" for option in options if not option.hidden]
    table = ["", "| option | meaning |", "|---|---|", *rows] if rows else []
    body = [f"## {name}", "", "```sh", " ".join(usage), "```", "", _paragraphs(command), *table]
    return "\n".join([*body, ""])


def _paragraphs(command: click.Command) -> str:
    """Its description, a line for each paragraph, as a terminal of any width would break it."""
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return "\n\n".join(" ".join(part.split()) for part in re.split(r"\n\s*\n", text))


def _placed(argument: click.Argument) -> str:
    name = argument.metavar or str(argument.name).upper()
    many = "…" if argument.nargs == -1 and "…" not in name else ""
    return f"{name}{many}" if argument.required else f"[{name}{many}]"


def _example(option: click.Option) -> str:
    return f"{min(option.opts, key=len)} {_value(option)}".strip()


def _value(option: click.Option) -> str:
    """What stands for the option's value; empty for a flag."""
    if option.is_flag:
        return ""
    if option.metavar:
        return option.metavar
    kind = option.type
    if isinstance(kind, click.Choice):
        return "|".join(map(str, kind.choices))
    if isinstance(kind, click.Path):
        return "FOLDER" if not kind.file_okay else "FILE" if not kind.dir_okay else "PATH"
    return {"integer": "N", "float": "X"}.get(kind.name.split()[0], "TEXT")


def _names(option: click.Option) -> str:
    value = _value(option).replace("|", "\\|")
    names = ", ".join(f"`{name}`" for name in sorted(option.opts, key=len))
    return f"{names} `{value}`" if value else names


def _meaning(option: click.Option) -> str:
    facts = [_OWN_DEFAULT.sub(r" Default: \1.", option.help or "")]
    if isinstance(option.type, click.IntRange | click.FloatRange):
        facts.append(_range(option.type))
    if option.multiple and "repeatable" not in facts[0]:
        facts.append("Repeatable.")
    if option.required:
        facts.append("Required.")
    elif option.show_default and not option.is_flag:
        shown = option.show_default if isinstance(option.show_default, str) else option.default
        facts.append(f"Default: {shown}.")
    return " ".join(fact for fact in facts if fact).replace("  ", " ").replace("|", "\\|")


def _range(kind: click.IntRange | click.FloatRange) -> str:
    low, high = kind.min, kind.max
    if low is not None and high is not None:
        return f"From {low} to {high}."
    return f"At least {low}." if high is None else f"At most {high}."


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    print(f"written: {PAGE}")
