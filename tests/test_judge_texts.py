"""The texts to try the judge with: that their files read as meant."""

from __future__ import annotations

from collections import Counter

import pytest
from judge_texts import FOLDER, honest_texts, judge_rows, read_texts, wrong_texts

LEAST_WRONG = {
    "bombs": 20, "device_differs": 40, "host_only": 50, "launch": 25, "linking": 40, "made": 30,
    "memory": 20, "precision": 20, "races": 60, "sizes": 80, "state": 25, "verdicts": 15,
}  # fmt: skip


def test_each_text_has_a_name_of_its_own_and_a_row() -> None:
    for texts in (wrong_texts(), honest_texts()):
        twice = {name for name, count in Counter(text.name for text in texts).items() if count > 1}
        assert not twice
        assert {text.row_id for text in texts} <= judge_rows().keys()


def test_wrong_texts_cover_every_class_and_most_rows() -> None:
    found = Counter(text.kind for text in wrong_texts())
    assert {kind for kind, least in LEAST_WRONG.items() if found[kind] < least} == set()
    assert len({text.row_id for text in wrong_texts()}) >= 60


def test_no_wrong_text_is_its_rows_own() -> None:
    same = [
        text.name
        for text in wrong_texts()
        if text.launch is None
        and text.text.split() == str(judge_rows()[text.row_id]["cuda_plain"]).split()
    ]
    assert not same


def test_every_head_of_a_file_is_read() -> None:
    files = list(FOLDER.glob("*/*.cu"))
    heads = sum(path.read_text().count("//===") for path in files)
    assert heads == sum(len(read_texts(path.read_text(), path.stem)) for path in files) > 0


def test_a_head_is_taken_apart() -> None:
    head = '//=== name | row | {"grid": ["n | 1"], "block": [32]} | why it is wrong\n'
    (first, second) = read_texts(head + "a\n\nb\n//=== other | row | - | so\n\nc\n", "kind")
    assert first.launch == {"grid": ["n | 1"], "block": [32]}
    assert (first.name, first.kind, first.row_id) == ("name", "kind", "row")
    assert (first.text, first.why) == ("a\n\nb\n", "why it is wrong")
    assert (second.launch, second.text) == (None, "c\n")


@pytest.mark.parametrize(
    "content", ["text\n//=== a | b | - | c\n", "//=== a | b | c\n", "//=== a | b | {x} | c\n"]
)
def test_a_bad_head_is_refused(content: str) -> None:
    with pytest.raises(ValueError, match="kind: "):
        read_texts(content, "kind")


def test_what_nvrtc_says_is_noted_for_every_wrong_text() -> None:
    lines = (FOLDER / "wrong" / "nvrtc.tsv").read_text().splitlines()
    noted = {(kind, name): word for kind, name, word, *_ in (line.split("\t") for line in lines)}
    assert noted.keys() == {(text.kind, text.name) for text in wrong_texts()}
    assert set(noted.values()) <= {"compiles", "refused", "unlinked", "endless", "unreadable"}
