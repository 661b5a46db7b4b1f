"""Try each adapter of `synth/loop/adapters/` with its package, where that is installed.

Run: PYTHONPATH=. python scripts/measure/frameworks/adapters.py [--path data/samples] [--size 3]

A toy model answers tasks rightly, wrongly and with prose; each adapter must give what the scorer
gives. Prints a line for each: version, rewards, seconds. Exit code 1 when one gives something else.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pairsmith
from synth.loop.rewards import row_of, shared_scorer
from synth.loop.tasks import Entry
from validate.score.scorer import Answer

ROOT = Path(__file__).resolve().parents[3]
PROSE = "I would write a kernel with a thread for each element."


def toy_answers(entries: Sequence[Entry]) -> list[str]:
    """A right answer, then a wrong one, then prose, and again."""
    kinds: list[Callable[[str], str]] = [
        lambda right: right,
        lambda right: right.replace("blockIdx.x", "7 + blockIdx.x"),
        lambda right: PROSE,
    ]
    return [kinds[at % 3](entry["answer"]) for at, entry in enumerate(entries)]


def scores(entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """What the scorer gives."""
    rows = [row_of(entry["metadata"]["row"]) for entry in entries]
    answers = [Answer(text, row) for text, row in zip(said, rows, strict=True)]
    return [float(verdict.passed) for verdict in shared_scorer().score_batch(answers)]


def try_trl(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """The reward as a trainer of TRL calls it, and the environment's tool."""
    from datasets import Dataset
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    from synth.loop.adapters import trl

    words = Tokenizer(models.WordLevel({"<pad>": 0, "<unk>": 1, "<eos>": 2}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", unk_token="<unk>", eos_token="<eos>"
    )
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    small = LlamaConfig(vocab_size=3, hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                        num_attention_heads=1, num_key_value_heads=1)  # fmt: skip
    rows = trl.rows(entries)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=LlamaForCausalLM(small),
            reward_funcs=trl.reward,
            processing_class=tokenizer,
            train_dataset=Dataset.from_list(rows),
            args=GRPOConfig(output_dir=folder, use_cpu=True, bf16=False, report_to="none",
                            num_generations=len(rows), per_device_train_batch_size=len(rows)),
        )  # fmt: skip
        prompts = [row["prompt"] for row in rows]
        completions = [[{"role": "assistant", "content": text}] for text in said]
        found = trainer._calculate_rewards(rows, prompts, completions, [[2]] * len(rows))
    environment = trl.KernelEnvironment()
    for row, text, reward in zip(rows, said, found[:, 0].tolist(), strict=True):
        environment.reset(**row)
        environment.submit(text)
        assert environment.get_reward() == reward
    return [float(value) for value in found[:, 0]]


def try_verl(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """`compute_score` as verl loads it from its file."""
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    from synth.loop.adapters import verl

    named = {"path": str(verl.__file__), "name": "compute_score"}
    loaded = get_custom_reward_fn(OmegaConf.create({"reward": {"custom_reward_function": named}}))
    return [
        loaded(
            data_source=row["data_source"],
            solution_str=text,
            ground_truth=row["reward_model"]["ground_truth"],
            extra_info=row["extra_info"],
        )["score"]
        for row, text in zip(verl.rows(entries), said, strict=True)
    ]


def try_reasoning_gym(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """A dataset by its name, drawn twice; and the entries above."""
    import reasoning_gym

    from synth.loop.adapters import reasoning_gym as ours

    assert ours.PairsmithDataset
    ds, again = (
        reasoning_gym.create_dataset("pairsmith", seed=3, size=4, verify="text") for _ in range(2)
    )
    assert list(ds) == list(again)
    assert ds.score_answer(ds[1]["answer"], ds[1]) == 1.0
    return [ds.score_answer(text, entry) for text, entry in zip(said, entries, strict=True)]


def try_verifiers(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """Tasks of a taskset, scored by their own rewards from traces."""
    import verifiers.v1 as vf
    from verifiers.v1.trace import AgentInfo, TraceTask
    from verifiers.v1.types import AssistantMessage

    from synth.loop.adapters import verifiers as ours

    taskset = ours.KernelTaskset(ours.KernelConfig(path=str(path)))
    assert taskset.bounded
    assert not ours.KernelTaskset(ours.KernelConfig(verify="text")).bounded
    drawn = list(ours.KernelTaskset(ours.KernelConfig(verify="text", seed=3)).take(2))
    assert [task.data.idx for task in drawn] == [0, 1]

    async def rewards() -> list[float]:
        found = []
        for task, text in zip(taskset.take(len(said)), said, strict=True):
            told = TraceTask(type=type(task).__name__, data=task.data)
            trace = vf.Trace(task=told, agent=AgentInfo(config=vf.AgentConfig()))
            message = AssistantMessage(content=text)
            trace.nodes.append(vf.MessageNode(message=message, sampled=True))
            await task.score(trace)
            found.append(trace.rewards["passed"].score)
        return found

    return asyncio.run(rewards())


def try_inspect_ai(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """An evaluation of a model that says what it is told to."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from synth.loop.adapters import inspect_ai as ours

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in said]
    for output in outputs:
        # Else its tokens are counted, by a tokenizer from the network.
        output.usage = ModelUsage()
    with tempfile.TemporaryDirectory() as folder:
        (log,) = evaluate(
            ours.kernels(str(path), size=len(said)),
            model=get_model("mockllm/model", custom_outputs=outputs),
            log_dir=folder,
            display="none",
            max_samples=1,
        )
        assert log.status == "success", log.error and log.error.message
        by_id = {sample.id: sample.scores["kernel_passes"].value for sample in log.samples}
    return [float(by_id[entry["metadata"]["id"]] == "C") for entry in entries]


def try_openenv(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """A session with the environment's server."""
    from openenv.core.env_server.http_server import create_app
    from starlette.testclient import TestClient

    from synth.loop.adapters import openenv as ours

    found = []
    app = create_app(
        lambda: ours.KernelEnvironment(path=str(path), turns=2),
        ours.KernelAction,
        ours.KernelObservation,
        env_name="pairsmith",
    )
    with TestClient(app) as client, client.websocket_connect("/ws") as session:
        for number, text in enumerate(said):
            session.send_json({"type": "reset", "data": {"seed": number}})
            put = session.receive_json()["data"]
            assert put["observation"]["text"] == entries[number]["question"]
            session.send_json({"type": "step", "data": {"cuda": text}})
            answered = session.receive_json()["data"]
            assert answered["done"] == (answered["reward"] == 1.0)
            found.append(float(answered["reward"]))
    return found


def try_nemo_gym(path: Path, entries: Sequence[Entry], said: Sequence[str]) -> list[float]:
    """Requests to the server's own application."""
    from unittest.mock import MagicMock

    from fastapi.testclient import TestClient
    from nemo_gym.server_utils import ServerClient

    from synth.loop.adapters import nemo_gym as ours

    config = ours.KernelConfig(host="127.0.0.1", port=8080, entrypoint="", name="pairsmith")
    # Judging asks no other server, so the client of those may be anything.
    server = ours.KernelServer(config=config, server_client=MagicMock(spec=ServerClient))
    found = []
    with TestClient(server.setup_webserver()) as client:
        for row, text in zip(ours.rows(entries), said, strict=True):
            part = {"type": "output_text", "text": text, "annotations": []}
            message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
            response = {
                **{"id": "r", "created_at": 0.0, "model": "toy", "object": "response"},
                **{"parallel_tool_calls": True, "tool_choice": "auto", "tools": []},
                "output": [{**message, "content": [part]}],
            }
            answered = client.post("/verify", json={**row, "response": response})
            answered.raise_for_status()
            found.append(float(answered.json()["reward"]))
    return found


TRIES = {
    "trl": try_trl,
    "verl": try_verl,
    "reasoning_gym": try_reasoning_gym,
    "verifiers": try_verifiers,
    "inspect_ai": try_inspect_ai,
    "openenv-core": try_openenv,
    "nemo-gym": try_nemo_gym,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--path", type=Path, default=ROOT / "data" / "samples")
    parser.add_argument("--size", type=int, default=3)
    parser.add_argument("--only", choices=sorted(TRIES))
    asked = parser.parse_args()
    entries = list(pairsmith.tasks("sft", path=asked.path, size=asked.size))
    said = toy_answers(entries)
    wanted, wrong = scores(entries, said), False
    print(f"{'scorer':16}{'':12}{wanted}")
    for name, attempt in TRIES.items():
        if asked.only not in (None, name):
            continue
        try:
            installed = version(name)
        except PackageNotFoundError:
            print(f"{name:16}not installed")
            continue
        began_s = time.monotonic()
        found = attempt(asked.path, entries, said)
        wrong |= found != wanted
        print(f"{name:16}{installed:12}{found} {time.monotonic() - began_s:.1f} s", flush=True)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
