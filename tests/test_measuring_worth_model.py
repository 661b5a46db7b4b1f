"""scripts/measure/training/model.py and train.py, where torch is installed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scripts.measure.training.answers import Draw, answers  # noqa: E402
from scripts.measure.training.model import PARTS, Transformer  # noqa: E402
from scripts.measure.training.muon import Muon, orthogonal  # noqa: E402
from scripts.measure.training.plan import STAYS, Plan, rate_at  # noqa: E402
from scripts.measure.training.tokens import (  # noqa: E402
    ANSWER,
    END,
    QUESTION,
    Documents,
    Part,
    conversation_of,
)
from scripts.measure.training.train import Training, batch_of  # noqa: E402

VOCABULARY, CONTEXT = 40, 70


@pytest.fixture(scope="module", params=[(), PARTS], ids=["plain", "all parts"])
def model(request: pytest.FixtureRequest) -> Transformer:
    torch.manual_seed(3)
    found = Transformer(VOCABULARY, 128, 3, CONTEXT, request.param).eval()
    for name, weight in found.named_parameters():
        # Weights of a model that says something: at the usual spread it repeats one token, and
        # some parts begin at zero.
        if weight.ndim > 1 and "gains" not in name:
            weight.data = 0.16 * torch.randn_like(weight)
        elif name.endswith("mix"):
            weight.data += 0.3 * torch.randn_like(weight)
    return found


def question(length: int, seed: int) -> np.ndarray:
    inner = np.random.default_rng(seed).integers(4, VOCABULARY, length)
    return np.array([QUESTION, *inner, ANSWER], np.uint16)


@torch.inference_mode()
def said_slowly(model: Transformer, asked: np.ndarray) -> list[int]:
    """Greedy, with the whole conversation read again for each token."""
    tokens = asked.tolist()
    while len(tokens) < model.context and tokens[-1] != END:
        last = model(torch.tensor([tokens]))[0, -1]
        tokens.append(int(model.scores(last).argmax()))
    return tokens[len(asked) :]


def test_answers_with_kept_keys_are_those_without(model: Transformer) -> None:
    asked = [question(length, length) for length in (1, 60, 7, 67, 30, 2)]
    found = answers(model, asked)
    assert found == [said_slowly(model, one) for one in asked]
    assert len({token for one in found for token in one}) > 5
    assert all(
        len(a) + len(q) == CONTEXT or a[-1] == END for q, a in zip(asked, found, strict=True)
    )


def test_answers_do_not_depend_on_who_is_asked_beside(model: Transformer) -> None:
    asked = [question(length, length) for length in (5, 50, 25)]
    assert answers(model, asked) == [answers(model, [one])[0] for one in asked]


def test_no_answer_is_longer_than_asked(model: Transformer) -> None:
    asked = [question(length, length) for length in (1, 60, 7, 30)]
    whole, short = answers(model, asked), answers(model, asked, 9)
    assert short == [one[:9] for one in whole]
    assert max(map(len, whole)) > 9


def test_tokens_are_drawn_by_their_chances() -> None:
    chances = torch.tensor([0.5, 0.3, 0.2])
    scores = chances.log().expand(6000, 3)
    drawn = Draw(1.0, torch.Generator().manual_seed(1))(scores)
    found = torch.bincount(drawn, minlength=3) / 6000
    assert torch.allclose(found, chances, atol=0.03)
    cold = torch.bincount(Draw(0.5, torch.Generator().manual_seed(1))(scores), minlength=3) / 6000
    assert torch.allclose(cold, chances**2 / (chances**2).sum(), atol=0.03)


def test_a_conversation_of_two_turns_is_learnt_by_its_last_answer() -> None:
    part = Part()
    part.add(conversation_of([5], [6, 7], [8], [9]))
    documents = Documents(**part.arrays())
    first = [QUESTION, 5, ANSWER, 6, 7, END, QUESTION, 8, ANSWER]
    assert documents.question(0).tolist() == first == conversation_of([5], [6, 7], [8]).tolist()
    assert batch_of(documents, np.array([0]), 64, torch.device("cpu")).wanted.tolist() == [9, END]


def test_the_answer_alone_is_learnt_and_padding_counts_for_nothing() -> None:
    part = Part()
    part.add(conversation_of([5, 6, 7], [8, 9]))
    part.add(conversation_of([10], [11]))
    documents = Documents(**part.arrays())
    batch = batch_of(documents, np.array([0, 1]), 64, torch.device("cpu"))
    assert batch.wanted.tolist() == [8, 9, END, 11, END]
    flat = batch.tokens.flatten()
    assert flat[batch.before].tolist() == [ANSWER, 8, 9, ANSWER, 11]
    assert flat[batch.before + 1].tolist() == batch.wanted.tolist()


def to_copy() -> Documents:
    """Conversations whose answers are their questions."""
    part = Part()
    draw = np.random.default_rng(0)
    for _ in range(64):
        word = draw.integers(4, 12, draw.integers(1, 6)).tolist()
        part.add(conversation_of(word, word))
    return Documents(**part.arrays())


def test_a_small_model_learns_to_copy() -> None:
    documents = to_copy()
    plan = Plan(
        steps=150, width=64, layers=2, batch_tokens=2048, learning_rate=3e-3, compiled=False
    )
    training = Training(documents, 12, 16, plan)
    training.run()
    assert training.steps == 150
    losses = [told["loss"] for told in training.told]
    assert losses[0] > 2 > 0.5 > losses[-1]
    some = [documents.question(at) for at in range(20)]
    right = sum(
        documents[at].tolist() == [*some[at], *said]
        for at, said in enumerate(answers(training.model, some))
    )
    assert right > 15
    assert answers(training.model, some) == [said_slowly(training.model, one) for one in some]


def test_it_learns_to_copy_in_fewer_steps_with_all_parts_and_muon() -> None:
    documents = to_copy()
    known = {"steps": 80, "width": 64, "layers": 2, "batch_tokens": 2048, "compiled": False}
    beside = {"parts": ",".join(PARTS), "matrix_rate": 0.02, "schedule": STAYS}
    plain, better = (
        Training(documents, 12, 16, Plan(**known, learning_rate=3e-3, **more))
        for more in ({}, beside)
    )
    for training in (plain, better):
        training.run()
    found = [np.mean([one["loss"] for one in run.told[-3:]]) for run in (better, plain)]
    assert 2 * found[0] < found[1]
    some = [documents.question(at) for at in range(20)]
    assert answers(better.model, some) == [said_slowly(better.model, one) for one in some]
    again = Training(documents, 12, 16, better.plan)
    again.run()
    assert again.told == better.told


def test_what_a_question_says_counts_for_little() -> None:
    part = Part()
    part.add(conversation_of([5, 6], [8]))
    batch = batch_of(Documents(**part.arrays()), np.array([0]), 64, torch.device("cpu"), 0.25)
    assert batch.wanted.tolist() == [5, 6, ANSWER, 8, END]
    assert batch.counts.tolist() == [0.25, 0.25, 0.25, 1, 1]
    assert batch.tokens.flatten()[batch.before + 1].tolist() == batch.wanted.tolist()


def test_singular_values_come_near_one() -> None:
    torch.manual_seed(0)
    given = torch.randn(3, 8, 20)
    found = orthogonal(given)
    assert float(torch.linalg.svdvals(found).min()) > 0.6
    assert float(torch.linalg.svdvals(found).max()) < 1.3
    u, _, v = torch.linalg.svd(given, full_matrices=False)
    assert torch.nn.functional.cosine_similarity(found.flatten(), (u @ v).flatten(), 0) > 0.95


def test_matrices_one_above_the_other_step_each_by_itself() -> None:
    torch.manual_seed(0)
    halves = [torch.randn(8, 6, requires_grad=True) for _ in range(2)]
    whole = torch.cat([half.detach() for half in halves]).requires_grad_()
    apart, together = Muon(halves, [1, 1], 0.1), Muon([whole], [2], 0.1)
    for _ in range(3):
        for weight in (*halves, whole):
            weight.grad = weight.detach() ** 3
        apart.step(0.1)
        together.step(0.1)
    assert torch.allclose(torch.cat(halves), whole)


def test_rates_stay_and_fall_to_nothing() -> None:
    rates = [rate_at(share, 2.0, STAYS) for share in (0.0, 0.01, 0.02, 0.4, 0.7, 1.0)]
    assert rates == pytest.approx([0, 1, 2, 2, 1, 0])


def test_rates_rise_and_fall() -> None:
    rates = [rate_at(share, 1.0) for share in (0.0, 0.01, 0.02, 0.5, 1.0)]
    assert rates[0] == 0
    assert rates[0] < rates[1] < rates[2] > rates[3] > rates[4] == pytest.approx(0.05)
