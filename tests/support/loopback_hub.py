"""A Hub on this machine: the calls that `huggingface_hub` and `datasets` make of the real one.

    python tests/support/loopback_hub.py [--port 8000]

Repositories with revisions, small files in commits, large ones by Xet (the client's way) or by Git
LFS (with HF_HUB_DISABLE_XET=1), listings, and files by range. It forgets everything when it ends.
It refuses what the real one refuses: unknown tokens, namespaces that are not the token's, contents
that are not what was announced, commits on an old parent, cards whose YAML is wrong. Unlike the
real one it knows no chunk that another client sent, and gives files by HTTP alone.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from loopback_xet import chunks_of, files_of

TOKENS = {"hf_writer": "smith", "hf_other": "jones"}
"""Tokens and whose they are; each may write to its own namespace."""

READER = "hf_reader"
"""A token of smith that may only read."""

_XET_TOKEN = "xet_of_"
"""Begins the token for chunks; a token of the Hub's user follows."""

_XET_LIFETIME_S = 3600

PAGE = 50
_LARGE = 1 << 20
_LFS_SUFFIXES = (".parquet", ".png")


class RefusedError(Exception):
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status, self.code = status, code


@dataclass
class Stored:
    """One file of a revision."""

    data: bytes
    lfs: bool

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def git_oid(self) -> str:
        data = self.data
        if self.lfs:
            size = len(self.data)
            pointer = "version https://git-lfs.github.com/spec/v1"
            data = f"{pointer}\noid sha256:{self.sha256}\nsize {size}\n".encode()
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass
class Repo:
    private: bool
    branches: dict[str, str] = field(default_factory=dict)
    trees: dict[str, dict[str, Stored]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def commit(self, branch: str, tree: dict[str, Stored], title: str) -> str:
        listing = sorted((path, file.git_oid) for path, file in tree.items())
        text = json.dumps([self.branches.get(branch), title, listing])
        oid = hashlib.sha1(text.encode()).hexdigest()
        self.trees[oid], self.titles[oid], self.branches[branch] = tree, title, oid
        return oid

    def oid(self, revision: str) -> str:
        oid = self.branches.get(revision, revision)
        if oid not in self.trees:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return oid


@dataclass
class Hub:
    """What the server knows, and what it was asked (`log`: method and path)."""

    repos: dict[str, Repo] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    xorbs: dict[str, list[bytes]] = field(default_factory=dict)
    speaks_xet: bool = True
    log: list[tuple[str, str]] = field(default_factory=list)
    before_put: Callable[[int], None] = lambda _count: None
    """Called before a large file, or a xorb of chunks, is taken, with the number of those taken so
    far; may raise."""
    puts: int = 0
    url: str = ""

    def before_resolve(self) -> None:
        """Called before a file is given; tests put something that raises here."""

    def sent(self) -> list[str]:
        """The sha256 of each large file, or the hash of each xorb, that was sent, in order."""
        return [
            path.rpartition("/")[2]
            for method, path in self.log
            if method == "PUT" or path.startswith("/v1/xorbs/")
        ]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_args: Any) -> None:
        pass

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        self.query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        self.hub.log.append((self.command, parts.path))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            for method, pattern, action in _ROUTES:
                match = re.fullmatch(pattern, parts.path)
                if match and self.command == method:
                    action(self, body, *map(unquote, match.groups()))
                    return
            raise RefusedError(404, f"no such call: {self.command} {parts.path}")
        except RefusedError as refused:
            heads = {"X-Error-Code": refused.code, "X-Error-Message": str(refused)}
            self._json({"error": str(refused)}, refused.status, heads)

    do_GET = do_HEAD = do_POST = do_PUT = _handle  # noqa: N815

    def _send(self, status: int, data: bytes, heads: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in heads.items():
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _json(self, value: Any, status: int = 200, heads: dict[str, str] | None = None) -> None:
        self._send(
            status, json.dumps(value).encode(), {"Content-Type": "application/json"} | (heads or {})
        )

    # Who asks.

    def _token(self) -> str | None:
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None

    def _user(self) -> str:
        token = self._token()
        if token != READER and token not in TOKENS:
            raise RefusedError(401, "Invalid username or password.")
        return "smith" if token == READER else TOKENS[token]

    def _may_write(self, namespace: str) -> None:
        if self._user() != namespace or self._token() == READER:
            raise RefusedError(403, "You don't have the rights to write to this namespace.")

    def _repo(self, name: str, write: bool = False) -> Repo:
        if write:
            self._may_write(name.partition("/")[0])
        repo = self.hub.repos.get(name)
        hidden = repo is not None and repo.private and self._token() is None
        if repo is None or hidden:
            raise RefusedError(
                401 if self._token() is None else 404, "Repository not found", "RepoNotFound"
            )
        return repo

    # Calls.

    def whoami(self, _body: bytes) -> None:
        self._json({"type": "user", "name": self._user(), "orgs": []})

    def create(self, body: bytes) -> None:
        asked = json.loads(body)
        namespace = asked.get("organization") or self._user()
        self._may_write(namespace)
        name = f"{namespace}/{asked['name']}"
        if asked.get("type") != "dataset":
            raise RefusedError(400, "only datasets live here")
        if name in self.hub.repos:
            url = f"{self.hub.url}/datasets/{name}"
            self._json({"error": "You already created this dataset repo", "url": url}, 409)
            return
        private = asked.get("visibility") == "private" or bool(asked.get("private"))
        repo = self.hub.repos[name] = Repo(private)
        repo.commit(
            "main", {".gitattributes": Stored(b"*.parquet filter=lfs\n", False)}, "initial commit"
        )
        self._json({"url": f"{self.hub.url}/datasets/{name}", "name": name})

    def validate_yaml(self, body: bytes) -> None:
        content = json.loads(body)["content"]
        try:
            head = yaml.safe_load(content.split("---\n")[1])
        except (IndexError, yaml.YAMLError) as error:
            self._json({"errors": [{"message": str(error)}], "warnings": []}, 400)
            return
        wrong = [] if isinstance(head, dict) else [{"message": "metadata is no mapping"}]
        self._json({"errors": wrong, "warnings": []}, 400 if wrong else 200)

    def preupload(self, body: bytes, name: str, revision: str) -> None:
        repo = self._repo(name, write=True)
        tree = repo.trees[repo.oid(revision)]
        files = []
        for asked in json.loads(body)["files"]:
            path, there = asked["path"], tree.get(asked["path"])
            large = path.endswith(_LFS_SUFFIXES) or asked["size"] > _LARGE
            oid = None if there is None else there.sha256 if there.lfs else there.git_oid
            mode = "lfs" if large else "regular"
            files.append({"path": path, "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        self._json({"files": files})

    def lfs_batch(self, body: bytes, name: str) -> None:
        self._repo(name, write=True)
        wanted = json.loads(body)
        if self.hub.speaks_xet and "xet" in wanted.get("transfers", []):
            # Clients before huggingface_hub 2 ask here which way the Hub prefers.
            self._json({"transfer": "xet", "objects": wanted["objects"]})
            return
        answer = []
        for asked in wanted["objects"]:
            known = {"oid": asked["oid"], "size": asked["size"]}
            if asked["oid"] not in self.hub.objects:
                href = {"href": f"{self.hub.url}/lfs/{asked['oid']}"}
                verify = {"href": f"{self.hub.url}/lfs-verify"}
                known["actions"] = {"upload": href, "verify": verify}
            answer.append(known)
        self._json({"transfer": "basic", "objects": answer})

    def lfs_put(self, body: bytes, oid: str) -> None:
        self.hub.before_put(self.hub.puts)
        if hashlib.sha256(body).hexdigest() != oid:
            raise RefusedError(400, "the content is not what was announced")
        self.hub.objects[oid] = body
        self.hub.puts += 1
        self._send(200, b"", {})

    def lfs_verify(self, body: bytes) -> None:
        asked = json.loads(body)
        if len(self.hub.objects.get(asked["oid"], b"")) != asked["size"]:
            raise RefusedError(404, "no such object")
        self._json({})

    def xet_token(self, _body: bytes, name: str, revision: str) -> None:
        if not self.hub.speaks_xet:
            raise RefusedError(404, "no such call: xet-write-token")
        self._repo(name, write=True).oid(revision)
        token = _XET_TOKEN + self.headers["Authorization"].removeprefix("Bearer ")
        ends = int(time.time()) + _XET_LIFETIME_S
        heads = {
            "X-Xet-Cas-Url": self.hub.url,
            "X-Xet-Access-Token": token,
            "X-Xet-Token-Expiration": str(ends),
        }
        said = {"casUrl": self.hub.url, "accessToken": token, "exp": ends}
        self._json(said, heads=heads)

    def _may_send_chunks(self) -> None:
        token = (self.headers.get("Authorization") or "").removeprefix(f"Bearer {_XET_TOKEN}")
        if token not in TOKENS:
            raise RefusedError(401, "Invalid token for chunks")

    def xorb(self, body: bytes, name: str) -> None:
        self._may_send_chunks()
        self.hub.before_put(self.hub.puts)
        new = name not in self.hub.xorbs
        try:
            self.hub.xorbs[name] = chunks_of(body)
        except ValueError as error:
            raise RefusedError(400, f"no xorb: {error}") from None
        self.hub.puts += 1
        self._json({"was_inserted": new})

    def shard(self, body: bytes) -> None:
        self._may_send_chunks()
        try:
            self.hub.objects.update(files_of(body, self.hub.xorbs))
        except (ValueError, KeyError) as error:
            raise RefusedError(400, f"no shard: {error}") from None
        self._json({"result": 1})

    def commit(self, body: bytes, name: str, revision: str) -> None:
        repo = self._repo(name, write=True)
        if revision not in repo.branches:
            raise RefusedError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        head, *operations = [json.loads(line) for line in body.splitlines()]
        parent = head["value"].get("parentCommit")
        if parent is not None and parent != repo.branches[revision]:
            raise RefusedError(412, "The expected parent commit is not the head of the branch")
        tree = dict(repo.trees[repo.branches[revision]])
        for operation in operations:
            self._apply(tree, operation["key"], operation["value"])
        oid = repo.commit(revision, tree, head["value"]["summary"])
        self._json({"commitUrl": f"{self.hub.url}/datasets/{name}/commit/{oid}", "commitOid": oid})

    def _apply(self, tree: dict[str, Stored], key: str, value: dict[str, Any]) -> None:
        path = value["path"]
        if key == "file":
            tree[path] = Stored(base64.b64decode(value["content"]), False)
        elif key == "lfsFile":
            if value["oid"] not in self.hub.objects:
                raise RefusedError(400, f"{path} was never sent")
            tree[path] = Stored(self.hub.objects[value["oid"]], True)
        elif key == "deletedFile" and path in tree:
            del tree[path]
        else:
            raise RefusedError(400, f"A file with this name doesn't exist: {key} {path}")

    def branch(self, body: bytes, name: str, branch: str) -> None:
        repo = self._repo(name, write=True)
        if branch in repo.branches:
            raise RefusedError(409, "Reference already exists")
        start = json.loads(body or b"{}").get("startingPoint")
        repo.branches[branch] = repo.oid(start or "main")
        self._json({})

    def info(self, _body: bytes, name: str, revision: str | None = None) -> None:
        repo = self._repo(name)
        oid = repo.oid(revision or "main")
        siblings = [{"rfilename": path} for path in sorted(repo.trees[oid])]
        about = {"_id": "0", "id": name, "author": name.partition("/")[0], "sha": oid, "tags": []}
        self._json(
            about | {"private": repo.private, "siblings": siblings, "downloads": 0, "likes": 0}
        )

    def tree(self, _body: bytes, name: str, revision: str, path: str = "") -> None:
        repo = self._repo(name)
        entries = _entries(
            repo.trees[repo.oid(revision)], path, self.query.get("recursive") == "true"
        )
        if path and not entries:
            raise RefusedError(404, f"{path} does not exist", "EntryNotFound")
        first = int(self.query.get("cursor", 0))
        heads = {}
        if len(entries) > first + PAGE:
            query = f"recursive={self.query.get('recursive', 'false')}&cursor={first + PAGE}"
            heads["Link"] = f'<{self.hub.url}{urlsplit(self.path).path}?{query}>; rel="next"'
        self._json(entries[first : first + PAGE], heads=heads)

    def paths_info(self, body: bytes, name: str, revision: str) -> None:
        repo = self._repo(name)
        text = body.decode()
        asked = (
            json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
        )
        every = _entries(repo.trees[repo.oid(revision)], "", True)
        self._json([entry for entry in every if entry["path"] in asked])

    def resolve(self, _body: bytes, name: str, revision: str, path: str) -> None:
        self.hub.before_resolve()
        repo = self._repo(name)
        oid = repo.oid(revision)
        file = repo.trees[oid].get(path)
        if file is None:
            raise RefusedError(404, f"{path} does not exist", "EntryNotFound")
        etag = file.sha256 if file.lfs else file.git_oid
        heads = {"X-Repo-Commit": oid, "ETag": f'"{etag}"', "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked is None:
            self._send(200, file.data, heads)
            return
        start, end = int(asked[1]), min(int(asked[2] or len(file.data) - 1), len(file.data) - 1)
        heads["Content-Range"] = f"bytes {start}-{end}/{len(file.data)}"
        self._send(206, file.data[start : end + 1], heads)


def _entries(tree: dict[str, Stored], folder: str, recursive: bool) -> list[dict[str, Any]]:
    """A folder's files and folders as the Hub lists them."""
    prefix = f"{folder}/" if folder else ""
    found: dict[str, dict[str, Any]] = {}
    for path, file in sorted(tree.items()):
        if not path.startswith(prefix):
            continue
        parts = path[len(prefix) :].split("/")
        for deep in range(1, len(parts) if recursive else min(2, len(parts))):
            name = prefix + "/".join(parts[:deep])
            oid = hashlib.sha1(name.encode()).hexdigest()
            found[name] = {"type": "directory", "oid": oid, "size": 0, "path": name}
        if recursive or len(parts) == 1:
            entry = {"type": "file", "oid": file.git_oid, "size": len(file.data), "path": path}
            if file.lfs:
                entry["lfs"] = {"oid": file.sha256, "size": len(file.data), "pointerSize": 134}
            found[path] = entry
    return list(found.values())


_NAME, _REV = r"([^/]+/[^/]+)", r"([^/]+)"
_ROUTES: tuple[tuple[str, str, Callable[..., None]], ...] = (
    ("GET", "/api/whoami-v2", Handler.whoami),
    ("POST", "/api/repos/create", Handler.create),
    ("POST", "/api/validate-yaml", Handler.validate_yaml),
    ("POST", f"/api/datasets/{_NAME}/preupload/{_REV}", Handler.preupload),
    ("POST", f"/datasets/{_NAME}\\.git/info/lfs/objects/batch", Handler.lfs_batch),
    ("PUT", "/lfs/([0-9a-f]{64})", Handler.lfs_put),
    ("POST", "/lfs-verify", Handler.lfs_verify),
    ("GET", f"/api/datasets/{_NAME}/xet-write-token/{_REV}", Handler.xet_token),
    ("POST", "/v1/xorbs/default/([0-9a-f]{64})", Handler.xorb),
    ("POST", "/v1/shards", Handler.shard),
    ("POST", f"/api/datasets/{_NAME}/commit/{_REV}", Handler.commit),
    ("POST", f"/api/datasets/{_NAME}/branch/{_REV}", Handler.branch),
    ("GET", f"/api/datasets/{_NAME}", Handler.info),
    ("GET", f"/api/datasets/{_NAME}/revision/{_REV}", Handler.info),
    ("GET", f"/api/datasets/{_NAME}/tree/{_REV}", Handler.tree),
    ("GET", f"/api/datasets/{_NAME}/tree/{_REV}/(.+)", Handler.tree),
    ("POST", f"/api/datasets/{_NAME}/paths-info/{_REV}", Handler.paths_info),
    ("GET", f"/datasets/{_NAME}/resolve/{_REV}/(.+)", Handler.resolve),
    ("HEAD", f"/datasets/{_NAME}/resolve/{_REV}/(.+)", Handler.resolve),
)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, _request: Any, _address: Any) -> None:
        """A client that was killed is no matter of ours."""


@contextmanager
def serving(port: int = 0) -> Iterator[Hub]:
    """A Hub on the loopback interface, while the block runs."""
    hub = Hub()
    server = _Server(("127.0.0.1", port), type("Bound", (Handler,), {"hub": hub}))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    with serving(parser.parse_args().port) as served:
        print(f"export HF_ENDPOINT={served.url} HF_TOKEN=hf_writer")
        print(f"# and publish as {TOKENS['hf_writer']}/NAME", flush=True)
        threading.Event().wait()
