"""Publish a dataset to a Hub on this machine, kill it midway, load it back, and let it grow.

Run: python scripts/audit/publish.py OUT MORE [--kill-at N]. OUT is a dataset and MORE a copy of it
that has grown. Prints what was sent when, and compares every row of every configuration, loaded by
name, streaming and not, with the files of OUT; exit code 1 when something differs.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow.parquet as pq
from loopback_hub import Hub, RefusedError, serving

from synth.dataset.manifest import SPLITS

ROOT = Path(__file__).resolve().parents[2]
NAME = "smith/pairs"
COMPARE = """
import sys
sys.path[:0] = [sys.argv[1]]
from publish import compare
sys.exit(compare(sys.argv[2], sys.argv[3]))
"""


def local_rows(out: Path, config: str, split: str) -> Iterator[dict[str, Any]]:
    """Rows of the files of a configuration, in order."""
    pattern = f"{split}/shard-*.parquet" if config == "default" else f"views/{config}/{split}-*"
    for path in sorted(out.glob(pattern)):
        for batch in pq.ParquetFile(path).iter_batches(256):
            yield from batch.to_pylist()


def compare(name: str, folder: str) -> int:
    """Load every configuration from the Hub and compare; gives how many splits differ."""
    from datasets import get_dataset_config_names, load_dataset

    bad = 0
    for config in get_dataset_config_names(name):
        for streaming in (False, True):
            began_s, rows, wrong = time.monotonic(), 0, 0
            loaded = load_dataset(name, config, streaming=streaming)
            for split in SPLITS:
                for ours, theirs in zip(
                    local_rows(Path(folder), config, split), loaded[split], strict=True
                ):
                    rows += 1
                    wrong += ours != theirs
            took_s = time.monotonic() - began_s
            how = "streamed" if streaming else "loaded"
            print(f"{config}: {rows} rows {how}, {wrong} differ ({took_s:.0f} s)", flush=True)
            bad += wrong
    return int(bad > 0)


def publish(out: Path, hub: Hub, home: str, kill_at: int | None = None) -> None:
    """Publish by the command; killed by SIGKILL when so many files have arrived."""
    environment = os.environ | {
        "HF_ENDPOINT": hub.url,
        "HF_TOKEN": "hf_writer",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HOME": home,
    }
    command = [sys.executable, "-m", "synth", "publish", str(out), NAME, "--quiet"]
    running: list[subprocess.Popen[bytes]] = []

    def before_put(count: int) -> None:
        if kill_at is not None and count >= kill_at:
            os.kill(running[0].pid, signal.SIGKILL)
            raise RefusedError(503, "too late")

    hub.log.clear()
    hub.before_put = before_put
    began_s = time.monotonic()
    running.append(subprocess.Popen(command, cwd=ROOT, env=environment))
    code = running[0].wait()
    sizes = [len(hub.objects[sha]) for sha in hub.sent() if sha in hub.objects]
    took_s = time.monotonic() - began_s
    print(f"{out.name}: exit code {code}, {len(sizes)} large files arrived, ", end="")
    print(f"{sum(sizes) / 1e6:.1f} MB, {took_s:.0f} s", flush=True)


def published(hub: Hub) -> dict[str, str]:
    """The sha256 of each file that is there."""
    repo = hub.repos[NAME]
    return {path: file.sha256 for path, file in repo.trees[repo.oid("main")].items()}


def main() -> int:
    """Publish, kill, resume, load, grow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("more", type=Path)
    parser.add_argument("--kill-at", type=int, default=10)
    asked = parser.parse_args()
    with serving() as hub, tempfile.TemporaryDirectory() as home:
        publish(asked.out, hub, home, asked.kill_at)
        arrived = set(hub.objects)
        publish(asked.out, hub, home)
        print(f"sent again of {len(arrived)} that had arrived: {len(arrived & set(hub.sent()))}")
        environment = os.environ | {"HF_ENDPOINT": hub.url, "HF_HOME": home}
        command = [sys.executable, "-c", COMPARE, str(Path(__file__).parent), NAME, str(asked.out)]
        code = subprocess.run(command, env=environment, check=False).returncode
        before = {
            p: f.sha256 for p, f in hub.repos[NAME].trees[hub.repos[NAME].oid("main")].items()
        }
        publish(asked.more, hub, home)
        after = published(hub)
        changed = sorted(path for path in after if before.get(path) != after[path])
        print(f"files that changed: {len(changed)} of {len(after)}: {', '.join(changed)}")
        kept = {before[path] for path in after if before.get(path) == after[path]}
        again = len(kept & set(hub.sent()))
        print(f"unchanged files that were sent again: {again}")
    return int(code != 0 or again > 0)


if __name__ == "__main__":
    sys.exit(main())
