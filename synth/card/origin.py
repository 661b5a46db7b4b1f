"""What a dataset was made with, and how its bytes can be had again, for the card."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from generators import categories
from generators.build.registry import LEVELS
from synth.dataset.manifest import Manifest
from synth.dataset.settings import Versions


def made_with(manifest: Manifest) -> str:
    """Versions and settings; for a generated dataset the command."""
    shape = manifest.shape
    versions = ", ".join(f"{f.name} {shape[f'{f.name} version']}" for f in fields(Versions))
    text = f"## Made with\n\n{versions}; fingerprint {manifest.fingerprint}.\n\n"
    if "decontaminated" in shape or "merged" in shape:
        return text + "\n".join([*_merged(shape), *_decontaminated(shape)])
    return f"""{text}```sh
{_command(shape, manifest.rows, manifest.shard_size)}
```

With these versions the command makes the same bytes of every shard, on any machine and with any
number of workers."""


def _command(shape: Mapping[str, Any], rows: int, shard_size: int | None) -> str:
    """The command that makes such a dataset."""
    words = ["pairsmith", "generate", "-n", str(rows), "-o", "OUT", "--seed", str(shape["seed"])]
    if shape["categories"] != list(categories()):
        words += [word for name in shape["categories"] for word in ("--category", name)]
    if shape["levels"] != list(LEVELS):
        words += [word for level in shape["levels"] for word in ("--level", str(level))]
    words += ["--verify", shape["verify"]]
    words += [word for arch in shape["archs"] for word in ("--arch", arch)]
    words += [] if shape["backward"] else ["--no-backward"]
    words += ["--resources"] if shape["resources"] else []
    words += [] if shape["array"] else ["--no-array"]
    words += [] if shape.get("gradient", True) else ["--no-gradient"]
    words += [] if shard_size is None else ["--shard-size", str(shard_size)]
    return shlex.join(words)


def _merged(shape: Mapping[str, Any]) -> list[str]:
    if "merged" not in shape:
        return [] if "seed" not in shape else [f"- of the dataset of seed {shape['seed']}"]
    return [
        f"- merged: {part['rows']:,} rows, seed {part['seed']} (fingerprint {part['fingerprint']})"
        for part in shape["merged"]
    ]


def _decontaminated(shape: Mapping[str, Any]) -> list[str]:
    return [
        f"- decontaminated: of {part['rows']:,} rows (fingerprint {part['fingerprint']}) those "
        f"went of whose {part['ngram']}-grams of tokens a share of {part['threshold']:g} or more "
        f"stands in a benchmark ({part['files']} files, {part['texts']} texts, sha256 of their "
        f"n-grams {part['sha256'][:16]})"
        for part in shape.get("decontaminated", ())
    ]


def decontaminated(shape: Mapping[str, Any]) -> str:
    """The same as a list; nothing where no text was taken out."""
    return "\n".join(_decontaminated(shape))
