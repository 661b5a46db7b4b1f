"""Nothing is lost: kills at every write, damaged files, growing, mending, parts, full disks."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from crowded import crowded
from drawn_once import DrawnOnce
from kills import contents, killed_at, shards, worker_processes, worth_killing_at

from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.errors import RunError, SettingsError
from synth.run import generate as run
from synth.run.limits import Part

ROOT = Path(__file__).resolve().parents[3]
N, SHARD = 30, 9


def make(
    out: Path,
    n: int = N,
    *,
    shard_size: int = SHARD,
    seen: list[int] | None = None,
    **options: Any,
) -> Manifest:
    """A dataset at ``text``; ``seen`` collects the rows of its units."""
    settings = make_settings(**{"verify": "text", **crowded(N), **options})
    watch = seen if seen is not None else []
    return run.generate(
        settings, n, out, shard_size=shard_size, progress=lambda rows, _r, _f: watch.append(rows)
    )


@pytest.fixture(scope="module", autouse=True)
def rows_drawn_once() -> Iterator[None]:
    with DrawnOnce().at_work():
        yield


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("survive") / "out"
    assert make(out).draws["displaced"]
    return out


def _killed_at_each(out: Path, work: Callable[[], object], step: int = 1) -> Iterator[str]:
    """The folder as a kill at each failpoint that leaves it otherwise, or each so many of them,
    leaves it, from the same start each time."""
    before = out.with_name("start")
    shutil.copytree(out, before)
    for number in worth_killing_at(work, out)[::step]:
        shutil.rmtree(out)
        shutil.copytree(before, out)
        assert killed_at(number, work)
        yield f"failpoint {number}"


def _refusal(out: Path, n: int, **options: Any) -> str:
    """Why a request was refused; an empty string when it was met."""
    try:
        make(out, n, **options)
    except SettingsError as error:
        return str(error)
    return ""


def _sound(out: Path) -> int:
    """The number of rows that a reader of the shards finds, none twice."""
    ids = [row["id"] for _, row in stored_rows(out, ["id"])]
    assert len(ids) == len(set(ids))
    return len(ids)


def test_a_run_that_is_killed_at_any_write_goes_on_to_the_same_bytes(
    straight: Path, tmp_path: Path
) -> None:
    out, count = tmp_path / "out", 0
    out.mkdir()
    for place in _killed_at_each(out, lambda: make(out)):
        manifest = read_manifest(out)
        assert manifest is None or shards(out) == shards(straight)
        make(out)
        assert contents(out) == contents(straight), place
        count += 1
    assert count > 20


def test_growing_that_is_killed_at_any_write_goes_on_and_serves_nothing_wrong(
    straight: Path, tmp_path: Path
) -> None:
    out, count = tmp_path / "out", 0
    make(out, 14)
    for place in _killed_at_each(out, lambda: make(out)):
        assert _sound(out) >= 14
        make(out)
        assert contents(out) == contents(straight), place
        count += 1
    assert count > 20


def test_another_shard_size_serves_every_row_once_at_any_kill(
    straight: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(straight, out)
    for place in _killed_at_each(out, lambda: make(out, shard_size=7)):
        assert _sound(out) == N, place
        make(out)
        assert contents(out) == contents(straight), place


def test_after_a_kill_another_request_loses_no_row(straight: Path, tmp_path: Path) -> None:
    """Asked for fewer rows, or as many as before, while a growth is under way."""
    out = tmp_path / "out"
    make(out, 14)
    for place in _killed_at_each(out, lambda: make(out), step=3):
        rows = _sound(out)
        for n in (14, 20):
            said = _refusal(out, n)
            assert not said or "would delete some" in said or "unfinished run" in said, place
        assert _sound(out) >= rows
        make(out)
        assert contents(out) == contents(straight), place


def test_after_a_kill_a_raise_is_refused_or_right(tmp_path: Path) -> None:
    out, n = tmp_path / "out", 3
    out.mkdir()
    make(tmp_path / "straight", n, verify="compile")
    for place in _killed_at_each(out, lambda: make(out, n), step=2):
        if said := _refusal(out, n, verify="compile"):
            assert "verify is 'text' there" in said, place
            make(out, n)
            make(out, n, verify="compile")
        assert shards(out) == shards(tmp_path / "straight"), place


def test_growing_and_mending_at_once_gives_the_bytes_of_one_run(
    straight: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    make(out, 29)
    (out / next(iter(shards(out)))).unlink()
    make(out)
    assert contents(out) == contents(straight)


def test_a_part_of_another_plan_is_refused(tmp_path: Path) -> None:
    settings, out = make_settings(verify="text", **crowded(N)), tmp_path / "out"
    run.generate_part(settings, N, out, Part(1, 2), shard_size=SHARD)
    for n, size in ((8, SHARD), (2 * N, SHARD), (N, SHARD + 1)):
        with pytest.raises(SettingsError, match=r"unfinished run|other parts"):
            run.generate_part(settings, n, out, Part(2, 2), shard_size=size)
    run.generate_part(settings, N, out, Part(2, 2), shard_size=SHARD)
    assert run.finish(out).rows == N


def test_a_dataset_that_grows_keeps_its_full_shards(straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = make(out, 20)
    full = [shard["path"] for shard in first.shards if shard["rows"] == SHARD]
    assert full
    times = {name: (out / name).stat().st_mtime_ns for name in full}
    made: list[int] = []
    settings = make_settings(verify="text", **crowded(N))
    run.generate(
        settings, N, out, shard_size=SHARD, progress=lambda rows, _r, _f: made.append(rows)
    )
    assert contents(out) == contents(straight)
    assert {name: (out / name).stat().st_mtime_ns for name in full} == times
    assert sum(made) <= N - 20 + 8


def test_another_shard_size_draws_nothing_again(straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    make(out, shard_size=7)
    made: list[int] = []
    settings = make_settings(verify="text", **crowded(N))
    run.generate(
        settings, N, out, shard_size=SHARD, progress=lambda rows, _r, _f: made.append(rows)
    )
    assert made == []
    assert contents(out) == contents(straight)


@pytest.mark.parametrize("how", ["missing", "cut", "altered"])
@pytest.mark.parametrize("which", [0, 1, -1])
def test_a_shard_that_is_not_whole_is_made_again_and_no_other(
    straight: Path, tmp_path: Path, how: str, which: int
) -> None:
    out = tmp_path / "out"
    shutil.copytree(straight, out)
    names = list(shards(out))
    bad = out / names[which]
    data = bad.read_bytes()
    if how == "missing":
        bad.unlink()
    elif how == "cut":
        bad.write_bytes(data[: len(data) // 2])
    else:
        bad.write_bytes(data[:1000] + bytes([data[1000] ^ 1]) + data[1001:])
    times = {name: (out / name).stat().st_mtime_ns for name in names if out / name != bad}
    make(out)
    assert contents(out) == contents(straight)
    assert {name: (out / name).stat().st_mtime_ns for name in times} == times


def test_all_shards_gone_are_made_again(straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(straight, out)
    for name in shards(out):
        (out / name).unlink()
    make(out)
    assert contents(out) == contents(straight)


def test_a_manifest_that_is_gone_or_damaged_is_named(straight: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(straight, out)
    (out / "manifest.json").write_text('{"rows": 90')
    with pytest.raises(SettingsError, match=r"manifest\.json is damaged"):
        make(out)
    (out / "manifest.json").unlink()
    with pytest.raises(SettingsError, match="holds no dataset"):
        make(out)
    assert shards(out) == shards(straight)


def test_parts_in_any_order_give_the_bytes_of_one_run(straight: Path, tmp_path: Path) -> None:
    out, settings = tmp_path / "out", make_settings(verify="text", **crowded(N))
    left = [
        run.generate_part(settings, N, out, Part(number, 3), shard_size=SHARD)
        for number in (2, 3, 1)
    ]
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0
    assert read_manifest(out) is None
    run.finish(out)
    assert contents(out) == contents(straight)


def test_parts_that_start_together_share_the_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "synth", "generate", "-n", "96", "-o", str(out), "--quiet"]
    options = ["--verify", "text", "--part"]
    parts = [
        subprocess.Popen([*command, *options, f"{k}/3"], cwd=ROOT, stderr=subprocess.PIPE)
        for k in (1, 2, 3)
    ]
    for part in parts:
        _, errors = part.communicate(timeout=600)
        assert part.returncode == 0, errors
    assert run.finish(out).rows == 96


def test_finish_says_which_parts_are_missing(tmp_path: Path) -> None:
    settings = make_settings(verify="text", **crowded(N))
    run.generate_part(settings, N, tmp_path / "out", Part(1, 3), shard_size=SHARD)
    with pytest.raises(SettingsError, match="units are not made yet"):
        run.finish(tmp_path / "out")
    with pytest.raises(SettingsError, match="part 4/3 does not exist"):
        run.generate_part(settings, N, tmp_path / "out", Part(4, 3))


def test_two_runs_do_not_meet_in_one_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "synth", "generate", "-n", "1200", "-o", str(tmp_path / "out")]
    options = ["--verify", "text", "--quiet"]
    process = subprocess.Popen([*command, *options], cwd=ROOT, start_new_session=True)
    try:
        deadline_s = time.monotonic() + 600
        while not list((tmp_path / "out" / "work").glob("unit-*")):
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        with pytest.raises(SettingsError, match="another run is at work"):
            make(tmp_path / "out", 1200, categories_asked=(), levels_asked=(), seed=0)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


SIX_UNITS: dict[str, Any] = {"verify": "text", "categories_asked": ("math", "matrix")}


@pytest.fixture(scope="module")
def six_units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("six") / "out"
    run.generate(make_settings(**SIX_UNITS), 96, out)
    return out


@pytest.mark.parametrize("victim", ["worker", "parent", "group"])
def test_a_killed_process_costs_no_finished_unit(
    six_units: Path, tmp_path: Path, victim: str
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "synth", "generate", "-n", "96", "--verify", "text"]
    options = ["--category", "math", "--category", "matrix", "--workers", "2", "--quiet", "-o"]
    process = subprocess.Popen(
        [*command, *options, str(out)],
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline_s = time.monotonic() + 600
    while not list((out / "work").glob("unit-*")):
        assert process.poll() is None
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    kept = {path.name for path in (out / "work").glob("unit-*")}
    if victim == "group":
        os.killpg(process.pid, signal.SIGKILL)
    elif victim == "parent":
        process.kill()
    else:
        os.kill(worker_processes(process.pid)[0], signal.SIGKILL)
    _, errors = process.communicate(timeout=600)
    if victim == "worker":
        assert process.returncode == 1
        assert errors.count("\n") == 1
        assert "a worker process died" in errors
    assert kept <= {path.name for path in (out / "work").glob("unit-*")}
    run.generate(make_settings(**SIX_UNITS), 96, out)
    assert contents(out) == contents(six_units)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A disk of 1 MB, or none where this user may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(
    straight: Path, small_disk: Path
) -> None:
    out = small_disk / "out"
    with pytest.raises(RunError, match=r"No space left on device.*finished units are kept"):
        make(out)
    kept = sorted(path.name for path in (out / "work").glob("*.*.parquet"))
    assert kept
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    make(out)
    assert contents(out) == contents(straight)
