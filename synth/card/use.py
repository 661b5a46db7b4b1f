"""How to compile rows of a dataset and how to train on it, for the card."""

from __future__ import annotations

from collections.abc import Collection

from synth.card.tables import views_table
from synth.dataset.views_index import Views
from validate.nvrtc.program import WARP_OPTIONS


def compile_section(name: str, split: str) -> str:
    """How to compile a row's texts; ``name`` is USER/NAME, ``split`` one that has rows."""
    options = ", ".join(f'"{option}"' for option in WARP_OPTIONS)
    return f"""## Compile a row

```python
from pathlib import Path

from datasets import load_dataset

row = load_dataset("{name}", split="{split}")[0]
Path("plain.cu").write_text(row["cuda_plain"])
parts = ("cuda_prologue", "cuda_helpers", "cuda_forward", "cuda_backward")
text = "".join(row[part] or "" for part in parts)
```

Plain CUDA needs nothing but CUDA: `nvcc -arch=sm_90 -ptx plain.cu`. Warp's text is for NVRTC and
Warp's headers, which lie in `include/`:

```sh
pip install "cuda-bindings>=13,<14" "nvidia-cuda-nvrtc>=13,<14"
hf download {name} --repo-type dataset --include "include/*" --local-dir .
```

```python
from cuda.bindings import nvrtc

options = ["--gpu-architecture=compute_90", "-Iinclude", {options}]
_, program = nvrtc.nvrtcCreateProgram(text.encode(), b"row.cu", 0, [], [])
(status,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
_, size = nvrtc.nvrtcGetPTXSize(program)
ptx = b" " * size
nvrtc.nvrtcGetPTX(program, ptx)
```

`pairsmith validate` compiles and runs whole datasets without a GPU, `pairsmith gpu run` on one, and
`pairsmith score` judges answers of a model on inputs that the rows do not show."""


_VIEWS = {
    "sft": "Warp Python to plain CUDA, the instruction in several phrasings",
    "plain_python": "the plain Python reference to plain CUDA",
    "array": "NumPy on whole arrays to plain CUDA",
    "words": "a description and a signature to plain CUDA",
    "warp": "Warp Python to Warp's CUDA: **machine text**",
    "adjoint": "Warp's forward CUDA to its adjoint, only where that was checked and agrees: "
    "**machine text**",
    "reverse": "plain CUDA to Warp Python",
    "gradient": "plain CUDA to our own backward kernel, where that agrees",
    "wrong_adjoints": "Warp's forward CUDA and its adjoint that was seen to be wrong, to our own "
    "backward kernel, which agrees",
    "torch": "PyTorch on whole tensors, which was run, to a module with the CUDA, its launcher and "
    "an `autograd.Function` where the row has a gradient",
    "autograd": "a PyTorch module, whose own autograd was run, to an `autograd.Function` with CUDA "
    "for both passes, where the gradients are the same",
    "kernelbench": "`Model`, `get_inputs` and `get_init_inputs` at the sizes in use, to "
    "`ModelNew`, as KernelBench's evaluator takes them (`problem`, `solution`)",
    "renamed": "as `sft`, every name replaced by one of another row's, so that names are read",
    "repair": "a wrong kernel with what a compiler or a run said of it, to the right one; half of "
    "them in two turns",
    "optimise": "a layout that takes at least 1.5 times as long (`ratio`), to the row's; both were "
    "run. `time` says whether that was `measured` on a `device` or `predicted` by a cost model of "
    "the H200",
    "preference": "`prompt`, `chosen` and `rejected`: the row's answer beside one that was seen to "
    "fail (`failure`), or that is right and slower (`ratio`, `time` and `device` as above)",
}
_MACHINE = ("warp", "adjoint")
"""Views whose answers no person wrote or would write."""
_ONE_ANSWER = ("sft", "plain_python", "array", "words", "renamed")
"""Views that ask in several ways for one text."""


def train_section(name: str, views: Views | None) -> str:
    """How to train on the views that have rows; what would make them where there are none."""
    made = {view: found for view, found in views.views.items() if found.rows} if views else {}
    if views is None or not made:
        return f"""## Train on it

Columns of the rows are question and answer as they are. `pairsmith training-views` makes
conversations of them (`load_dataset("{name}", "sft")` and others), ready for a trainer."""
    about = "\n".join(f"- `{view}`: {_VIEWS[view]}" for view in made)
    first = next(iter(made))
    splits = {file.split for file in made[first].files}
    train = "train" if "train" in splits else min(splits)
    evaluated = '    eval_dataset=pairs["validation"],\n' if "validation" in splits else ""
    return f"""## Train on it

Each view is a configuration of its own, in the same splits: a conversation (`messages`) of one
question and one answer.{_bounds(views)}

{views_table(views)}

{about}
{_mix(made)}
```python
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

pairs = load_dataset("{name}", "{first}")
trainer = SFTTrainer(
    model="Qwen/Qwen2.5-Coder-0.5B-Instruct",
    args=SFTConfig(output_dir="kernels", max_length=4096),
    train_dataset=pairs["{train}"],
{evaluated})
trainer.train()
```"""


def _mix(made: Collection[str]) -> str:
    """Advice on what to train on together, as far as these views give cause for it."""
    told = []
    if machine := [f"`{view}`" for view in _MACHINE if view in made]:
        told.append(
            f"**Machine text.** Answers of {' and '.join(machine)} are what Warp's code generator "
            "prints: numbered variables, a statement for each operation, functions of `wp::`. They "
            "teach a dialect and nothing of how kernels are laid out. Leave them out for "
            "a model that is to write CUDA, or keep them to a small part of the mix."
        )
    if len(same := [f"`{view}`" for view in _ONE_ANSWER if view in made]) > 1:
        told.append(
            f"**One answer, several questions.** {', '.join(same[:-1])} and {same[-1]} have the "
            "same plain CUDA of a row as their answer"
            + (", `renamed` under other names" if "renamed" in made else "")
            + ". Draw one of them for each row and epoch and not all, so that no answer is "
            "seen more often for having more questions."
        )
    if told:
        told.append("No mix of views was compared with another: this follows from what they hold.")
    return "".join(f"\n{paragraph}\n" for paragraph in told)


def _bounds(views: Views) -> str:
    chars, tokens = views.settings["max_chars"], views.settings["max_tokens"]
    bounds = [f"{chars:,} characters"] if chars else []
    bounds += [f"{tokens:,} tokens of {views.settings['tokenizer']}"] if tokens else []
    return f" Those of more than {' or '.join(bounds)} are left out." if bounds else ""
