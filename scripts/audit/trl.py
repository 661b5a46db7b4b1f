"""Hand every view of a dataset to TRL's SFTTrainer as it is, and take one step.

Run: python scripts/audit/trl.py OUT [--rows N]. Needs torch and trl. OUT is a folder, or USER/NAME
on the Hub. The model is a tiny Llama of random weights and the tokenizer is trained on the spot, so
that nothing is fetched: what is shown is that the trainer accepts the columns, applies a chat
template, and finds an answer to learn.
"""

from __future__ import annotations

import argparse
import tempfile

from datasets import Dataset, get_dataset_config_names, load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

SPECIAL = ["<pad>", "<start>", "<end>"]
TEMPLATE = (
    "{% for m in messages %}<start>{{ m['role'] }}\n"
    "{% if m['role'] == 'assistant' %}{% generation %}{{ m['content'] }}<end>{% endgeneration %}"
    "{% else %}{{ m['content'] }}<end>{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}<start>assistant\n{% endif %}"
)


def tokenizer_of(rows: Dataset) -> PreTrainedTokenizerFast:
    """A byte-pair tokenizer of 2,000 tokens with a chat template."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    texts = (message["content"] for row in rows for message in row["messages"])
    tokenizer.train_from_iterator(texts, trainer)
    found = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<start>", eos_token="<end>"
    )
    found.chat_template = TEMPLATE
    return found


def main() -> None:
    """Check each view."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--rows", type=int, default=64, help="rows of each view")
    asked = parser.parse_args()
    views = [name for name in get_dataset_config_names(asked.out) if name != "default"]
    first = load_dataset(asked.out, views[0], split="train")
    tokenizer = tokenizer_of(first.select(range(min(200, len(first)))))
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    config = LlamaConfig(vocab_size=len(tokenizer), num_attention_heads=2, **shape)
    for view in views:
        rows = load_dataset(asked.out, view, split="train")
        rows = rows.select(range(min(asked.rows, len(rows))))
        with tempfile.TemporaryDirectory() as folder:
            trainer = SFTTrainer(
                model=LlamaForCausalLM(config),
                args=SFTConfig(
                    output_dir=folder,
                    max_length=2048,
                    max_steps=1,
                    per_device_train_batch_size=2,
                    assistant_only_loss=True,
                    report_to="none",
                    use_cpu=True,
                ),
                train_dataset=rows,
                processing_class=tokenizer,
            )
            prepared = trainer.train_dataset[0]
            labels = trainer.data_collator([prepared])["labels"][0]
            loss = trainer.train().training_loss
        answer = int((labels >= 0).sum())
        print(
            f"{view}: {len(rows)} rows taken, first has {len(prepared['input_ids'])} tokens, ",
            end="",
        )
        print(f"{answer} of the answer; loss of one step {loss:.3f}")
        if not answer or not loss > 0:
            raise SystemExit(f"{view}: nothing to learn")


if __name__ == "__main__":
    main()
