"""Rows that repeat benchmark texts: found by their own words, taken out, and nothing else."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from datasets import load_dataset
from kills import contents, killed_at, worth_killing_at

from synth.check.dataset import check_dataset
from synth.cli.main import main
from synth.cli.stats import collect
from synth.dataset.files import write_parquet
from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.names import EVIDENCE, OVERLAP
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.derive.decontaminate import decontaminate
from synth.derive.merge import merge
from synth.derive.overlap import BOILERPLATE_ROWS, Benchmark, NGrams, RowCounter, overlap, tokens
from synth.derive.overlap_report import Against, Report, compare
from synth.derive.overlap_texts import BenchmarkTexts
from synth.errors import SettingsError
from synth.run import generate as run
from synth.run.finish import EVIDENCE_SCHEMA

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
SETTINGS = make_settings(seed=11, verify="text")
ROWS = 90


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dataset") / "out"
    run.generate(SETTINGS, ROWS, out, shard_size=20)
    measured = [{"id": row["id"], "max_ulp": 1.0} for _, row in stored_rows(out)]
    write_parquet(out / EVIDENCE, pa.Table.from_pylist(measured, schema=EVIDENCE_SCHEMA))
    return out


@pytest.fixture(scope="module")
def rows(dataset: Path) -> list[dict[str, Any]]:
    return [{**row, "split": split} for split, row in stored_rows(dataset)]


def _report(out: Path, *paths: Path, ngram: int = 13, threshold: float = 0.2) -> Report:
    return compare(out, Against.of(paths, ngram=ngram, threshold=threshold), lambda _n: None)


def _benchmark(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def _scores(report: Report) -> dict[str, float]:
    return {scored.id: scored.overlap.score for scored in report.over}


def _call(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["decontaminate", *map(str, arguments), "--quiet"])


def test_tokens_are_words_and_numbers_without_comments() -> None:
    text = """#pragma unroll 4 // why
    /* two
       lines */ x.y[1e-5] = 0.5f*b;  # rest of it
    s = "a # b // c"; c = 'it' """
    words = "pragma unroll 4 x y 1e-5 0.5f b s a b c c it"
    assert tokens(text) == words.split()


def test_hashes_are_those_of_the_words_alone() -> None:
    first, second = NGrams(3), NGrams(3)
    words = ["a", "b", "c", "d", "e", "a", "b", "c"]
    found = first.hashes(words)
    assert found.size == 6
    assert found[0] == found[5]
    assert np.unique(found).size == 5
    assert np.array_equal(second.hashes(words[2:5]), found[2:3])
    assert first.hashes(["a", "b"]).size == 1
    assert first.hashes([]).size == 0
    # Fixed: manifests carry a digest of them, which must be the same everywhere.
    assert int(NGrams(2).hashes(["x", "y"])[0]) == 8050949680400997663


def test_a_copy_is_found_whatever_its_layout(
    dataset: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    row = rows[7]
    file = _benchmark(tmp_path / "tasks", "task.py", row["python"])
    report = _report(dataset, file.parent)
    assert _scores(report)[row["id"]] == 1.0
    best = report.highest[0]
    assert (best.id, best.overlap.text, best.overlap.file) == (row["id"], "python", "tasks/task.py")
    assert best.overlap.run_tokens == len(tokens(row["python"]))
    changed = re.sub(r"\n", "  # a note, 'quoted\n\n", row["python"]).replace(" = ", "  =  ")
    assert changed != row["python"]
    _benchmark(tmp_path / "tasks", "task.py", changed)
    assert _scores(_report(dataset, file.parent)) == _scores(report)


@pytest.mark.parametrize("column", ["reference", "cuda_plain", "cuda_forward"])
def test_each_text_is_compared_by_itself(
    dataset: Path, rows: list[dict[str, Any]], tmp_path: Path, column: str
) -> None:
    row = rows[3]
    whole = row["cuda_helpers"] + row[column] if column == "cuda_forward" else row[column]
    found = _report(dataset, _benchmark(tmp_path, "task.txt", whole)).highest[0]
    assert (found.id, found.overlap.text, found.overlap.score) == (row["id"], column, 1.0)


def test_another_text_is_not_found(dataset: Path, tmp_path: Path) -> None:
    prose = " ".join(f"word{at} follows word{at + 1}" for at in range(300))
    report = _report(dataset, _benchmark(tmp_path, "prose.md", prose))
    assert not report.over
    assert not report.highest
    assert report.histogram()["0"] == report.rows == ROWS


def test_boilerplate_does_not_count(
    dataset: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    head = rows[0]["cuda_forward"].split("// primal vars")[0].split("{", 1)[1]
    many = sum(head.split("//")[0] in row["cuda_forward"] for row in rows)
    assert many > BOILERPLATE_ROWS
    report = _report(dataset, _benchmark(tmp_path, "frame.cu", head))
    assert report.against.benchmark.hashes.size > 20
    assert report.boilerplate > 20
    assert not report.highest


def test_boilerplate_is_what_more_rows_than_the_limit_hold() -> None:
    ngrams, counter = NGrams(2), RowCounter()
    for at in range(BOILERPLATE_ROWS + 1):
        texts = [["common", "words", "here", "common", "words"], ["often", "said"]]
        counter.add([ngrams.hashes(words) for words in texts[: 2 if at else 1]])
    boilerplate = counter.boilerplate()
    assert boilerplate.among(ngrams.hashes(["common", "words"]))[0]
    assert not boilerplate.among(ngrams.hashes(["often", "said"]))[0]
    for _ in range(100 * (BOILERPLATE_ROWS + 1)):
        counter.add([])
    # Of more rows it takes one in a hundred.
    assert counter.boilerplate().size == 0


def test_part_of_a_text_gives_its_share() -> None:
    ngrams = NGrams(13)
    words = [f"name{at}" for at in range(112)]
    benchmark = Benchmark.of([("a", " ".join(words[20:62])), ("b", " ".join(words[80:97]))], ngrams)
    found = overlap("python", " ".join(words), ngrams, RowCounter().boilerplate(), benchmark)
    assert found is not None
    # 42 tokens hold 30 n-grams, 17 hold 5, and the text has 100.
    assert (found.ngrams, found.score, found.file, found.file_share) == (100, 0.35, "a", 0.30)
    assert found.run_tokens == 42
    assert found.run.startswith("name20 name21 ")


def test_a_short_text_is_one_n_gram() -> None:
    ngrams, none = NGrams(13), RowCounter().boilerplate()
    benchmark = Benchmark.of([("a", "return x + y")], ngrams)
    found = overlap("python", "return (x, y)", ngrams, none, benchmark)
    assert found is not None
    assert found.score == 1.0
    assert overlap("python", "return x + y + z", ngrams, none, benchmark) is None
    assert overlap("python", "+ - *", ngrams, none, benchmark) is None


def test_records_of_json_and_parquet_are_texts_of_their_own(
    dataset: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    first, second, third, fourth = (rows[at]["python"] for at in (1, 2, 3, 4))
    lines = [{"task_id": "T/0", "prompt": first}, {"tests": [{"x": 1}, {"code": second}]}]
    folder = tmp_path / "bench"
    _benchmark(folder, "tasks.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    _benchmark(folder / "deep", "list.json", json.dumps([{"a": None}, {"code": third}]))
    table = pa.table({"n": [1, 2], "code": ["none", fourth], "raw": [b"\xff\x00", b"x"]})
    pq.write_table(table, folder / "rows.parquet")
    (folder / "image.bin").write_bytes(b"\x89PNG\0\xff")
    (folder / "latin.txt").write_bytes("caf\xe9".encode("latin-1"))
    report = _report(dataset, folder)
    found = {scored.id: scored.overlap.file for scored in report.over}
    assert {at: found.get(rows[at]["id"]) for at in (1, 2, 3, 4)} == {
        1: "bench/tasks.jsonl, record 1",
        2: "bench/tasks.jsonl, record 2",
        3: "bench/deep/list.json, record 2",
        4: "bench/rows.parquet, record 2",
    }
    texts = report.against.texts
    assert (texts.files, texts.skipped) == (3, ["bench/image.bin", "bench/latin.txt"])


def test_names_of_keys_do_not_count(tmp_path: Path) -> None:
    path = _benchmark(tmp_path, "one.json", json.dumps({"a key of many words": "short text"}))
    assert list(BenchmarkTexts([path]).read()) == [("one.json, record 1", "short text")]


def test_a_benchmark_is_known_by_what_it_says(tmp_path: Path) -> None:
    texts = {"a": "def f(x):\n    return x + 1\n", "b": "def f ( x ) :   # so\n return x+1"}
    paths = [_benchmark(tmp_path / name, f"{name}.py", text) for name, text in texts.items()]
    said = [Against.of([path], ngram=3, threshold=0.2).as_dict() for path in paths]
    assert said[0] == said[1]
    assert said[0] != Against.of([paths[0]], ngram=2, threshold=0.2).as_dict()


@pytest.fixture(scope="module")
def planted(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("planted") / "tasks"
    for at in (5, 40, 60):
        _benchmark(folder, f"{at}.py", rows[at]["python"])
    return folder


@pytest.fixture(scope="module")
def clean(dataset: Path, planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("clean") / "out"
    decontaminate(dataset, out, Against.of([planted], ngram=13, threshold=0.2))
    return out


def _manifest(out: Path) -> Manifest:
    manifest = read_manifest(out)
    assert manifest is not None
    return manifest


def test_the_new_dataset_lacks_those_rows_alone(
    dataset: Path, planted: Path, clean: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    gone = {scored.id for scored in _report(dataset, planted).over}
    assert {rows[at]["id"] for at in (5, 40, 60)} <= gone
    assert len(gone) < ROWS // 3
    assert [{**row, "split": s} for s, row in stored_rows(clean)] == [
        row for row in rows if row["id"] not in gone
    ]
    assert check_dataset(clean, "text").good
    loaded = load_dataset(str(clean), cache_dir=str(tmp_path))
    assert sum(len(split) for split in loaded.values()) == ROWS - len(gone)
    manifest, before = _manifest(clean), _manifest(dataset)
    assert manifest.rows == ROWS - len(gone)
    assert max(shard["rows"] for shard in manifest.shards) == 20
    assert manifest.draws["rejects"]["decontaminate/any/overlap"] == len(gone)
    assert collect(clean)["draws"]["rejects_by_reason"]["overlap"] == len(gone)
    assert manifest.draws["draws"] == before.draws["draws"]
    (done,) = manifest.shape["decontaminated"]
    assert (done["files"], done["ngram"], done["threshold"]) == (3, 13, 0.2)
    assert done["fingerprint"] == before.fingerprint
    lines = [json.loads(line) for line in (clean / OVERLAP).read_text().splitlines()]
    assert {line["id"] for line in lines} == gone
    assert {line["reason"] for line in lines} == {"overlap"}
    measured = pq.read_table(clean / EVIDENCE)["id"].to_pylist()
    assert sorted(measured) == sorted(row["id"] for row in rows if row["id"] not in gone)
    assert "stands in a benchmark (3 files, 3 texts" in (clean / "README.md").read_text()


def test_it_can_be_cleaned_again_but_not_grow_or_merge(
    dataset: Path, planted: Path, clean: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    before = contents(clean)
    with pytest.raises(SettingsError, match="was decontaminated and cannot grow"):
        run.generate(SETTINGS, 2 * ROWS, clean)
    with pytest.raises(SettingsError, match="was decontaminated: merge first"):
        merge([clean, dataset], tmp_path / "merged")
    assert contents(clean) == before
    other = Against.of(
        [_benchmark(tmp_path, "more.py", rows[70]["python"])], ngram=13, threshold=0.2
    )
    decontaminate(clean, tmp_path / "twice", other)
    manifest = _manifest(tmp_path / "twice")
    assert [part["files"] for part in manifest.shape["decontaminated"]] == [3, 1]
    lines = (tmp_path / "twice" / OVERLAP).read_text().splitlines()
    assert len(lines) == ROWS - manifest.rows == manifest.draws["rejects_by_reason"]["overlap"]
    assert rows[70]["id"] not in {row["id"] for _, row in stored_rows(tmp_path / "twice")}
    assert check_dataset(tmp_path / "twice", "text").good


def test_a_run_that_was_killed_goes_on(
    dataset: Path, planted: Path, clean: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    against = Against.of([planted], ngram=13, threshold=0.2)
    numbers = worth_killing_at(lambda: decontaminate(dataset, out, against), out)
    # Most are those of writing one file; test_merge.py tries more of them.
    for number in numbers[::5]:
        shutil.rmtree(out)
        assert killed_at(number, lambda: decontaminate(dataset, out, against))
        decontaminate(dataset, out, against)
        assert contents(out) == contents(clean), f"failpoint {number}"
    assert len(numbers) > 10


def test_harvested_rows_keep_their_split(tmp_path: Path) -> None:
    rows = [{**row, "split": split} for split, row in stored_rows(SAMPLES)]
    source = tmp_path / "source"
    shutil.copytree(SAMPLES, source)
    manifest = _manifest(source)
    # As a harvest's manifest has it; of its rows only those columns matter that they share.
    shape = {k: v for k, v in manifest.shape.items() if k.endswith("version") or k == "archs"}
    shape |= {"per_module": 50, "licence": "mit", "verify": "compile"}
    draws = {**manifest.draws, "steps": {"found": 30}}
    del draws["displaced"]
    fresh = Manifest(**{**vars(manifest), "shape": shape, "draws": draws})
    fresh.write(source)
    path = _benchmark(tmp_path, "task.py", rows[0]["python"])
    decontaminate(source, tmp_path / "out", Against.of([path], ngram=13, threshold=0.2))
    found = [{**row, "split": split} for split, row in stored_rows(tmp_path / "out")]
    assert found == rows[1:]
    done = _manifest(tmp_path / "out")
    assert "displaced" not in done.draws
    text = (tmp_path / "out" / "README.md").read_text()
    assert "harvested" in text
    assert "stands in a benchmark (1 files, 1 texts" in text


def test_the_command_reports_and_says_by_its_code(
    dataset: Path, planted: Path, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    found = _call(dataset, "--against", planted, "--report", tmp_path / "report.json")
    assert found.exit_code == 1
    over = _report(dataset, planted).over
    assert f"{ROWS} rows checked, {len(over)} over the threshold" in found.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    assert [entry["id"] for entry in report["over"]] == [scored.id for scored in over]
    assert sum(report["histogram"].values()) == ROWS
    assert sum(report["by_category"].values()) == len(over)
    nothing = _benchmark(tmp_path, "other.txt", "nothing of it at all")
    assert _call(dataset, "--against", nothing).exit_code == 0
    written = _call(dataset, "--against", planted, "-o", tmp_path / "clean")
    assert written.exit_code == 0
    assert f"{ROWS - len(over)} rows in" in written.stdout


def test_bad_requests_are_one_line(dataset: Path, planted: Path, tmp_path: Path) -> None:
    binary = tmp_path / "only.bin"
    binary.write_bytes(b"\0\1")
    broken = _benchmark(tmp_path, "broken.jsonl", '{"a": "b"}\n{"a": \n')
    parquet = _benchmark(tmp_path, "broken.parquet", "no parquet")
    good = ("--against", planted)
    refusals: dict[str, tuple[object, ...]] = {
        "is no file or folder": (dataset, "--against", tmp_path / "missing"),
        "holds no text to compare with": (dataset, "--against", binary),
        "broken.jsonl, line 2 is no JSON": (dataset, "--against", broken),
        "broken.parquet cannot be read": (dataset, "--against", parquet),
        "--ngram is 0": (dataset, *good, "--ngram", 0),
        "--threshold is 0.0": (dataset, *good, "--threshold", 0),
        "no dataset at": (tmp_path, *good),
        "is there already": (dataset, *good, "-o", dataset),
        "is no folder": (dataset, *good, "--report", tmp_path / "no" / "report.json"),
        "would be left": (dataset, "--against", dataset, "--ngram", 1, "-o", tmp_path / "out"),
    }
    for message, arguments in refusals.items():
        found = _call(*arguments)
        assert found.exit_code == 2, (message, found.output)
        assert message in found.stderr
        assert found.stderr.count("\n") == 1
