"""The texts of benchmarks: files and folders become named texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.dataset.stored import readable
from synth.errors import SettingsError

_ROWS_AT_ONCE = 256


@dataclass
class BenchmarkTexts:
    """What lies at some paths, file by file in order of their names.

    ``files`` is how many held text, ``texts`` how many texts they held, ``skipped`` names those
    that are binary or no UTF-8; all three are complete when the texts were read to the end.
    """

    paths: Sequence[Path]
    files: int = 0
    texts: int = 0
    skipped: list[str] = field(default_factory=list)

    def read(self) -> Iterator[tuple[str, str]]:
        """Each text with its name: the file as seen from the path that was given, and the number
        of the record where a file has several.

        :class:`SettingsError` for a path that is missing, cannot be read or holds no text, and for
        a JSON or Parquet file that is damaged.
        """
        for path in self.paths:
            before = self.files
            for file, name in _files(path):
                found = _texts(file)
                if found is None:
                    self.skipped.append(name)
                elif found:
                    self.files += 1
                    self.texts += len(found)
                    yield from ((f"{name}{record}", text) for record, text in found)
            if self.files == before:
                raise SettingsError(f"{path} holds no text to compare with; name another --against")


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    """Files at a path, with names that do not depend on where it lies."""
    top = path.resolve().name
    try:
        if path.is_file():
            yield path, top
        elif path.is_dir():
            walk = os.walk(path, onerror=_raise)
            for file in sorted(Path(folder) / name for folder, _, names in walk for name in names):
                if file.is_file():
                    yield file, f"{top}/{file.relative_to(path).as_posix()}"
        else:
            raise SettingsError(f"{path} is no file or folder; name another --against")
    except OSError as error:
        raise SettingsError(f"{error.filename} cannot be read: {error.strerror}") from None


def _raise(error: OSError) -> None:
    raise error


def _texts(file: Path) -> list[tuple[str, str]] | None:
    """The texts of a file, each with what its record adds to the name; None of a binary file."""
    if file.suffix == ".parquet":
        return list(_parquet(file))
    text = _text(file)
    if text is None:
        return None
    if file.suffix in (".json", ".jsonl"):
        records = _records(file, text)
        return [(f", record {n}", value) for n, record in records for value in _strings(record)]
    return [("", text)] if text.strip() else []


def _text(file: Path) -> str | None:
    """The text of a file, None for one that is binary or no UTF-8."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _records(file: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Lines of JSON, or the entries of a file that is one list; any other file is one record."""
    if file.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _parsed(f"{file}, line {number}", line)
        return
    value = _parsed(str(file), text) if text.strip() else []
    yield from enumerate(value if isinstance(value, list) else [value], 1)


def _parsed(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{where} is no JSON: {error}; mend it or leave it out") from None


def _strings(value: Any) -> Iterator[str]:
    """The strings in a value of JSON or Parquet; names of keys are none of them."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _parquet(file: Path) -> Iterator[tuple[str, str]]:
    with readable(file), pq.ParquetFile(file) as table:
        columns = [field.name for field in table.schema_arrow if _may_hold_text(field.type)]
        number = 0
        for batch in table.iter_batches(_ROWS_AT_ONCE, columns=columns) if columns else ():
            for row in batch.to_pylist():
                number += 1
                yield from ((f", record {number}", value) for value in _strings(row))


def _may_hold_text(kind: pa.DataType) -> bool:
    asked = (
        *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        *(pa.types.is_nested, pa.types.is_dictionary),
    )
    return any(is_such(kind) for is_such in asked)
