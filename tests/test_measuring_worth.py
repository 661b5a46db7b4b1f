"""scripts/measure/worth.py without torch: what is held out, token files, and the table."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

from scripts.measure.training.names import (
    Fresh,
    Namer,
    count_templates,
    named_anew,
    read_templates,
    syllables_of,
)
from scripts.measure.training.prepare import Settings, is_held_out, part_of, prepare
from scripts.measure.training.renaming import names_of
from scripts.measure.training.runs import all_done, line_of, run_of
from scripts.measure.training.table import page, wilson
from scripts.measure.training.templates import template_of
from scripts.measure.training.tokens import (
    ASKED,
    END,
    INDEX,
    QUESTION,
    ROWS,
    TEST,
    TOKENIZER,
    TOKENS,
    TRAIN,
    UNSEEN,
    answer_line,
    batches,
    padded,
    read_documents,
    read_rows,
)
from synth.check.answers import read_answers, rows_of
from synth.dataset.stored import stored_rows
from synth.errors import SettingsError
from synth.views.file import Bounds
from synth.views.make import make_views
from synth.views.texts import sft

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
NAMES = [f"math/idiom_{number}" for number in range(2000)]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples with two views."""
    out = tmp_path_factory.mktemp("worth") / "samples"
    shutil.copytree(SAMPLES, out)
    make_views(out, ["sft", "reverse"], bounds=Bounds(reasons=False))
    return out


_SEVERAL = 6
"""Some of them have no answer in the view, or one that is too long."""


@pytest.fixture(scope="module")
def settings(dataset: Path) -> Settings:
    """Of a salt with which the few samples have rows of every part, and several that are unseen."""
    splits = [
        (f"{row['category']}/{row['idiom']}", split)
        for split, row in stored_rows(dataset, ["category", "idiom"])
    ]
    for salt in map(str, range(100)):
        found = Settings(salt=salt, held_out=0.3, max_tokens=1400, vocabulary=1024)
        parts = Counter(part_of(*one, found) for one in splits)
        if min(parts[TRAIN], parts[TEST]) and parts[UNSEEN] > _SEVERAL:
            return found
    raise AssertionError("the samples have no row in test")


@pytest.fixture(scope="module")
def prepared(dataset: Path, settings: Settings) -> Path:
    folder = dataset.parent / "prepared"
    prepare(dataset, folder, settings)
    return folder


def test_names_and_salt_decide_who_is_held_out() -> None:
    held = {name for name in NAMES if is_held_out(name, "a", 0.15)}
    assert 0.12 < len(held) / len(NAMES) < 0.18
    assert held < {name for name in NAMES if is_held_out(name, "a", 0.5)}
    other = {name for name in NAMES if is_held_out(name, "b", 0.15)}
    assert len(held & other) < 0.3 * len(held)


def test_parts_follow_from_idiom_and_split() -> None:
    held, known = (
        next(n for n in NAMES if is_held_out(n, "0", 0.15) is wanted) for wanted in (True, False)
    )
    splits = ("train", "validation", "test")
    assert [part_of(held, split, Settings()) for split in splits] == [UNSEEN] * 3
    assert [part_of(known, split, Settings()) for split in splits] == [TRAIN, None, TEST]


def test_token_files_hold_the_texts_of_their_parts(
    dataset: Path, prepared: Path, settings: Settings
) -> None:
    tokenizer = Tokenizer.from_file(str(prepared / TOKENIZER))
    parts, asked = read_documents(prepared), read_rows(prepared)
    rows = {row["id"]: (split, row) for split, row in stored_rows(dataset)}
    for part in ASKED:
        fit = [row for row in asked if row["part"] == part and row["fits"]]
        assert len(fit) == len(parts[part])
        for at, about in enumerate(fit):
            split, row = rows[about["id"]]
            assert part_of(about["idiom"], split, settings) == part
            told, first = sft(row), int(parts[part].questions[at])
            tokens = parts[part][at].tolist()
            assert (tokens[0], tokens[-1], len(tokens)) == (QUESTION, END, about["tokens"])
            assert tokenizer.decode(tokens[1 : first - 1]) == told.question
            assert tokenizer.decode(tokens[first:-1]) == told.answer
    assert any(not row["fits"] for row in asked)
    train = [tokenizer.decode(parts[TRAIN][at].tolist()) for at in range(len(parts[TRAIN]))]
    sources = {name: row["python"].strip() for name, (_, row) in rows.items()}
    trained = {name for name, source in sources.items() if any(source in text for text in train)}
    assert len(trained) == len(train) > 0
    assert not trained & {about["id"] for about in asked}


def test_the_same_settings_make_the_same_bytes_and_fewer_rows_fewer(
    dataset: Path, prepared: Path, settings: Settings, tmp_path: Path
) -> None:
    prepare(dataset, tmp_path / "again", settings)
    for name in (TOKENIZER, INDEX, ROWS, TOKENS):
        assert (tmp_path / "again" / name).read_bytes() == (prepared / name).read_bytes()
    few = Settings(**{**vars(settings), "train_rows": 3, "views": ("sft", "reverse")})
    index = prepare(dataset, tmp_path / "few", few)
    assert index["parts"][TRAIN]["rows"] == 3
    # A row may have no answer in one of the two views.
    assert 3 < index["parts"][TRAIN]["conversations"] <= 6
    assert len(read_rows(tmp_path / "few")) == len(read_rows(prepared))


@pytest.fixture(scope="module")
def fresh(dataset: Path, settings: Settings) -> Path:
    folder = dataset.parent / "fresh"
    prepare(dataset, folder, replace(settings, fresh_names=True))
    return folder


def test_brackets_may_be_apart(dataset: Path, settings: Settings, tmp_path: Path) -> None:
    prepare(dataset, tmp_path, replace(settings, brackets_apart=True))
    tokenizer = Tokenizer.from_file(str(tmp_path / TOKENIZER))
    brackets = [t for t in tokenizer.get_vocab() if set(t) & set("()[]{}")]
    assert sorted(brackets) == sorted("()[]{}")
    documents = read_documents(tmp_path)[TRAIN]
    assert any("))" in tokenizer.decode(one.tolist()) for one in documents)


def test_templates_are_the_conversations_but_for_names(
    dataset: Path, prepared: Path, fresh: Path
) -> None:
    assert (fresh / TOKENS).read_bytes() == (prepared / TOKENS).read_bytes()
    templates, documents = read_templates(fresh), read_documents(fresh)[TRAIN]
    assert templates is not None
    assert count_templates(fresh) == len(documents) > 0 == count_templates(prepared)
    tokenizer = Tokenizer.from_file(str(fresh / TOKENIZER))
    for at, template in enumerate(templates.all):
        own = tokenizer.decode(documents[at].tolist())
        # What stands between marks and words made with them is as it was, in the same order.
        place = 0
        for piece in re.split("[A-Za-z_0-9]*[\ue000-\uf8ff][A-Za-z_0-9]*", "".join(template.texts)):
            place = own.index(piece, place) + len(piece)
        assert place == len(own)
    held = {about["idiom"] for about in read_rows(fresh) if about["part"] == UNSEEN}
    rows = [row for _, row in stored_rows(dataset)]
    trained = {
        name
        for row in rows
        if f"{row['category']}/{row['idiom']}" not in held
        for name in names_of(row)
    }
    assert {name for names in templates.pools.values() for name in names} <= trained


def test_names_follow_from_the_seed_and_stand_for_themselves(fresh: Path) -> None:
    templates = read_templates(fresh)
    assert templates is not None
    numbers = range(len(templates.all))
    found = named_anew(fresh, numbers, "a")
    again = [one for at in numbers for one in named_anew(fresh, [at], "a")]
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))
    other = named_anew(fresh, numbers, "b")
    assert all(not np.array_equal(a, b) for a, b in zip(found, other, strict=True))
    tokenizer = Tokenizer.from_file(str(fresh / TOKENIZER))
    namer = Namer(templates.pools, syllables_of(tokenizer))
    for template in templates.all:
        whole = "".join(template.texts)
        question, answer = namer(template, random.Random(0))
        assert not re.search("[\ue000-\uf8ff]", question + answer)
        words = len(set(re.findall(r"[\w\ue000-\uf8ff]+", whole)))
        assert len(set(re.findall(r"\w+", question + answer))) == words


def test_an_epoch_has_every_conversation_and_is_the_same_for_all_workers(fresh: Path) -> None:
    documents, count = read_documents(fresh)[TRAIN], count_templates(fresh)
    most = int(documents.lengths.max())
    given = Fresh(fresh, documents, count, 0.5, most, 3)
    with closing(given.epochs(1)) as one, closing(given.epochs(2)) as two:
        for epoch, (a, b) in enumerate(zip(islice(one, 2), islice(two, 2), strict=True)):
            assert np.array_equal(a.tokens, b.tokens)
            assert len(a) == len(documents)
            assert int(a.lengths.max()) <= most
            kept = set(range(count)) - set(given.chosen(epoch))
            assert 0 < len(kept) < count
            assert all(np.array_equal(a[at], documents[at]) for at in kept)
            assert any(not np.array_equal(a[at], documents[at]) for at in given.chosen(epoch))


def test_fresh_names_are_for_sft_without_reasons(dataset: Path) -> None:
    row = next(row for _, row in stored_rows(dataset) if row["cuda_plain"])
    exchange = sft(row)
    assert template_of(row, (exchange.question, exchange.answer)).kinds
    with pytest.raises(SettingsError, match="--no-reasons"):
        template_of(row, (exchange.question, f"First this. {exchange.answer}"))


def test_a_run_that_breaks_off_is_told_and_a_bad_one_refused(tmp_path: Path) -> None:
    run = run_of(f"broken {tmp_path}/nothing --minutes 1")
    (found,) = all_done([run], tmp_path, [""], 300.0)
    assert found.code == 2
    assert "is not there" in (tmp_path / "log.txt").read_text() or "torch" in found.said
    assert line_of(found).startswith("broken")
    with pytest.raises(SettingsError, match="a folder"):
        run_of("name")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"views": ("warp",)}, "training-views"),
        ({"views": ("reverse", "sft")}, "no plain CUDA"),
        ({"held_out": 1e-9}, "'unseen'"),
        ({"held_out": 1.5}, "--held-out"),
        ({"max_tokens": 20}, "--max-tokens"),
        ({"train_rows": 0}, "--train-rows"),
    ],
)
def test_what_cannot_be_prepared_is_said(
    dataset: Path, settings: Settings, tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        prepare(dataset, tmp_path / "folder", Settings(**{**vars(settings), **changed}))
    assert not (tmp_path / "folder").exists()


def test_a_batch_holds_alike_conversations_and_an_epoch_all() -> None:
    lengths = np.random.default_rng(0).integers(50, 2000, 900).astype(np.int32)
    seen: list[int] = []
    padding = 0
    for chosen, width, epoch in batches(lengths, 8192, 5):
        if epoch:
            break
        assert width == padded(int(lengths[chosen].max()))
        assert len(chosen) * width <= 8192
        padding += len(chosen) * width
        seen += chosen.tolist()
    assert sorted(seen) == list(range(900))
    assert padding < 1.25 * lengths.sum()
    one, other = (next(batches(lengths, 8192, 5))[0] for _ in range(2))
    assert one.tolist() == other.tolist()
    with pytest.raises(SettingsError, match="cannot hold"):
        batches(lengths, 1024, 5)


@pytest.mark.parametrize(
    ("passed", "asked", "low", "high"),
    [(50, 100, 0.4038, 0.5962), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_wilsons(passed: int, asked: int, low: float, high: float) -> None:
    assert wilson(passed, asked) == pytest.approx((low, high), abs=1e-4)


def test_answers_are_what_the_scorer_reads(dataset: Path, tmp_path: Path) -> None:
    rows = [row for _, row in stored_rows(dataset)][:3]
    texts = [sft(rows[0]).answer, "no code, \u2028 and\nlines", ""]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(answer_line(r["id"], t) for r, t in zip(rows, texts, strict=True)))
    lines = read_answers(path)
    assert [(line.id, line.text) for line in lines] == [
        (row["id"], text) for row, text in zip(rows, texts, strict=True)
    ]
    assert set(rows_of(dataset, lines)) == {row["id"] for row in rows}


def _report(path: Path, statuses: dict[str, str]) -> Path:
    entries = [{"line": n, "id": i, "status": s} for n, (i, s) in enumerate(statuses.items(), 1)]
    path.write_text(json.dumps({"answers": entries}))
    return path


def test_the_table_counts_what_was_judged(prepared: Path, tmp_path: Path) -> None:
    unseen = [row for row in read_rows(prepared) if row["part"] == UNSEEN]
    fit = [row for row in unseen if row["fits"]]
    statuses = {row["id"]: "wrong_value" for row in fit}
    statuses[fit[0]["id"]] = "passed"
    found = page(prepared, _report(tmp_path / "report.json", statuses), None)
    low, high = (100 * end for end in wilson(1, len(fit)))
    assert (
        f"| unseen | {len(fit)} | 1 | {100 / len(fit):.1f} % | {low:.1f} to {high:.1f} % "
        f"| {100 * len(fit) / len(unseen):.1f} % |"
    ) in found
    assert "| test | 0 | 0 | - | - |" in found
    assert f"| wrong_value | 0 | {len(fit) - 1} |" in found
    worst = [line for line in found.split("\n| idiom (unseen)")[1].split("\n")[2:] if line]
    shares = [float(line.split(" | ")[3].removesuffix(" %")) for line in worst]
    assert shares == sorted(shares)
    statuses[fit[0]["id"]] = "row_unfit"
    found = page(prepared, _report(tmp_path / "report.json", statuses), None)
    assert f"| unseen | {len(fit) - 1} | 0 | 0.0 % |" in found


def test_reports_of_other_rows_are_refused(prepared: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="other rows"):
        page(prepared, _report(tmp_path / "report.json", {"nobody": "passed"}), None)
    (tmp_path / "report.json").write_text("{}")
    with pytest.raises(SettingsError, match="no report"):
        page(prepared, tmp_path / "report.json", None)
