"""Modules that misbehave: what they start ends with them, and the others are harvested."""

from __future__ import annotations

import os
import time
from pathlib import Path
from textwrap import dedent

import pytest

from synth.harvest.places import module_of
from synth.harvest.process import Harvest, Terms, harvest_files

KERNEL = """
import warp as wp

@wp.kernel
def fill(values: wp.array(dtype=int)):
    values[wp.tid()] = 1
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text).lstrip())
    return path


def harvested(path: Path, *, run: bool = False, timeout_s: float = 60) -> Harvest:
    terms = Terms(path.parent, run, timeout_s)
    (found,) = harvest_files([module_of(path)], terms)
    return found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise ValueError('no luck at /home/me/file.txt')", "ValueError: no luck at file.txt"),
        ("import sys\nsys.exit(3)", "it called sys.exit(3)"),
        ("import os\nos._exit(7)", "its process ended with exit code 7"),
        ("import os\nos.kill(os.getpid(), 11)", "its process ended with SIGSEGV"),
        ("def broken(:", "SyntaxError: invalid syntax"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("import os\nos.closerange(3, 65536)", "it closed the descriptors of its process"),
        (
            "import os\nfor n in range(3, 4096):\n  try:\n    os.write(n, b'hello')\n"
            "  except OSError:\n    pass",
            "it wrote to descriptors that are not its own",
        ),
        ("import os\nos.killpg(0, 9)", "its process ended with SIGKILL"),
    ],
)
def test_modules_that_fail(tmp_path: Path, text: str, reason: str) -> None:
    found = harvested(write(tmp_path / "failing.py", text + "\n"))
    assert found.failed.startswith(reason)


def test_a_module_that_never_ends_is_killed(tmp_path: Path) -> None:
    path = write(tmp_path / "endless.py", "while True:\n    pass\n")
    assert harvested(path, timeout_s=3).failed == "no sign of life for 3 s"


def test_a_module_that_prints_much_and_lies_about_kernels(tmp_path: Path) -> None:
    text = """
        import sys
        import warp as wp
        print("x" * 10_000_000)
        sys.stderr.write("y" * 10_000_000)

        @wp.kernel
        def endless(values: wp.array(dtype=int)):
            while values[0] >= 0:
                values[1] = values[1] + 1

        @wp.kernel
        def far_away(values: wp.array(dtype=int)):
            values[1000000000] = 1
        """
    found = harvested(write(tmp_path / "loud.py", text), run=True, timeout_s=240)
    assert found.failed == ""
    reasons = {a["row"]["kernel_name"]: a["no_run"] for a in found.answers}
    assert "without end" in reasons["endless"]
    assert reasons["far_away"].startswith(("run: crashed", "run: wrote_out_of_bounds"))


SPAWNERS = {
    "a fork that returns from the import": "import os\nos.fork()\n",
    "a fork that goes on for ever": "import os, time\nif not os.fork():\n    time.sleep(600)\n",
    "a program in a session of its own": (
        "import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    ),
    "a daemon that has lost its parent": (
        "import os, time\n"
        "if not os.fork():\n"
        "    os.setsid()\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    time.sleep(600)\n"
    ),
    "a daemon that is left when the module ends its process": (
        "import subprocess, os\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "os._exit(5)\n"
    ),
}


@pytest.mark.parametrize("spawner", SPAWNERS)
def test_what_a_module_starts_ends_with_it(
    tmp_path: Path, spawner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = f"harvest-{os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv("PAIRSMITH_TEST_MARK", mark)
    found = harvested(write(tmp_path / "spawner.py", SPAWNERS[spawner] + KERNEL))
    monkeypatch.delenv("PAIRSMITH_TEST_MARK")
    assert _alive(mark) == []
    if "os._exit(5)" in SPAWNERS[spawner]:
        assert found.failed == "its process ended with exit code 5"
    else:
        assert (found.failed, [name for name, _ in found.kernels]) == ("", ["fill"])
        assert len(found.answers) == 1


def _alive(mark: str) -> list[str]:
    """Programs that were started with the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
        except OSError:  # it has ended, or is another user's
            continue
    return found


def test_a_module_that_ends_its_process_does_not_take_its_package_along(tmp_path: Path) -> None:
    write(tmp_path / "pack" / "__init__.py", "")
    first = write(tmp_path / "pack" / "a.py", KERNEL)
    bad = write(tmp_path / "pack" / "b.py", "import os\nos.abort()\n")
    last = write(tmp_path / "pack" / "c.py", KERNEL)
    files = [module_of(path) for path in (first, bad, last)]
    found = harvest_files(files, Terms(tmp_path, run=False, timeout_s=600))
    assert [h.failed for h in found] == ["", "its process ended with SIGABRT", ""]
    assert [len(h.answers) for h in found] == [1, 0, 1]
