"""Datasets go to a Hub on this machine and come back from it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import huggingface_hub.constants
import pytest
from huggingface_hub import DatasetCard, HfApi
from loopback_hub import Hub, RefusedError, Stored, serving

from synth.check.dataset import Report, check_dataset
from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.errors import RunError, SettingsError
from synth.publish.files import published_files
from synth.publish.upload import Published, _same_rows, publish
from synth.run.generate import generate
from synth.views.make import make_views

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
NAME = "smith/pairs"
N, GROWN, SHARD = 12, 18, 4


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A Hub that this process and its children take for the real one.

    Large files go by Git LFS, which the client speaks in Python. Tests of Xet, which is in a
    library with threads of its own, ask ``xet_hub`` and publish in another process.
    """
    with serving() as found:
        settings = {"HF_ENDPOINT": found.url, "HF_TOKEN": "hf_writer", "HF_HUB_DISABLE_XET": "1"}
        for name, value in {**settings, "HF_HOME": str(tmp_path / "home")}.items():
            monkeypatch.setenv(name, value)
        constants = huggingface_hub.constants
        monkeypatch.setattr(constants, "ENDPOINT", found.url)
        template = f"{found.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "home" / "token"))
        yield found


@pytest.fixture
def xet_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """The same for a client as it is when nobody set anything."""
    pytest.importorskip("hf_xet")
    monkeypatch.delenv("HF_HUB_DISABLE_XET")
    return hub


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset at text, in several shards."""
    out = tmp_path_factory.mktemp("made") / "data"
    generate(make_settings(verify="text"), N, out, shard_size=SHARD)
    return out


@pytest.fixture
def data(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "data"))


def manifest_of(out: Path) -> Manifest:
    found = read_manifest(out)
    assert found is not None
    return found


def another(folder: Path, rows: int) -> Path:
    """A dataset of another seed."""
    generate(make_settings(verify="text", seed=1), rows, folder / "other", shard_size=SHARD)
    return folder / "other"


def tree(hub: Hub, revision: str = "main") -> dict[str, bytes]:
    repo = hub.repos[NAME]
    return {path: file.data for path, file in repo.trees[repo.oid(revision)].items()}


def run(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "synth", "publish", str(out), NAME, "--quiet", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


LOAD = """
import json, sys
from datasets import get_dataset_config_names, load_dataset
found = {}
for name in get_dataset_config_names(sys.argv[1]):
    whole = load_dataset(sys.argv[1], name)
    streamed = load_dataset(sys.argv[1], name, streaming=True)
    found[name] = {split: list(whole[split]) for split in whole}
    assert {split: list(streamed[split]) for split in streamed} == found[name]
print(json.dumps(found))
"""


def load(name: str) -> dict:
    """Every configuration of a published dataset, as another process loads it by name."""
    command = [sys.executable, "-c", LOAD, name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_published_comes_back_row_for_row(hub: Hub, tmp_path: Path) -> None:
    out = Path(shutil.copytree(SAMPLES, tmp_path / "data"))
    make_views(out, ["sft", "adjoint"])
    (out / "train" / "notes.txt").write_text("mine")
    (out / "todo.json").write_text("{}")
    done = run(out)
    assert done.returncode == 0, done.stderr
    assert f"{hub.url}/datasets/{NAME}" in done.stdout
    found = load(NAME)
    assert set(found) == {"default", "sft", "adjoint"}
    stored: dict[str, list] = {}
    for split, row in stored_rows(out):
        stored.setdefault(split, []).append(row)
    assert found["default"] == stored
    names = set(tree(hub))
    assert not {"train/notes.txt", "todo.json"} & names
    assert {"README.md", "manifest.json", "images/builtins.png"} <= names
    title = hub.repos[NAME].titles[hub.repos[NAME].oid("main")]
    assert title == f"30 rows, fingerprint {manifest_of(out).fingerprint}"


def test_headers_go_along_with_their_licences(hub: Hub, data: Path) -> None:
    publish(data, NAME)
    names = set(tree(hub))
    assert "include/builtin.h" in names
    assert [name for name in names if name.startswith("include/licenses/")]


def test_the_card_passes_the_hubs_own_check(hub: Hub, data: Path) -> None:
    publish(data, NAME)
    DatasetCard(tree(hub)["README.md"].decode()).validate()
    assert ("POST", "/api/validate-yaml") in hub.log


def test_again_nothing_is_sent(hub: Hub, data: Path) -> None:
    first = publish(data, NAME)
    sent = len(hub.sent())
    second = publish(data, NAME)
    assert (second.sent, second.commit) == (0, first.commit)
    assert second.unchanged == first.sent
    assert len(hub.sent()) == sent


def test_after_growth_only_what_changed_is_sent(hub: Hub, data: Path) -> None:
    publish(data, NAME)
    before = tree(hub)
    hub.log.clear()
    generate(make_settings(verify="text"), GROWN, data, shard_size=SHARD)
    done = publish(data, NAME)
    after = tree(hub)
    changed = {name for name in after if before.get(name) != after[name]}
    assert done.sent == len(changed)
    assert done.unchanged == len(after) - len(changed) - 1  # less .gitattributes
    assert "train/shard-00000.parquet" not in changed
    assert len(hub.sent()) == len([n for n in changed if n.endswith((".parquet", ".png"))])
    loaded = load(NAME)["default"]
    assert sum(map(len, loaded.values())) == GROWN


def test_files_that_are_gone_are_removed_and_those_of_others_stay(hub: Hub, data: Path) -> None:
    make_views(data, ["sft"])
    publish(data, NAME)
    HfApi(endpoint=hub.url).upload_file(
        path_or_fileobj=b"by hand", path_in_repo="NOTES.md", repo_id=NAME, repo_type="dataset"
    )
    gone = [path for path in (data / "views").rglob("*") if path.is_file()]
    shutil.rmtree(data / "views")
    assert publish(data, NAME).removed == len(gone) > 3
    names = set(tree(hub))
    assert "NOTES.md" in names
    assert not [name for name in names if name.startswith("views/")]


def test_a_killed_upload_goes_on_where_it_was(hub: Hub, data: Path) -> None:
    command = [sys.executable, "-m", "synth", "publish", str(data), NAME, "--quiet"]
    running: list[subprocess.Popen[bytes]] = []

    def kill(count: int) -> None:
        if count >= 3:  # uploads run side by side, so that no call need see exactly three
            running[0].kill()
            raise RefusedError(503, "too late")

    hub.before_put = kill
    running.append(subprocess.Popen(command))
    assert running[0].wait() == -signal.SIGKILL
    hub.before_put = lambda _count: None
    arrived = set(hub.objects)
    assert len(arrived) >= 3
    assert "manifest.json" not in tree(hub)
    hub.log.clear()
    publish(data, NAME)
    assert not arrived & set(hub.sent())
    assert load(NAME)["default"]["train"]


def test_large_files_arrive_by_xet(xet_hub: Hub, data: Path) -> None:
    done = run(data)
    assert done.returncode == 0, done.stderr
    assert xet_hub.xorbs
    assert not [path for method, path in xet_hub.log if method == "PUT"]
    there = tree(xet_hub)
    del there[".gitattributes"]
    assert there == {name: (data / name).read_bytes() for name in there}
    assert {shard["path"] for shard in manifest_of(data).shards} <= set(there)
    xet_hub.log.clear()
    again = run(data)
    assert "0 files sent (0.0 MB)" in again.stdout
    assert not xet_hub.sent()


def test_an_upload_by_xet_that_breaks_off_says_so_and_goes_on(xet_hub: Hub, data: Path) -> None:
    def refuse(count: int) -> None:
        if count >= 1:
            raise RefusedError(403, "the disk of the Hub is full")

    xet_hub.before_put = refuse
    done = run(data)
    assert done.returncode == 1
    assert done.stderr.startswith("pairsmith: the upload broke off")
    assert done.stderr.strip().endswith("run the same command again to go on")
    assert len(done.stderr.strip().split("\n")) == 1
    assert "manifest.json" not in tree(xet_hub)
    arrived = set(xet_hub.xorbs)
    assert arrived
    xet_hub.before_put = lambda _count: None
    xet_hub.log.clear()
    assert run(data).returncode == 0
    assert "manifest.json" in tree(xet_hub)
    assert not arrived & set(xet_hub.sent())


def test_a_hub_without_xet_is_named_with_what_to_set(xet_hub: Hub, data: Path) -> None:
    xet_hub.speaks_xet = False
    done = run(data)
    assert done.returncode == 2
    assert done.stderr.startswith(f"pairsmith: {xet_hub.url} does not speak Xet")
    assert "set HF_HUB_DISABLE_XET=1 " in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_private_and_revision(hub: Hub, data: Path) -> None:
    publish(data, NAME, private=True, revision="v2")
    assert hub.repos[NAME].private
    assert "manifest.json" in tree(hub, "v2")
    assert "manifest.json" not in tree(hub)


def test_what_does_not_validate_is_not_published(hub: Hub, data: Path) -> None:
    shard = data / "train" / "shard-00000.parquet"
    shard.write_bytes(shard.read_bytes().replace(b"PAR1", b"PAR2"))
    with pytest.raises(SettingsError):
        publish(data, NAME)
    shutil.copy(data / "train" / "shard-00001.parquet", shard)
    with pytest.raises(SettingsError, match=r"does not pass .* sha256 of the manifest"):
        publish(data, NAME)
    assert not hub.repos


def test_views_of_other_rows_are_not_published(hub: Hub, data: Path) -> None:
    make_views(data, ["sft"])
    generate(make_settings(verify="text"), GROWN, data, shard_size=SHARD)
    with pytest.raises(SettingsError, match=r"run `pairsmith training-views .*` again"):
        publish(data, NAME)
    assert not hub.repos


def other_content(hub: Hub) -> None:
    api = HfApi(endpoint=hub.url)
    api.create_repo(NAME, repo_type="dataset")
    api.upload_file(
        path_or_fileobj=b"1,2\n", path_in_repo="mine.csv", repo_id=NAME, repo_type="dataset"
    )


def test_a_repository_with_other_content_is_left_alone(hub: Hub, data: Path) -> None:
    other_content(hub)
    with pytest.raises(SettingsError, match=r"holds something else \(mine.csv"):
        publish(data, NAME)
    assert set(tree(hub)) == {".gitattributes", "mine.csv"}
    publish(data, NAME, replace=True)
    assert {"mine.csv", "manifest.json"} <= set(tree(hub))


def test_another_dataset_takes_its_place_only_when_asked(
    hub: Hub, data: Path, tmp_path: Path
) -> None:
    publish(data, NAME)
    other = another(tmp_path, 6)
    with pytest.raises(SettingsError, match="other settings, versions or sources"):
        publish(other, NAME)
    publish(other, NAME, replace=True)
    assert sum(map(len, load(NAME)["default"].values())) == 6


def test_a_new_branch_is_compared_with_where_it_begins(
    hub: Hub, data: Path, tmp_path: Path
) -> None:
    publish(data, NAME)
    other = another(tmp_path, 6)
    with pytest.raises(SettingsError, match="other settings, versions or sources"):
        publish(other, NAME, revision="v2")
    assert "v2" not in hub.repos[NAME].branches
    publish(other, NAME, revision="v2", replace=True)
    shards = [name for name in tree(hub, "v2") if "/shard-" in name]
    assert sorted(shards) == sorted(shard["path"] for shard in manifest_of(other).shards)


def test_taking_a_place_leaves_files_of_others(hub: Hub, data: Path) -> None:
    api = HfApi(endpoint=hub.url)
    api.create_repo(NAME, repo_type="dataset")
    theirs = {"data.csv", "images/logo.png", "test/test_me.py", "train/rows.csv", "include/my.h"}
    for name in theirs:
        api.upload_file(path_or_fileobj=b"1", path_in_repo=name, repo_id=NAME, repo_type="dataset")
    assert publish(data, NAME, replace=True).removed == 0
    assert publish(data, NAME).removed == 0
    assert theirs <= set(tree(hub))


def test_a_raised_dataset_takes_the_place_of_the_lower_one(hub: Hub, tmp_path: Path) -> None:
    out = tmp_path / "data"
    generate(make_settings(verify="text"), 6, out)
    publish(out, NAME)
    lower = Path(shutil.copytree(out, tmp_path / "lower"))
    generate(make_settings(verify="compile"), 6, out)
    publish(out, NAME)
    with pytest.raises(SettingsError, match="other settings, versions or sources"):
        publish(lower, NAME)


def test_harvests_are_told_apart_by_their_rows(data: Path) -> None:
    first = manifest_of(data)
    shape = {name: first.shape[name] for name in first.shape if name != "structure_cap"}
    harvest = replace(first, shape=shape)
    other = replace(harvest, shards=[{**harvest.shards[0], "sha256": "0" * 64}])
    assert _same_rows(harvest, harvest)
    assert not _same_rows(harvest, other)


def test_a_public_repository_does_not_turn_private_in_silence(hub: Hub, data: Path) -> None:
    publish(data, NAME)
    with pytest.raises(SettingsError, match="there already and public"):
        publish(data, NAME, private=True)


def test_an_upload_in_several_commits_goes_on(
    hub: Hub, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synth.publish.hub.FILES_A_COMMIT", 40)
    commit = HfApi.create_commit
    made: list[str] = []

    def fails_later(self: HfApi, *args: object, **more: object) -> object:
        made.append(str(more["commit_message"]))
        if len(made) == 2:
            raise RuntimeError("the line was cut")
        return commit(self, *args, **more)

    monkeypatch.setattr(HfApi, "create_commit", fails_later)
    with pytest.raises(RunError, match="the line was cut"):
        publish(data, NAME)
    assert "manifest.json" in tree(hub)
    assert "README.md" not in tree(hub)
    publish(data, NAME)
    assert sum(map(len, load(NAME)["default"].values())) == N


def test_a_damaged_view_is_named(hub: Hub, data: Path) -> None:
    make_views(data, ["sft"])
    file = next((data / "views" / "sft").iterdir())
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + bytes(60) + whole[160:])
    with pytest.raises(SettingsError, match=rf"{file.name} is missing or damaged: run `pairsmith"):
        publish(data, NAME)
    file.unlink()
    with pytest.raises(SettingsError, match="is missing or damaged"):
        publish(data, NAME)
    make_views(data, ["sft"])
    publish(data, NAME)


def test_headers_that_went_are_copied_anew(hub: Hub, data: Path) -> None:
    shutil.rmtree(data / "include")
    publish(data, NAME)
    assert "include/builtin.h" in tree(hub)


def test_fewer_rows_do_not_take_the_place_of_more(hub: Hub, data: Path, tmp_path: Path) -> None:
    fewer = Path(shutil.copytree(data, tmp_path / "fewer"))
    generate(make_settings(verify="text"), GROWN, data, shard_size=SHARD)
    publish(data, NAME)
    with pytest.raises(SettingsError, match=f"holds {GROWN} rows of this dataset, {N} are here"):
        publish(fewer, NAME)


@pytest.mark.parametrize(
    ("token", "name", "said"),
    [
        ("hf_nobody", NAME, "does not know this token"),
        ("hf_reader", NAME, "may not write to smith/pairs"),
        ("hf_writer", "jones/pairs", "may not write to jones/pairs"),
        ("hf_writer", "no user", "is no name of a repository"),
        ("hf_writer", "pairs", "names no user"),
        ("", NAME, "no token for the Hub"),
        ("hf_wr\u00edter", NAME, "characters that no token has"),
    ],
)
def test_a_request_that_the_hub_refuses_gets_one_line(
    hub: Hub, data: Path, token: str, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(SettingsError, match=said) as caught:
        publish(data, name)
    assert "\n" not in str(caught.value)
    assert not hub.objects


def test_without_a_network_there_is_one_line(data: Path, hub: Hub) -> None:
    environment = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"}
    command = [sys.executable, "-m", "synth", "publish", str(data), NAME, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1
    assert done.stderr.startswith("pairsmith: cannot reach http://127.0.0.1:9")
    assert len(done.stderr.strip().split("\n")) == 1


class LogInPage(BaseHTTPRequestHandler):
    """What a network answers that wants to be paid first."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")

    def log_message(self, *_args: object) -> None:
        pass


def test_an_answer_that_is_no_hubs_gets_one_line(
    hub: Hub, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), LogInPage) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", url)
        with pytest.raises(RunError, match="does not answer as a Hub does"):
            publish(data, NAME)
        server.shutdown()
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://[bad")
    with pytest.raises(RunError, match="look at the network"):
        publish(data, NAME)


@pytest.mark.parametrize(("status", "error"), [(500, RunError), (403, SettingsError)])
def test_a_manifest_that_the_hub_does_not_give_gets_one_line(
    hub: Hub, data: Path, status: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(data, NAME)
    monkeypatch.setattr("time.sleep", lambda _seconds: None)

    def refuse(*_args: object) -> None:
        raise RefusedError(status, "not now")

    monkeypatch.setattr(Hub, "before_resolve", refuse)
    with pytest.raises(error) as caught:
        publish(data, NAME)
    assert "\n" not in str(caught.value)


def test_a_commit_is_no_branch(hub: Hub, data: Path) -> None:
    with pytest.raises(SettingsError, match="name a branch"):
        publish(data, NAME, revision="0" * 40)


@pytest.mark.parametrize(("status", "error"), [(503, RunError), (403, SettingsError)])
def test_an_upload_that_breaks_off_says_so_and_goes_on(
    hub: Hub, data: Path, status: int, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda _seconds: None)  # the client waits between its tries

    def refuse(count: int) -> None:
        if count >= 2:
            raise RefusedError(status, "the disk of the Hub is full")

    hub.before_put = refuse
    with pytest.raises(error) as caught:
        publish(data, NAME)
    assert "\n" not in str(caught.value)
    assert len(hub.objects) >= 2
    hub.before_put = lambda _count: None
    arrived = set(hub.objects)
    hub.log.clear()
    publish(data, NAME)
    assert not arrived & set(hub.sent())


def test_a_commit_on_an_old_state_is_refused(
    hub: Hub, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(data, NAME)
    generate(make_settings(verify="text"), GROWN, data, shard_size=SHARD)
    repo = hub.repos[NAME]

    def meanwhile(_count: int) -> None:
        repo.commit("main", dict(repo.trees[repo.branches["main"]]), "somebody else")

    hub.before_put = meanwhile
    with pytest.raises(RunError, match="changed by somebody else"):
        publish(data, NAME)
    hub.before_put = lambda _count: None
    assert isinstance(publish(data, NAME), Published)


def test_what_comes_in_while_rows_are_checked_is_noticed(
    hub: Hub, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(data, NAME)
    generate(make_settings(verify="text"), GROWN, data, shard_size=SHARD)
    repo = hub.repos[NAME]

    def meanwhile(out: Path, *more: object) -> Report:
        repo.commit("main", {**repo.trees[repo.branches["main"]], "a": Stored(b"", False)}, "a")
        return check_dataset(out, *more)

    monkeypatch.setattr("synth.publish.upload.check_dataset", meanwhile)
    with pytest.raises(RunError, match="changed by somebody else"):
        publish(data, NAME)


def test_files_that_readers_of_the_hub_do_not_take_are_named(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = manifest_of(data)
    assert published_files(data, manifest, [])
    monkeypatch.setattr("synth.publish.files.MOST_ROW_GROUP_BYTES", 1000)
    with pytest.raises(SettingsError, match="row group of"):
        published_files(data, manifest, [])
    monkeypatch.setattr("synth.publish.files.MOST_FILE_BYTES", 1000)
    with pytest.raises(SettingsError, match="smaller --shard-size"):
        published_files(data, replace(manifest, shards=[]), [])
