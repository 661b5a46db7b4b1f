"""How commands end when the machine fails them, and that bugs of ours still show themselves."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from synth.cli.ends import OneLineGroup
from synth.cli.generate import _Counted
from synth.progress import progress_bar
from validate.errors import MachineFault
from validate.process import machine

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "data" / "samples"


def in_shell(line: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Bash in which ``"$@"`` is ``pairsmith``."""
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-m", "synth"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f'"$@" stats {SAMPLES} >/dev/full', "standard output: No space left on device"),
        ('"$@" --help >/dev/full', "standard output: No space left on device"),
        (f'ulimit -v 300000; "$@" stats {SAMPLES}', "raise that (ulimit -v)"),
        ('"$@" stats ""', "an argument is empty"),
        ("\"$@\" stats $'\\xff'", "is no UTF-8"),
        ("mkdir $'\\xff'; TMPDIR=$'\\xff' \"$@\" stats .", "is no UTF-8"),
        ('"$@" stats --nonsense', "See pairsmith stats -h."),
        (f'ulimit -f 0; "$@" view {SAMPLES} --quiet --out page', "cannot write page"),
        (
            'echo "import none_such" >k.py; "$@" harvest k.py -o out --quiet',
            "nothing was written; ModuleNotFoundError: No module named 'none_such'",
        ),
        ('echo >k.py; ulimit -n 12; "$@" harvest k.py -o out --quiet', "raise that (ulimit -n)"),
        (
            'echo {\\"op\\": \\"relu\\"} >s; "$@" lower s --cache . >/dev/full',
            "standard output: No",
        ),
    ],
)
def test_a_fault_gets_one_line_and_code_2(tmp_path: Path, line: str, said: str) -> None:
    done = in_shell(line, tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert done.stderr.startswith("pairsmith: ")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.parametrize(
    "line", ['"$@" stats {} <&- >&- 2>&-', '"$@" stats {} >&-', '"$@" view {} --out p 2>/dev/full']
)
def test_a_stream_that_nobody_reads_hinders_nothing(tmp_path: Path, line: str) -> None:
    assert in_shell(line.format(SAMPLES), tmp_path).returncode == 0


def test_a_locale_without_utf_8_changes_nothing(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name, more in (("with", {}), ("without", plain)):
        line = f'"$@" view {SAMPLES} --quiet --out {name}; "$@" stats {SAMPLES} >/dev/null'
        done = in_shell(line, tmp_path, **more)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


def ended_by(error: BaseException) -> tuple[int, str, BaseException | None]:
    @click.group(cls=OneLineGroup)
    def group() -> None:
        pass

    @group.command()
    def command() -> None:
        raise error

    done = CliRunner().invoke(group, ["command"])
    return done.exit_code, done.stderr, done.exception


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOSPC, "", "/full/x"), "/full/x: No space left on device: make room there"),
        (OSError(errno.EMFILE, ""), "Too many open files: allow more open files (ulimit -n)"),
        (FileNotFoundError(errno.ENOENT, "", "/gone/x"), "/gone is gone: somebody removed it"),
        (MemoryError(), "out of memory: give it more"),
        (RuntimeError("can't start new thread"), "allow more processes (ulimit -u)"),
        (ImportError("x.so: failed to map segment from shared object"), "Cannot allocate memory"),
        (MachineFault("too little"), "too little"),
    ],
)
def test_what_the_machine_did_is_told_in_a_line(error: Exception, line: str) -> None:
    code, said, _ = ended_by(error)
    assert code == 2
    assert said.startswith("pairsmith: ")
    assert line in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "error",
    [
        KeyError("x"),
        RuntimeError("odd"),
        OSError(errno.EINVAL, "Invalid argument"),
        FileNotFoundError(errno.ENOENT, "", str(SAMPLES / "no such file")),
        ImportError("No module named 'x'"),
    ],
)
def test_a_bug_of_ours_goes_on_as_it_is(error: Exception) -> None:
    assert machine.fault_line(error) is None
    _, said, raised = ended_by(error)
    assert raised is error
    assert not said


def test_room_and_limits_are_asked_for_before_a_child_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.require_room(tmp_path, 1)
    with pytest.raises(MachineFault, match="name another folder with TMPDIR"):
        machine.require_room(tmp_path, 1 << 60)
    with pytest.raises(MachineFault, match="somebody removed it"):
        machine.require_room(tmp_path / "gone", 1)
    monkeypatch.setattr(machine, "LEAST_OPEN_FILES", 1 << 40)
    with pytest.raises(MachineFault, match="open files and 1099511627776 are needed"):
        machine.require_limits()


def test_progress_moves_within_a_unit_and_ends_at_the_total() -> None:
    with progress_bar(100, False, "x") as bar:
        shown = _Counted(bar)
        for rows, wanted in ((48, 48), (48, 96), (48, 100)):
            shown.under_way(rows)
            assert bar.n == wanted
        shown(96, 3, True)
        shown(48, 0, True)
        assert (bar.n, shown.units, shown.made, shown.rejects) == (100, 2, 144, 3)
