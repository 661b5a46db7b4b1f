"""Kill runs at random instants, resume them, and compare the bytes with an undisturbed run.

Run: PYTHONPATH=.:tests/support python scripts/audit/kill_at_random.py [-n 5000] [--kills 30]
[--workers 2] [--verify text]. In turn SIGKILL goes to a worker, to the parent, and to the whole
process group. Exit code 1 when a dataset differs.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kills import contents, worker_processes

VICTIMS = ("worker", "parent", "group")


def _start(out: Path, options: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "synth", "generate", "-o", str(out), "--quiet", *options]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def _kill(process: subprocess.Popen[bytes], victim: str, choice: random.Random) -> str:
    """What was hit; nothing when the run had ended or had no worker."""
    if process.poll() is not None:
        return "nothing: it had ended"
    if victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "parent":
        process.kill()
    else:
        workers = worker_processes(process.pid)
        if not workers:
            process.kill()
            return "the parent, for want of a worker"
        os.kill(choice.choice(workers), signal.SIGKILL)
    return f"the {victim}"


def main(options: list[str], kills: int) -> int:
    choice, folder = random.Random(0), Path(tempfile.mkdtemp(prefix="pairsmith-kills-"))
    straight, out = folder / "straight", folder / "out"
    began = time.monotonic()
    if _start(straight, options).wait():
        raise SystemExit("the undisturbed run failed")
    whole_s, wanted, differ = time.monotonic() - began, contents(straight), 0
    print(f"undisturbed: {whole_s:.1f} s", flush=True)
    for number in range(kills):
        instant_s = choice.uniform(0.5, whole_s)
        process = _start(out, options)
        time.sleep(instant_s)
        hit = _kill(process, VICTIMS[number % len(VICTIMS)], choice)
        process.wait()
        done = len(list((out / "work").glob("*.*.parquet")))
        code = _start(out, options).wait()
        same = code == 0 and contents(out) == wanted
        differ += not same
        print(
            f"{number + 1}: after {instant_s:.1f} s {hit}, {done} tasks kept, "
            f"{'same bytes' if same else f'DIFFERS (exit code {code})'}",
            flush=True,
        )
        shutil.rmtree(out)
    shutil.rmtree(folder)
    print(f"{kills - differ} of {kills} have the bytes of the undisturbed run")
    return 1 if differ else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", default="5000")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--workers", default="2")
    parser.add_argument("--verify", default="text")
    asked = parser.parse_args()
    given = ["-n", asked.n, "--workers", asked.workers, "--verify", asked.verify]
    sys.exit(main(given, asked.kills))
