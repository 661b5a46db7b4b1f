"""A dataset on disk: files, manifest, splits, shards, staging, locks. Bytes and rows, no prose."""
