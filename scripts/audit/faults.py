"""What every command does when the machine fails it: full disks, small limits, closed streams.

Run: PYTHONPATH=. python scripts/audit/faults.py [--fault WORD]... [--command WORD]...
[--root DIR] [--most-s SECONDS] [--json FILE]. Calls every command of the parser, at every level of
--verify that it has, under every fault whose name holds one of the words; --root is the checkout
whose code is called. A call is bad when it shows a traceback, fails without a word where it could
say one, says more than one line of its own, ends with a code other than 0, 1, 2 (130, 143:
interrupted), takes longer than it may, or leaves a process or a temporary file behind. Prints a
line a call; exit code 1 when one is bad. Linux; faults that mount or change the user (small disks,
limits that root may pass) need root and are left out without it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from commands import leaves

from synth.cli.main import main as pairsmith

ROWS = 6
MOST_S = 60.0
MARK = "PAIRSMITH_AUDIT"
# Reads what root reads, but may pass no limit.
_READS = "+dac_override,+dac_read_search"
NOBODY = (
    "setpriv --reuid 65534 --regid 65534 --clear-groups "
    f"--inh-caps {_READS} --ambient-caps {_READS}"
)
# Shell around the call, which is "$@". $CASE is a folder of the case's own, with tmp/ (TMPDIR),
# home/ (HOME) and new/ (where -o points) in it; a call starts in $CASE.
FAULTS = {
    "none": '"$@"',
    "stdout full": '"$@" >/dev/full',
    "stderr full": '"$@" 2>/dev/full',
    "both full": '"$@" >/dev/full 2>&1',
    "stdin closed": '"$@" <&-',
    "stdout closed": '"$@" >&-',
    "stderr closed": '"$@" 2>&-',
    "all closed": '"$@" <&- >&- 2>&-',
    "broken pipe": 'set -o pipefail; "$@" | true',
    "stderr broken pipe": 'set -o pipefail; "$@" 2> >(true)',
    "files of 0 bytes": 'ulimit -f 0; "$@"',
    "files of 4 KB": 'ulimit -f 4; "$@"',
    "files of 1 MB": 'ulimit -f 1024; "$@"',
    "files of 64 MB as nobody": f'ulimit -f 65536; {NOBODY} "$@"',
    "8 open files": 'ulimit -n 8; "$@"',
    "12 open files": 'ulimit -n 12; "$@"',
    "20 open files": 'ulimit -n 20; "$@"',
    "memory 200 MB": 'ulimit -v 200000; "$@"',
    "memory 500 MB": 'ulimit -v 500000; "$@"',
    "memory 1 GB": 'ulimit -v 1000000; "$@"',
    "memory 2 GB as nobody": f'ulimit -v 2000000; {NOBODY} "$@"',
    "memory 6 GB as nobody": f'ulimit -v 6000000; {NOBODY} "$@"',
    "data 300 MB": 'ulimit -d 300000; "$@"',
    "1 process as nobody": f'ulimit -u 1; {NOBODY} "$@"',
    "3 processes as nobody": f'ulimit -u 3; {NOBODY} "$@"',
    "working folder removed": 'mkdir gone; cd gone; rmdir ../gone; "$@"',
    "temporary folder 1 MB": 'unshare -m bash -c \'mount -t tmpfs -o size=1m x tmp; "$@"\' x "$@"',
    "temporary folder 6 MB": 'unshare -m bash -c \'mount -t tmpfs -o size=6m x tmp; "$@"\' x "$@"',
    "temporary folder 30 MB": (
        'unshare -m bash -c \'mount -t tmpfs -o size=30m x tmp; "$@"\' x "$@"'
    ),
    "temporary folder missing": 'rmdir tmp; "$@"',
    "no temporary folder at all": (
        "unshare -m bash -c 'for at in /tmp /var/tmp /usr/tmp; do [ -d $at ] && "
        "mount --bind $CASE $at; done; mount -o remount,ro,bind /tmp; mount -o remount,ro,bind "
        '/var/tmp; cd /proc/self; TMPDIR=/proc "$@"\' x "$@"'
    ),
    "temporary folder removed meanwhile": '(sleep 4; rm -rf $CASE/tmp) & "$@"; c=$?; wait; exit $c',
    "home read-only": 'unshare -m bash -c \'mount -t tmpfs -o ro x home; "$@"\' x "$@"',
    "home 1 MB": 'unshare -m bash -c \'mount -t tmpfs -o size=1m x home; "$@"\' x "$@"',
    "home is a file": 'rmdir home; touch home; "$@"',
    "home missing": 'unset HOME; "$@"',
    "dataset's disk 64 KB": (
        'unshare -m bash -c \'mount -t tmpfs -o size=64k x new; "$@"\' x "$@"'
    ),
    "dataset's disk read-only": 'unshare -m bash -c \'mount -t tmpfs -o ro x new; "$@"\' x "$@"',
    "dataset's folder removed meanwhile": (
        '(sleep 4; rm -rf $CASE/new $CASE/data) & "$@"; c=$?; wait; exit $c'
    ),
    "LC_ALL=C": 'LC_ALL=C "$@"',
    "ASCII without UTF-8 mode": 'LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 "$@"',
    "stdout of ASCII": 'PYTHONIOENCODING=ascii "$@"',
    "working folder no UTF-8": "mkdir $'\\xff'; cd $'\\xff'; \"$@\"",
    "temporary folder no UTF-8": "mkdir $'tmp/\\xff'; TMPDIR=$CASE/tmp/$'\\xff' \"$@\"",
    "home no UTF-8": "HOME=$CASE/home/$'\\xff' \"$@\"",
    "interrupted": 'timeout --foreground -s INT 6 "$@"; c=$?; [ $c = 124 ] && c=130; exit $c',
    "terminated": 'timeout --foreground -s TERM 6 "$@"; c=$?; [ $c = 124 ] && c=143; exit $c',
}
BAR = re.compile(r"\[\d\d:\d\d")
NEEDS_ROOT = ("unshare", "setpriv")
ENDS = {0, 1, 2, 130, 143}
WARP = """\
import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i]
"""


@dataclass
class Called:
    """What a call came to."""

    command: str
    fault: str
    code: int | None
    spent_s: float
    said: str
    bad: list[str]


@dataclass
class Stock:
    """What calls need, made once."""

    root: Path
    folder: Path

    def make(self) -> None:
        """Datasets of two seeds, an unfinished run, answers, a spec, a Warp module."""
        for name, more in {"a": (), "b": ("--seed", "1"), "part": ("--part", "1/1")}.items():
            rows = ("-n", str(ROWS), "-o", str(self.folder / name), "--verify", "text", "--quiet")
            subprocess.run(
                [*python(), "generate", *rows, *more], env=environment(self.root), check=True
            )
        show = [*python(), "stats", str(self.folder / "a"), "--json"]
        subprocess.run(show, env=environment(self.root), check=True, stdout=subprocess.DEVNULL)
        (self.folder / "answers.jsonl").write_text(json.dumps(_answer(self.folder / "a")) + "\n")
        (self.folder / "spec.json").write_text('{"op": "relu"}')
        (self.folder / "module.py").write_text(WARP)

    def arguments(self, path: tuple[str, ...], command: click.Command, case: Path) -> list[str]:
        """A sensible call of a command: a value for each parameter that it wants."""
        data = case / "data"
        shutil.copytree(self.folder / ("part" if path == ("finish",) else "a"), data)
        values = {
            "n": str(ROWS),
            "folders": f"{data} {self.folder / 'b'}",
            "files": str(self.folder / "module.py"),
            "file": str(self.folder / "spec.json"),
            "answers": str(self.folder / "answers.jsonl"),
            "paths": str(self.folder / "b"),
            "name": "user/name",
            "arch": "sm_90",
            "folder": str(case / "new" / "cubins"),
            # Nobody listens there.
            "base_url": "http://127.0.0.1:9/v1",
            "model": "none",
        }
        words: list[str] = []
        for parameter in command.params:
            wanted = parameter.required or parameter.name in ("workers", "report", "retries")
            name = str(parameter.name)
            if isinstance(parameter, click.Option) and wanted:
                here = {"out": str(case / "new" / "out"), "workers": "2"}
                here["report"] = str(case / "new" / "report.json")
                # A host that nobody listens at is not waited for.
                here["retries"] = "0"
                words += [max(parameter.opts, key=len), (values | here)[name]]
            elif isinstance(parameter, click.Argument) and name != "row_id":
                words += values.get(name, str(data)).split(" ")
        return words


def _answer(out: Path) -> dict[str, str]:
    """A row's own text, as an answer to it."""
    from synth.dataset.stored import stored_rows

    row = next(row for _, row in stored_rows(out, ("id", "cuda_plain")))
    return {"id": row["id"], "cuda": row["cuda_plain"]}


def python() -> list[str]:
    return [sys.executable, "-m", "synth"]


def environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root)}


def calls(commands: list[str]) -> Iterator[tuple[str, tuple[str, ...], click.Command, list[str]]]:
    """Every command, at every level of --verify that it has."""
    for path, command in leaves(pairsmith):
        levels = next((p.type.choices for p in command.params if p.name == "verify"), [""])
        for level in levels:
            name = " ".join([*path, level]).strip()
            if not commands or any(word in name for word in commands):
                yield name, path, command, ["--verify", str(level)] if level else []


def call(
    stock: Stock,
    fault: str,
    what: tuple[str, tuple[str, ...], click.Command, list[str]],
    most_s: float,
) -> Called:
    """Call a command under a fault."""
    name, path, command, more = what
    shell = FAULTS[fault]
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        case = Path(folder)
        case.chmod(0o777)
        for part in ("tmp", "home", "new"):
            (case / part).mkdir()
            (case / part).chmod(0o777)
        words = [*python(), *path, *stock.arguments(path, command, case), *more]
        for there in (case / "data").rglob("*"):
            there.chmod(0o777)
        (case / "data").chmod(0o777)
        told = environment(stock.root) | {
            "CASE": folder,
            "TMPDIR": f"{folder}/tmp",
            "HOME": f"{folder}/home",
            MARK: mark,
            "HF_ENDPOINT": "http://127.0.0.1:9",
            "HF_TOKEN": "hf_none",
        }
        began_s = time.monotonic()
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *words],
            cwd=case,
            env=told,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            _, said = process.communicate(timeout=most_s)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, said = process.communicate()
            code = None
        spent_s = time.monotonic() - began_s
        bad = troubles(code, said, case, mark, silent="2>" in shell or "|" in shell)
    lines = [line for line in said.replace("\r", "\n").splitlines() if line.strip()]
    return Called(name, fault, code, round(spent_s, 1), lines[-1][:300] if lines else "", bad)


def troubles(code: int | None, said: str, case: Path, mark: str, *, silent: bool) -> list[str]:
    """What is wrong with the end of a call."""
    bad = []
    if code is None:
        bad.append("never ended")
    elif code not in ENDS:
        bad.append(f"code {code}")
    if "Traceback" in said or "Exception ignored" in said:
        bad.append("traceback")
    own = [line for line in said.splitlines() if line.strip() and not BAR.search(line)]
    if code == 2 and len([line for line in own if not line.startswith("Usage:")]) > 1:
        bad.append(f"{len(own)} lines")
    if code in (1, 2) and not own and not silent:
        bad.append("not a word")
    deadline_s = time.monotonic() + 3
    while (alive := list(marked(mark))) and time.monotonic() < deadline_s:
        time.sleep(0.1)
    if alive:
        bad.append(f"{len(alive)} processes left")
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
    left = sorted(p.name for p in (case / "tmp").glob("*")) if (case / "tmp").is_dir() else []
    left = [name for name in left if name.isascii()]
    left += [str(p.relative_to(case)) for p in (case / "new").rglob(".*.tmp")]
    if left:
        bad.append(f"left: {', '.join(left[:4])}")
    return bad


def marked(mark: str) -> Iterator[int]:
    """Processes whose environment holds the mark of a call."""
    wanted = f"{MARK}={mark}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                yield int(path.parent.name)
        except OSError:
            continue  # it ended, or is another user's


def main() -> None:
    """Try what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--command", action="append", default=[])
    parser.add_argument("--root", type=Path, default=Path.cwd())
    parser.add_argument("--most-s", type=float, default=MOST_S, help="more on a busy machine")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    chosen = [f for f in FAULTS if not asked.fault or any(word in f for word in asked.fault)]
    if os.geteuid() != 0:
        chosen = [f for f in chosen if not any(word in FAULTS[f] for word in NEEDS_ROOT)]
    found = []
    with tempfile.TemporaryDirectory(prefix="stock-") as folder:
        stock = Stock(asked.root.resolve(), Path(folder))
        Path(folder).chmod(0o755)
        stock.make()
        for fault in chosen:
            for what in calls(asked.command):
                done = call(stock, fault, what, asked.most_s)
                found.append(done)
                mark = "BAD " if done.bad else "ok  "
                print(
                    f"{mark}{fault} | {done.command} | {done.code} | {done.spent_s} s | "
                    f"{'; '.join(done.bad)} | {done.said}",
                    flush=True,
                )
    bad = sum(bool(one.bad) for one in found)
    print(f"{len(found)} calls, {bad} bad")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(one) for one in found], indent=1))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
