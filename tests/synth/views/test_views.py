"""Training views: conversations that load by name, and wrong kernels that are wrong."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from datasets import Dataset, load_dataset
from kills import killed_at, worth_killing_at
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from synth.card.page import write_card
from synth.cli.main import main
from synth.dataset.files import sha256_of
from synth.dataset.manifest import Manifest, read_manifest
from synth.dataset.settings import make_settings
from synth.dataset.stored import stored_rows
from synth.dataset.views_index import SPANNED, stored_views, views_of
from synth.errors import SettingsError
from synth.run.generate import generate
from synth.views.causes import LIMITS
from synth.views.diagnosis import WHY, diagnosis, explained, launch_diagnosis
from synth.views.evidence import _got
from synth.views.file import Bounds
from synth.views.layout import choice_of
from synth.views.make import make_views
from synth.views.plain import is_free, wanted
from synth.views.promise import promise_clause
from synth.views.repair import HIDDEN_SEED, _may_run_wild
from synth.views.sizes import regime_clause
from synth.views.slower import LEAST_GAIN_US, LEAST_RATIO
from synth.views.spans import KINDS, spans_of
from synth.views.texts import VIEW_NAMES
from synth.views.tidy import tidied
from synth.views.wrong import NOBODY_WRITES
from validate.mutants.breaks import BREAKS, plain_breaks
from validate.mutants.launches import LAUNCH_OPERATORS, launch_mutants
from validate.mutants.plain.draw import OPERATORS
from validate.mutants.warp.draw import Mutant
from validate.nvrtc.compiler import CompileRunner
from validate.score.scorer import Answer, Scorer

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"
ROWS = {row["id"]: row for _, row in stored_rows(SAMPLES)}


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples with all views."""
    folder = tmp_path_factory.mktemp("views") / "data"
    shutil.copytree(SAMPLES, folder)
    make_views(folder)
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SAMPLES, tmp_path / "data"))


@pytest.fixture(scope="module")
def loaded(out: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dataset]:
    """All rows of each view, as `datasets` loads them by name."""
    cache = str(tmp_path_factory.mktemp("cache"))
    found = {}
    for name in VIEW_NAMES:
        splits = load_dataset(str(out), name, cache_dir=cache)
        found[name] = [dict(row, split=split) for split in splits for row in splits[split]]
    return found


def manifest_of(out: Path) -> Manifest:
    found = read_manifest(out)
    assert found is not None
    return found


def files_of(out: Path) -> dict[str, str]:
    return {p.relative_to(out).as_posix(): sha256_of(p) for p in out.rglob("*.parquet")}


def messages_of(row: dict[str, Any]) -> list[dict[str, str]]:
    """All messages of a row of a view, in order."""
    if "messages" in row:
        return list(row["messages"])
    return [message for name in ("prompt", "chosen", "rejected") for message in row[name]]


@pytest.mark.parametrize("name", VIEW_NAMES)
def test_a_view_is_in_the_form_that_trainers_take(name: str, loaded: dict[str, Any]) -> None:
    """TRL's "conversational language modelling": `messages` of `role` and `content`; its
    "conversational preference" of an explicit prompt: three such lists."""
    assert loaded[name]
    for row in loaded[name]:
        messages = messages_of(row)
        turns = len(messages) // 2 if name != "preference" else 1
        if name == "preference":
            assert [m["role"] for m in messages] == ["user", "assistant", "assistant"]
            assert messages[1] != messages[2]
        else:
            assert [m["role"] for m in messages] == ["user", "assistant"] * turns
        assert turns == 1 or name == "repair"
        assert all(set(message) == {"role", "content"} for message in messages)
        assert all(message["content"].strip() for message in messages)
        assert row["chars"] == sum(len(message["content"]) for message in messages)


@pytest.mark.parametrize("name", VIEW_NAMES)
def test_rows_stay_in_their_splits(name: str, loaded: dict[str, Any]) -> None:
    splits = {row["id"]: split for split, row in stored_rows(SAMPLES)}
    assert all(splits[row["id"]] == row["split"] for row in loaded[name])
    assert len({row["id"] for row in loaded[name]}) == len(loaded[name])


QUESTION_AND_ANSWER = {
    "sft": ("python", "cuda_plain"),
    "plain_python": ("reference", "cuda_plain"),
    "array": ("array_python", "cuda_plain"),
    "words": ("description", "cuda_plain"),
    "warp": ("python", "cuda_forward"),
    "adjoint": ("cuda_forward", "cuda_backward"),
    "reverse": ("cuda_plain", "python"),
    "repair": ("python", "cuda_plain"),
    "gradient": ("cuda_plain", "cuda_plain_backward"),
    "wrong_adjoints": ("cuda_forward", "cuda_plain_backward"),
}


@pytest.mark.parametrize("name", QUESTION_AND_ANSWER)
def test_texts_are_those_of_the_row(name: str, loaded: dict[str, Any]) -> None:
    asked, answered = QUESTION_AND_ANSWER[name]
    for row in loaded[name]:
        *earlier, answer = (message["content"] for message in row["messages"])
        question, stored = "\n".join(earlier), ROWS[row["id"]]
        assert stored[asked].strip("\n") in question
        assert stored[answered].strip("\n") in answer
        if not row.get("wrong_launch"):
            assert stored[answered].strip("\n") not in question


def test_answers_of_the_view_renamed_pass(loaded: dict[str, Any]) -> None:
    """Under other names, in order of the parameters, they do what the row's kernel does."""
    assert {row["id"] for row in loaded["renamed"]} == {row["id"] for row in loaded["sft"]}
    answers = []
    for row in loaded["renamed"]:
        (cuda,) = re.findall(r"```cuda\n(.*?)```", row["messages"][1]["content"], re.DOTALL)
        answers.append(Answer(cuda, ROWS[row["id"]]))
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        verdicts = scorer.score_batch(answers)
    assert all(verdict.passed for verdict in verdicts)


def test_a_question_says_what_its_answer_depends_on(loaded: dict[str, Any]) -> None:
    for row in loaded["sft"]:
        stored, question = ROWS[row["id"]], row["messages"][0]["content"]
        for arg in stored["plain_args"]:
            assert f"{arg['type']} {arg['name']}" in question
        block = " x ".join(map(str, stored["plain_launch"][0]["block"]))
        asked = f"blocks of {block} threads" in question
        assert asked != is_free(stored)
        if asked and "grid_stride" in stored["schedule"]:
            assert "grid-stride" in question


def test_half_of_the_questions_leave_the_layout_to_the_answer() -> None:
    # It follows from the id alone: under ten ids each, so that it says more than 30 tosses.
    asked = [{**row, "id": f"{n}{row['id'][1:]}"} for row in ROWS.values() for n in range(10)]
    assert 0.4 < sum(map(is_free, asked)) / len(asked) < 0.6


@pytest.mark.parametrize("name", ["sft", "plain_python", "array", "words", "optimise"])
def test_a_question_says_what_sizes_its_answer_is_for(name: str, loaded: dict[str, Any]) -> None:
    limits = set()
    for row in loaded[name]:
        stored, (question, answer) = ROWS[row["id"]], (m["content"] for m in row["messages"])
        (said,) = re.findall(r"In use `.*?\.(?=\s|$)", question)
        assert said.count("`") == 2 * len(stored["regime"])
        told, code, _launch = re.split(r"```cuda|```json", answer)
        limits |= {words for words in LIMITS.values() if words in told}
        assert re.search(r"µs (?:by|that) a cost model of the NVIDIA H200|H200 gives", told)
        assert 2 <= len(re.findall(r"[.:](?=\s)", told)) <= 9
        assert "µs" not in code
    assert len(limits) >= 2


def test_an_answer_is_judged_by_what_it_says_of_its_launch(loaded: dict[str, Any]) -> None:
    """Whole answers pass, in place of their code alone; rejected ones that are right do as well."""
    preferred = [row for row in loaded["preference"] if row["ratio"]]
    texts = [(row, row["messages"][1]["content"]) for row in loaded["words"][::3]]
    texts += [
        (row, row[kind][0]["content"]) for row in preferred for kind in ("chosen", "rejected")
    ]
    answers = [Answer(text, ROWS[row["id"]]) for row, text in texts]
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        verdicts = scorer.score_batch(answers)
    assert all(verdict.passed for verdict in verdicts)


def test_what_is_slower_is_predicted_and_what_is_rejected_is_worse(loaded: dict[str, Any]) -> None:
    for row in loaded["optimise"]:
        assert row["ratio"] >= LEAST_RATIO
        assert row["time"] == "predicted"
        assert row["slow"].strip("\n") in row["messages"][0]["content"]
        told = row["messages"][1]["content"].partition("```")[0]
        slow_us = re.findall(r"the kernel given \([^)]*\) takes ([\d.,]+) µs by the model: ", told)
        own_us = choice_of(ROWS[row["id"]]).own.prediction.time_us
        assert len(slow_us) == 1
        slow = float(slow_us[0].replace(",", ""))
        assert slow == pytest.approx(row["ratio"] * own_us, rel=0.01)
        assert slow - own_us >= 0.99 * LEAST_GAIN_US
    for row in loaded["preference"]:
        is_for_speed = "as fast as you can" in row["prompt"][0]["content"]
        assert is_for_speed == (row["ratio"] is not None)
    kinds = {(row["failure"] is None, row["ratio"] is None) for row in loaded["preference"]}
    assert kinds == {(True, False), (False, True)}
    for row in loaded["preference"]:
        if row["failure"] not in (None, "compile_error"):
            rejected = Answer(row["rejected"][0]["content"], ROWS[row["id"]])
            break
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        (verdict,) = scorer.score_batch([rejected])
    assert verdict.status == row["failure"]


def test_answers_without_reasons_begin_with_their_code(copy: Path) -> None:
    make_views(copy, ["sft"], bounds=Bounds(reasons=False))
    splits = load_dataset(str(copy), "sft", cache_dir=str(copy.parent / "cache"))
    for split in splits.values():
        assert all(row["messages"][1]["content"].startswith("```cuda\n") for row in split)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("a = 1;\nb = 2;\nc = a - b;", "In line 3, `c = a - b;` should be `c = a + b;`."),
        ("a = 1;\nc = a + b;", "`b = 2;` is missing before line 2."),
        ("a = 1;\nb = 2;\nb = 3;\nc = a + b;", "`b = 3;` in line 3 does not belong there."),
        ("a = 1;\nb = 2;\nc = a + b;", ""),
    ],
)
def test_a_diagnosis_quotes_what_differs(wrong: str, told: str) -> None:
    assert diagnosis(wrong, "a = 1;\nb = 2;\nc = a + b;") == told


@pytest.mark.parametrize(
    ("spans", "words"),
    [
        ([("n", 2_000_000, 20_000_000)], "In use `n` is 2 to 20 million."),
        ([("n", 300_000, 3_000_000)], "In use `n` is 300,000 to 3 million."),
        (
            [("n", 30_000, 300_000), ("k", 64, 512)],
            "In use `n` is 30,000 to 300,000, `k` 64 to 512.",
        ),
        ([("n", 3, 3)], "In use `n` is 3."),
        ([], ""),
        (None, ""),
    ],
)
def test_the_regime_in_words(spans: list[tuple[str, int, int]] | None, words: str) -> None:
    keys = ("symbol", "low", "high")
    regime = None if spans is None else [dict(zip(keys, s, strict=True)) for s in spans]
    assert regime_clause({"plain_args": [], "args": [], "regime": regime}) == words


def test_instructions_are_phrased_in_several_ways(loaded: dict[str, Any]) -> None:
    first = {row["messages"][0]["content"].split(". ")[0] for row in loaded["sft"]}
    assert len(first) >= 6


def test_adjoints_that_do_not_agree_are_left_out(out: Path, loaded: dict[str, Any]) -> None:
    agree = {row_id for row_id, row in ROWS.items() if row["checks"]["adjoint"] == "agrees"}
    assert {row["id"] for row in loaded["adjoint"]} == agree
    views = stored_views(out)
    assert views is not None
    assert sum(views.views["adjoint"].left_out.values()) == len(ROWS) - len(agree)


def is_explained(fault: str, told: str) -> bool:
    """Whether it is said why a fault is one: by its kind, or by the place in which it is."""
    if WHY[fault] in told.lower():
        return True
    another = "the index then is that of another"
    at_places = {
        "index_shifted": r"counts? there, and not|blocks start as many threads apart",
        "operator_swapped": another,
        "term_dropped": f"{another}|the same elements then|one element apart|the first one does",
        "branch_removed": "go on|are done as well|goes on where",
        "loop_bound_moved": "begins one late|a turn before its first",
    }
    return fault in at_places and re.search(at_places[fault], told) is not None


def test_wrong_kernels_fail_and_right_ones_pass(loaded: dict[str, Any]) -> None:
    rows = loaded["repair"]
    refused = [row for row in rows if row["failure"] == "compile_error"]
    caught = [row for row in rows if row["failure"] != "compile_error"]
    assert len(refused) >= 3
    assert len(caught) >= 15
    with CompileRunner() as compiler:
        texts = [{**ROWS[row["id"]], "cuda_plain": row["wrong"]} for row in refused]
        results = compiler.compile_plain(texts)
        right = compiler.compile_plain([ROWS[row["id"]] for row in refused])
    assert {result.status for result in results} == {"compile_error"}
    assert {result.status for result in right} == {"compiles"}
    with Scorer(hidden_seed=HIDDEN_SEED) as scorer:
        wrong = scorer.score_batch(
            [Answer(row["wrong"], ROWS[row["id"]], wrong_launches(row)) for row in caught]
        )
        right = scorer.score_batch(
            [Answer(ROWS[row["id"]]["cuda_plain"], ROWS[row["id"]]) for row in rows]
        )
    assert [verdict.status for verdict in wrong] == [row["failure"] for row in caught]
    assert all(verdict.passed for verdict in right)
    for row in rows:
        assert (
            row["wrong"].strip("\n") in row["messages"][-3 if row["messages"][2:] else 0]["content"]
        )
        assert (len(row["messages"]) == 6) == (row["first_fault"] is not None)
    assert {len(row["messages"]) for row in rows} == {2, 4, 6}
    for row in rows:
        assert is_explained(row["fault"], row["messages"][-1]["content"].partition("```")[0])
        if row["first_fault"] is not None:
            assert is_explained(row["first_fault"], row["messages"][3]["content"])
        if row["wrong_launch"]:
            assert "In the launch" in row["messages"][-1]["content"]


def test_every_fault_that_a_repair_may_have_is_explained() -> None:
    assert set(WHY) == {*OPERATORS, *LAUNCH_OPERATORS, *BREAKS} - {*NOBODY_WRITES}
    assert (
        explained("`a` should be `b`.", "made_const") == "`a` should be `b`: it is changed later."
    )
    assert explained("One. Two.", "made_const") == "One. Two. It is changed later."
    assert explained("", "made_const") == ""


def wrong_launches(row: dict[str, Any]) -> dict[str, Any] | None:
    """What a repair of a launch has in place of the row's own launches."""
    if row["wrong_launch"] is None:
        return None
    scratch = ROWS[row["id"]]["plain_scratch"]
    return {"launches": json.loads(row["wrong_launch"]), "scratch": scratch}


def test_launches_are_got_wrong_as_people_do() -> None:
    launch = {
        **{"kernel": "k", "args": ["x", "n", "m"], "shared_bytes": "4 * n"},
        **{"grid": ["(n * m + 255) / 256", "(m + 7) / 8"], "block": [32, 8]},
    }
    found: dict[str, list[dict[str, Any]]] = {}
    for name, (changed, other) in launch_mutants({"plain_launch": [launch, launch]}):
        if other == launch:
            found.setdefault(name, []).append(changed)
    assert [one["grid"] for one in found["grid_rounded_down"]] == [
        ["(n * m) / 256", "(m + 7) / 8"],
        ["(n * m + 255) / 256", "m / 8"],
    ]
    assert [one["block"] for one in found["block_halved"]] == [[16, 8], [32, 4]]
    assert [one["block"] for one in found["block_doubled"]] == [[64, 8]]
    assert found["grid_axes_swapped"][0]["grid"] == launch["grid"][::-1]
    assert found["shared_bytes_left_out"][0]["shared_bytes"] == 0
    assert set(found) == set(LAUNCH_OPERATORS)
    said = launch_diagnosis([found["grid_rounded_down"][1]], [launch], {"m": "width"})
    assert said == (
        'In the launch, `grid` should be `["(n * width + 255) / 256", "(width + 7) / 8"]` and not '
        '`["(n * width + 255) / 256", "width / 8"]`.'
    )


def _mutant(before: str, after: str) -> Mutant:
    return Mutant("any", 2, "cuda_plain", before, after, f"{{\n{after}\n}}")


@pytest.mark.parametrize(
    ("written", "tidy"),
    [
        ("const int i = (blockIdx.x * blockDim.x);", "const int i = blockIdx.x * blockDim.x;"),
        ("x = (a) + b;", "x = a + b;"),
        ("x = lines % ((j + 1));", "x = lines % (j + 1);"),
        ("(*(&y[i * n + j])) = (*(&y[i * n + j])) + (v);", "y[i * n + j] += v;"),
        ("atomicAdd(&y[i], -(v));", "atomicAdd(&y[i], -v);"),
        ("x = (float)i * (a + b);", "x = (float)i * (a + b);"),
        ("if (i >= n) {", "if (i >= n) {"),
        ("x = f(a) - (b - c);", "x = f(a) - (b - c);"),
        ("y = ((a + b) * c);", "y = (a + b) * c;"),
        ("z = (a + b) == (c + d);", "z = (a + b) == (c + d);"),
    ],
)
def test_wrong_texts_have_no_brackets_for_nothing(written: str, tidy: str) -> None:
    assert tidied(_mutant("", written)) == f"{{\n{tidy}\n}}"


def test_a_guard_that_never_holds_is_left_out() -> None:
    never = _mutant("if (i >= n) {", "if (false) {\n    return;\n}\ny[i] = 1;")
    assert tidied(never) == "{\ny[i] = 1;\n}"
    assert tidied(_mutant("if (a) {", "if (true) {\nb = 1;\n}")) is None


def test_right_texts_are_tidy() -> None:
    for row in ROWS.values():
        for number, line in enumerate((row["cuda_plain"] or "").split("\n"), 1):
            text = "\n" * (number - 1) + line
            assert tidied(Mutant("any", number, "cuda_plain", line, line, text)) == text


def test_what_a_compiler_is_to_refuse_it_refuses() -> None:
    rows = list(ROWS.values())
    one_of_each = [
        (row, next((b for b in plain_breaks(row) if b.operator == kind), None))
        for row in rows[::4]
        for kind in BREAKS
    ]
    tried = [(row, found) for row, found in one_of_each if found is not None]
    assert {found.operator for _, found in tried} == set(BREAKS)
    with CompileRunner() as compiler:
        results = compiler.compile_plain([{**row, "cuda_plain": b.text} for row, b in tried])
    assert sum(result.status == "compile_error" for result in results) >= 0.9 * len(tried)


def test_the_card_lists_views_with_their_lengths(out: Path) -> None:
    text = (out / "README.md").read_text()
    views = stored_views(out)
    assert views is not None
    assert tuple(views.views) == VIEW_NAMES
    write_card(out, manifest_of(out), views)
    assert (out / "README.md").read_text() == text
    for name, view in views.views.items():
        low, middle, high, most = view.lengths["chars"]
        assert low <= middle <= high <= most
        assert f"| `{name}` | {view.rows:,} | {middle:,} | {high:,} | {most:,} |" in text
    assert "Answers of `warp` and `adjoint` are what Warp's code generator prints" in text
    assert "`sft`, `plain_python`, `array`, `words` and `renamed` have the same plain CUDA" in text


def test_the_card_gives_no_advice_on_views_that_are_not_there(copy: Path) -> None:
    make_views(copy, ["sft", "reverse"])
    text = (copy / "README.md").read_text()
    assert "Machine text" not in text
    assert "One answer, several questions" not in text


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator([row["python"] for row in ROWS.values()], trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return str(path)


def test_bounds_leave_long_rows_out_and_count_them(copy: Path, tokenizer: str) -> None:
    whole = make_views(copy, ["sft"], bounds=Bounds(tokenizer=tokenizer)).views["sft"]
    most_chars, most_tokens = whole.lengths["chars"][1], whole.lengths["tokens"][1]
    bounds = Bounds(most_chars, tokenizer, most_tokens)
    view = make_views(copy, ["sft"], bounds=bounds).views["sft"]
    assert 0 < view.rows < whole.rows
    rows = whole.rows + sum(whole.left_out.values())
    assert view.rows + sum(view.left_out.values()) == rows
    splits = load_dataset(str(copy), "sft", cache_dir=str(copy.parent / "cache"))
    counter = Tokenizer.from_file(tokenizer)
    for split in splits.values():
        for row in split:
            texts = [message["content"] for message in row["messages"]]
            assert sum(map(len, texts)) <= most_chars
            tokens = sum(len(counter.encode(text).ids) for text in texts)
            assert tokens == row["tokens"] <= most_tokens


def test_bytes_do_not_depend_on_workers_or_kills(copy: Path, tmp_path: Path) -> None:
    make_views(copy, ["sft", "warp"])
    expected = files_of(copy / "views")
    whole = shutil.copytree(SAMPLES, tmp_path / "whole")
    numbers = worth_killing_at(partial(make_views, whole, ["sft", "warp"]), whole)
    for number in numbers:
        again = shutil.copytree(SAMPLES, tmp_path / f"killed{number}")
        assert killed_at(number, partial(make_views, again, ["sft", "warp"]))
        make_views(again, ["sft", "warp"], workers=2 if number == numbers[1] else 1)
        assert files_of(again / "views") == expected
        assert (again / "README.md").read_bytes() == (copy / "README.md").read_bytes()
        assert not (again / ".views").exists()
    assert len(numbers) > 7


@pytest.fixture
def growing(tmp_path: Path) -> Path:
    folder = tmp_path / "grow"
    generate(make_settings(verify="text"), 24, folder, shard_size=8)
    return folder


def test_views_of_rows_that_have_grown_are_not_shown_and_what_stays_is_kept(growing: Path) -> None:
    make_views(growing, ["sft", "reverse"])
    before = {p: p.stat().st_mtime_ns for p in (growing / "views" / "sft").iterdir()}
    generate(make_settings(verify="text"), 36, growing, shard_size=8)
    assert views_of(growing, manifest_of(growing)) is None
    assert "config_name: sft" not in (growing / "README.md").read_text()
    view = make_views(growing, ["sft"]).views["sft"]
    assert view.rows + sum(view.left_out.values()) == 36
    assert not (growing / "views" / "reverse").exists()
    kept = [path for path, time_ns in before.items() if path.stat().st_mtime_ns == time_ns]
    assert 0 < len(kept) < len(list((growing / "views" / "sft").iterdir()))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--view", "sfr"], "unknown view 'sfr'; known are: sft"),
        (["--max-chars", "0"], "--max-chars is 0"),
        (["--max-tokens", "5"], "--max-tokens needs --tokenizer"),
        (["--tokenizer", "/no/such/file.json"], "give a tokenizer.json or a name on the Hub"),
        (["--workers", "0"], "'--workers': 0 is not in the range"),
    ],
)
def test_a_bad_request_gets_one_line(copy: Path, asked: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["training-views", str(copy), *asked, "--quiet"])
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().split("\n")) == 1


def test_a_folder_without_a_dataset_and_a_damaged_one_are_refused(copy: Path) -> None:
    with pytest.raises(SettingsError, match="holds no finished dataset"):
        make_views(copy / "train")
    with pytest.raises(SettingsError, match="holds no finished dataset"):
        make_views(copy / "nowhere")
    assert not (copy / "nowhere").exists()
    shard = copy / "test" / "shard-00000.parquet"
    shard.write_bytes(shard.read_bytes()[:-9])
    with pytest.raises(SettingsError, match="is not whole"):
        make_views(copy)


def test_a_damaged_index_is_named(copy: Path) -> None:
    make_views(copy, ["sft"])
    index = copy / "views" / "index.json"
    index.write_text(json.dumps({"views": 3}))
    with pytest.raises(SettingsError, match=r"delete .* and make the views again"):
        stored_views(copy)


def test_what_is_no_view_of_ours_is_left_alone(copy: Path) -> None:
    (copy / "views").write_text("mine")
    with pytest.raises(SettingsError, match="no views of ours: move it away"):
        make_views(copy, ["sft"])
    (copy / "views").unlink()
    (copy / "views").mkdir()
    (copy / "views" / "my-notes.md").write_text("mine")
    with pytest.raises(SettingsError, match="no views of ours: move it away"):
        make_views(copy, ["sft"])
    assert (copy / "views" / "my-notes.md").read_text() == "mine"


def test_tokens_follow_the_contents_of_a_tokenizer(copy: Path, tokenizer: str) -> None:
    path = copy.parent / "tokenizer.json"
    shutil.copy(tokenizer, path)
    bounds = Bounds(tokenizer=str(path))
    first = make_views(copy, ["sft"], bounds=bounds)
    plain = Tokenizer(models.BPE())
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    plain.train_from_iterator([""], trainers.BpeTrainer(initial_alphabet=alphabet))
    plain.save(str(path))
    second = make_views(copy, ["sft"], bounds=bounds)
    assert second.views["sft"].lengths["tokens"] > first.views["sft"].lengths["tokens"]
    assert str(copy.parent) not in (copy / "views" / "index.json").read_text()
    assert second.settings["tokenizer"] == "tokenizer.json"


def test_a_view_without_rows_says_why(copy: Path) -> None:
    result = CliRunner().invoke(
        main, ["training-views", str(copy), "--view", "sft", "--max-chars", "5", "--quiet"]
    )
    assert result.exit_code == 0
    reasons = re.search(r" 0 rows, (.*)$", result.stdout, re.MULTILINE)
    assert reasons
    assert "left out: too many characters" in reasons[1]
    assert sum(map(int, re.findall(r"\d+", reasons[1]))) == len(ROWS)
    card = (copy / "README.md").read_text()
    assert "config_name: sft" not in card
    loaded = load_dataset(str(copy), cache_dir=str(copy.parent / "cache"))["train"]
    assert loaded.num_rows == manifest_of(copy).counts["split"]["train"]


def test_a_damaged_file_is_made_again(copy: Path) -> None:
    make_views(copy, ["sft"])
    expected = files_of(copy / "views")
    file = copy / "views" / "sft" / "train-00000.parquet"
    whole = file.read_bytes()
    file.write_bytes(whole[:100] + bytes(60) + whole[160:])
    make_views(copy, ["sft"])
    assert files_of(copy / "views") == expected


def test_damaged_views_do_not_keep_rows_from_growing(growing: Path) -> None:
    make_views(growing, ["sft"])
    (growing / "views" / "index.json").write_text("{")
    generate(make_settings(verify="text"), 30, growing, shard_size=8)
    assert manifest_of(growing).rows == 30
    shutil.rmtree(growing / "views")
    make_views(growing, ["sft"])
    next((growing / "views" / "sft").iterdir()).unlink()
    (growing / "train" / "shard-00000.parquet").unlink()
    generate(make_settings(verify="text"), 30, growing, shard_size=8)
    assert "config_name: sft" not in (growing / "README.md").read_text()


def test_sizes_are_called_what_the_kernel_calls_them(loaded: dict[str, Any]) -> None:
    for row in (*loaded["sft"], *loaded["repair"]):
        stored = ROWS[row["id"]]
        *earlier, answer = (message["content"] for message in row["messages"])
        question = "\n".join(earlier)
        names = {arg["name"] for arg in stored["plain_args"]}
        said = json.loads(answer.rpartition("```json")[2].rpartition("```")[0])
        grids = [extent for one in said.get("launches", [said]) for extent in one["grid"]]
        for word in re.findall(r"[A-Za-z_]\w*", " ".join(grids)):
            assert word in names or re.search(rf"Shapes: .*\b{word}\b", question), row["id"]


def test_a_question_says_what_is_exact_and_what_indices_point_to() -> None:
    row = next(r for r in ROWS.values() if any(a["rtol"] is not None for a in r["args"]))
    real = next(a for a in row["args"] if a["rtol"] is not None)
    index = {**real, "name": "near", "role": "in", "rtol": None, "init": "index_of:cells"}
    whole = {**real, "name": "count", "role": "out", "rtol": None, "dtype": "int32"}
    told = promise_clause({**row, "args": [real, index, whole], "plain_args": []})
    assert "`near` in [0, `cells`)" in told
    assert f"`{real['name']}` within" in told
    assert told.endswith("; `count` exact.")


def test_structs_of_structs_are_declared() -> None:
    text = (
        "struct __align__(8) A {\n    float v;\n};\n\nstruct B {\n    A a;\n};\n\n"
        "struct C {\n    int n;\n};\n"
    )
    row = {**ROWS[next(iter(ROWS))], "cuda_plain": text}
    row["plain_args"] = [{"name": "b", "type": "const B*", "size": None}]
    asked = wanted(row)
    assert "`struct __align__(8) A { float v; };` and `struct B { A a; };`" in asked
    assert "struct C" not in asked


@pytest.mark.parametrize(
    ("got", "written_before", "said"),
    [
        (-1515870811, False, "is never written"),
        (-1515870811, True, "is -1515870811"),
        (float("nan"), False, "is nan, or never written"),
        (2.5, False, "is 2.5"),
        (True, False, "is True"),
    ],
)
def test_an_element_that_is_not_written_is_said_to_be_that(
    got: float, written_before: bool, said: str
) -> None:
    assert _got(got, written_before) == said


def test_texts_that_may_run_wild_are_not_used_for_what_they_read(loaded: dict[str, Any]) -> None:
    """A wild index is noticed, crashes or takes for ever, as memory lies; floats do not."""
    outside = [row for row in loaded["repair"] if "out_of_bounds" in row["failure"]]
    assert not [row["id"] for row in outside if _may_run_wild(ROWS[row["id"]])]
    assert [row for row in ROWS.values() if _may_run_wild(row)]
    assert [row for row in ROWS.values() if not _may_run_wild(row)]


def test_spans_are_where_the_code_is(loaded: dict[str, Any]) -> None:
    seen: set[str] = set()
    for name in SPANNED:
        for row in loaded[name]:
            answer = row["messages"][-1]["content"]
            for span in row["spans"]:
                text = answer[span["start"] : span["end"]]
                seen.add(span["kind"])
                around = answer[span["start"] - 1] + answer[span["end"]]
                assert text
                assert text.count("(") == text.count(")"), text
                if span["kind"] == "index":
                    assert around == "[]"
                elif span["kind"] == "bounds":
                    assert re.search("[<>]", text)
                else:
                    assert text.endswith(")")
                    assert text.startswith(("__sync", "atomic", "__"))
    assert seen == set(KINDS)
    assert all(row["spans"] for row in loaded["sft"])


def test_spans_leave_declarations_and_comments_out() -> None:
    code = """```cuda
// if (i < n) x[i]
__shared__ float tile[32][33];
    for (int k = 0; k < n; k += 2) {
        atomicAdd(&y[k + a[k]], tile[k][0]);
    }
    if (k == 3) __syncthreads();
```"""
    found = [(s["kind"], code[s["start"] : s["end"]]) for s in spans_of(code, ["n"])]
    assert found == [
        ("bounds", "k < n"),
        ("atomic", "atomicAdd(&y[k + a[k]], tile[k][0])"),
        *(("index", "k + a[k]"), ("index", "k"), ("index", "k"), ("index", "0")),
        ("barrier", "__syncthreads()"),
    ]
