"""Names of the files and folders of a dataset beside its shards and its manifest."""

from __future__ import annotations

from pathlib import Path

EVIDENCE = Path("evidence") / "run.parquet"
KEYS = Path("evidence") / "keys.parquet"
REJECTED = Path("rejected") / "rejected.jsonl"
OVERLAP = Path("rejected") / "overlap.jsonl"
HARVEST_REJECTED = Path("rejected") / "harvest.jsonl"
GPU = "gpu"
