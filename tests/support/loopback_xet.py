"""The part of the Xet protocol by which a client sends large files, for ``loopback_hub``.

A file is cut into chunks, chunks travel in *xorbs*, and a *shard* says of which runs of chunks a
file is made. Byte layouts: https://huggingface.co/docs/xet (shard and xorb pages). Chunks have
no hash of ours here (BLAKE3 is not in the standard library): what a shard makes of them must have
the sha256 that it states, so a file that arrives is the one that was sent.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping

import pyarrow as pa

_TAG = b"HFRepoMetaData\0"
_SHARD_HEADER_BYTES, _ENTRY_BYTES = 48, 48
_END = b"\xff" * 32
_HAS_VERIFICATION, _HAS_METADATA = 1 << 31, 1 << 30
_STORED, _LZ4, _GROUPED_LZ4 = 0, 1, 2


def hex_of(digest: bytes) -> str:
    """A hash as Xet writes it: four little-endian 64-bit numbers."""
    return "".join(f"{word:016x}" for word in struct.unpack("<4Q", digest))


def chunks_of(xorb: bytes) -> list[bytes]:
    """The chunks of a xorb. ValueError (of which PyArrow's are) when it is none."""
    chunks, at = [], 0
    while at < len(xorb) and xorb[at : at + 7] != b"XETBLOB":
        if at + 8 > len(xorb) or xorb[at] != 0:
            raise ValueError(f"no chunk at byte {at}")
        packed = int.from_bytes(xorb[at + 1 : at + 4], "little")
        scheme = xorb[at + 4]
        size = int.from_bytes(xorb[at + 5 : at + 8], "little")
        chunks.append(_unpacked(xorb[at + 8 : at + 8 + packed], scheme, size))
        at += 8 + packed
    return chunks


def _unpacked(data: bytes, scheme: int, size: int) -> bytes:
    if scheme in (_LZ4, _GROUPED_LZ4):
        data = pa.decompress(data, decompressed_size=size, codec="lz4", asbytes=True)
    elif scheme != _STORED:
        raise ValueError(f"no compression has the number {scheme}")
    if len(data) != size:
        raise ValueError("a chunk is not as long as announced")
    if scheme != _GROUPED_LZ4:
        return data
    # Every fourth byte stands together: all first ones, all second ones, and so on.
    whole, at = bytearray(size), 0
    for group in range(4):
        count = len(range(group, size, 4))
        whole[group::4] = data[at : at + count]
        at += count
    return bytes(whole)


def files_of(shard: bytes, xorbs: Mapping[str, list[bytes]]) -> Iterator[tuple[str, bytes]]:
    """The files that a shard describes: their sha256 and contents.

    ValueError for what is no shard, KeyError for a xorb that was never sent.
    """
    if not shard.startswith(_TAG):
        raise ValueError("no shard")
    entries = _entries(shard)
    for digest, flags, count in ((e[:32], *struct.unpack_from("<2I", e, 32)) for e in entries):
        if digest == _END:
            return
        runs = [next(entries) for _ in range(count)]
        for _ in range(count if flags & _HAS_VERIFICATION else 0):
            next(entries)
        if not flags & _HAS_METADATA:
            raise ValueError("a file without its sha256")
        yield _file(hex_of(next(entries)[:32]), runs, xorbs)
    raise ValueError("a shard that is cut off")


def _entries(shard: bytes) -> Iterator[bytes]:
    for at in range(_SHARD_HEADER_BYTES, len(shard) - _ENTRY_BYTES + 1, _ENTRY_BYTES):
        yield shard[at : at + _ENTRY_BYTES]


def _file(sha256: str, runs: list[bytes], xorbs: Mapping[str, list[bytes]]) -> tuple[str, bytes]:
    parts = []
    for run in runs:
        _flags, size, start, end = struct.unpack_from("<4I", run, 32)
        part = b"".join(xorbs[hex_of(run[:32])][start:end])
        if len(part) != size:
            raise ValueError("a run of chunks is not as long as announced")
        parts.append(part)
    data = b"".join(parts)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError("the content is not what was announced")
    return sha256, data
