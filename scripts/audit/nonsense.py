"""What the command line says to calls that make no sense, drawn from its own parser.

Run: PYTHONPATH=. python scripts/audit/nonsense.py [--command WORD]... [--json FILE]. For every
command of the parser: each parameter that it wants left out, each parameter with values that its
type does not mean, options that do not exist, one argument too many. A call that can only be wrong
must end with code 2 and one line; one that might mean something may end otherwise, but never with a
traceback, nor late. Each call is a fork of this process, so that modules are imported once. Prints
the calls that broke; exit code 1 when one did.
"""

from __future__ import annotations

import argparse
import atexit
import importlib
import json
import os
import pkgutil
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
from commands import leaves
from faults import BAR, Stock

import synth
from synth.cli.main import main as pairsmith

MOST_S = 60.0
NO_NUMBER = ("x", "", "²", "nan()", "0x10", "1e", "--", "1,5")
NO_WHOLE_NUMBER = (*NO_NUMBER, "1.5", "1e30", "nan", "inf")
PERHAPS_A_NUMBER = ("-1", "0", str(10**30), "-0", "\N{ARABIC-INDIC DIGIT THREE}")
NO_DURATION = (*NO_NUMBER, "nan", "-1")
PERHAPS_A_DURATION = ("inf", "1e400", "0", "1e-300", "1e18")
PERHAPS_A_TEXT = ("", "nonsense", "²", "a\nb", "💥", "-", "a" * 5000, "{", "../..", "%s%n")


class Places:
    """Files and folders that are not what a command wants."""

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder.mkdir()
        self.file = folder / "file"
        self.file.write_text("precious")
        self.broken = folder / "broken.json"
        self.broken.write_text('{"id": ')
        self.deep = folder / "deep.json"
        self.deep.write_text("[" * 100_000)
        self.binary = folder / "binary"
        self.binary.write_bytes(bytes(range(256)))
        self.empty_file = folder / "nothing"
        self.empty_file.write_text("")
        self.empty = folder / "empty"
        self.empty.mkdir()
        self.full = folder / "full"
        self.full.mkdir()
        (self.full / "thesis.tex").write_text("precious")
        self.other = folder / "other"
        (self.other / "train").mkdir(parents=True)
        pq.write_table(pa.table({"n": [1, 2]}), self.other / "train" / "shard-00000.parquet")
        self.damaged = folder / "damaged"
        (self.damaged / "train").mkdir(parents=True)
        (self.damaged / "train" / "shard-00000.parquet").write_text("no Parquet")
        self.manifest = folder / "manifest"
        (self.manifest / "train").mkdir(parents=True)
        (self.manifest / "manifest.json").write_text('{"rows": 1}')
        self.loop = folder / "loop"
        self.loop.symlink_to(self.loop)
        self.long = folder / ("n" * 300)
        self.none = folder / "none"

    def no_input(self) -> list[Path]:
        """What holds neither a dataset nor rows, answers, specs or modules."""
        files = [self.file, self.broken, self.deep, self.binary, self.empty_file]
        folders = [self.empty, self.full, self.other, self.damaged, self.manifest]
        return [*files, *folders, self.loop, self.long, self.none, self.file / "below"]

    def no_output(self) -> list[Path]:
        """Where nothing can be written."""
        return [self.file / "below" / "x", self.loop / "x", self.long / "x", Path("/proc/none/x")]


def nonsense(
    stock: Stock, places: Places, path: tuple[str, ...], command: click.Command, case: Path
) -> Iterator[tuple[list[str], bool]]:
    """Calls of a command, each with whether it can only be wrong."""
    good = stock.arguments(path, command, case)
    if any(p.name == "verify" for p in command.params):
        good += ["--verify", "text"]
    yield [*good, "--nonsense"], True
    yield [*good, "-Z"], True
    if not any(isinstance(p, click.Argument) and p.nargs == -1 for p in command.params):
        yield [*good, str(places.none), str(places.none), "one too many"], True
    for number, word in enumerate(good):
        if word.startswith("-") and not good[number + 1].startswith("-"):
            required = next(p for p in command.params if word in p.opts).required
            yield good[:number] + good[number + 2 :], required
            yield [*good[:number], *good[number + 2 :], word], True
        elif number == 0 or not good[number - 1].startswith("-"):
            yield good[:number] + good[number + 1 :], False
            for place in places.no_input():
                yield [*good[:number], str(place), *good[number + 1 :]], False
            yield [*good[:number], "", *good[number + 1 :]], False
    for option in command.params:
        if isinstance(option, click.Option):
            for value, sure in values(option, places):
                yield [*good, max(option.opts, key=len), *value], sure


def values(option: click.Option, places: Places) -> Iterator[tuple[list[str], bool]]:
    """Values that an option cannot mean, or hardly."""
    kind = option.type
    if option.is_flag:
        yield [f"{places.none}", "x"], False
    elif isinstance(kind, click.Choice):
        yield from (([text], True) for text in PERHAPS_A_TEXT)
    elif isinstance(kind, click.types.IntParamType):
        yield from (([text], True) for text in NO_WHOLE_NUMBER)
        yield from (([text], False) for text in PERHAPS_A_NUMBER)
    elif isinstance(kind, click.types.FloatParamType):
        yield from (([text], True) for text in NO_DURATION)
        yield from (([text], False) for text in PERHAPS_A_DURATION)
    elif isinstance(kind, click.Path):
        yield from (([str(place)], False) for place in [*places.no_output(), *places.no_input()])
        yield [""], False
    else:
        yield from (([text], False) for text in PERHAPS_A_TEXT)


def called(words: list[str], case: Path) -> tuple[int | None, str]:
    """The exit code (None: it never ended) and what was said on standard error."""
    told = case / "told"
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(case)
        for number, name in ((0, os.devnull), (1, os.devnull), (2, str(told))):
            handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdout, sys.stderr = open(1, "w"), open(2, "w")  # noqa: SIM115
        sys.argv = ["pairsmith", *words]
        _end(words)
    deadline_s = time.monotonic() + MOST_S
    while time.monotonic() < deadline_s:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status), told.read_text(errors="replace")
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, told.read_text(errors="replace")


def _end(words: list[str]) -> NoReturn:
    """Call a command and end, as a process of its own would."""
    code: Any = 70
    try:
        pairsmith(words, prog_name="pairsmith")
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - whatever it is, it broke
        traceback.print_exc()
    atexit._run_exitfuncs()
    sys.stderr.flush()
    os._exit(code or 0)


def trouble(code: int | None, said: str, *, sure: bool) -> str:
    """What is wrong with an answer; empty when nothing is."""
    lines = [line for line in said.splitlines() if line.strip() and not BAR.search(line)]
    if code is None:
        return "never ended"
    if "Traceback" in said or code not in (0, 1, 2):
        return f"code {code}: {said[-600:]}"
    if sure and code != 2:
        return f"taken: code {code}"
    if code == 2 and (len(lines) != 1 or not lines[0].startswith("pairsmith: ")):
        return f"not one line: {said[-600:]}"
    return ""


def import_all() -> None:
    """Import every module of ours, for all forks; those of extras that are not installed aside."""
    for module in pkgutil.walk_packages(synth.__path__, "synth."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                importlib.import_module(module.name)


def tried_in(folder: str, wanted: list[str]) -> tuple[int, int, list[dict[str, str]]]:
    """How many calls were tried, how many refused, and those that broke."""
    stock = Stock(Path.cwd(), Path(folder))
    stock.make()
    import_all()
    os.environ.update(HF_ENDPOINT="http://127.0.0.1:9", HF_TOKEN="none", HOME=folder)
    tried, refused, broke = 0, 0, []
    for path, command in leaves(pairsmith):
        name = " ".join(path)
        if wanted and not any(name.startswith(word) for word in wanted):
            continue
        case = Path(folder) / name.replace(" ", "-")
        case.mkdir()
        places = Places(case / "places")
        began_s, before = time.monotonic(), tried
        for words, sure in nonsense(stock, places, path, command, case):
            code, said = called([*path, *words], case)
            tried, refused = tried + 1, refused + (code == 2)
            if what := trouble(code, said, sure=sure):
                shown = shlex.join([*path, *(word[:80] for word in words)])
                broke.append({"call": shown.replace(folder, "T"), "what": what})
                print(f"pairsmith {broke[-1]['call']}\n    {what}", flush=True)
        print(f"{name}: {tried - before} calls, {time.monotonic() - began_s:.0f} s", flush=True)
    return tried, refused, broke


def main() -> None:
    """Try what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    # No TemporaryDirectory: forks would remove it.
    folder = tempfile.mkdtemp(prefix="nonsense-")
    try:
        tried, refused, broke = tried_in(folder, asked.command)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{tried} calls, {refused} refused in one line, {len(broke)} broke")
    if asked.json:
        asked.json.write_text(json.dumps(broke, indent=1))
    sys.exit(1 if broke else 0)


if __name__ == "__main__":
    main()
