"""Every reason for which something is left out: the word that is counted, and what it means.

The words stand in manifests, views and reports, and never change.
"""

from __future__ import annotations

from collections.abc import Mapping

from validate.statuses import CompileStatus, RunStatus, Worded


class GateReason(Worded):
    """Why a draw is no good, before any text of it is compiled or run."""

    TOO_SHORT_OR_LONG = (
        "too_short_or_long",
        "The kernel is a single statement, or longer than people write at a time.",
    )
    UNREAD_LOCAL = "unread_local", "A local variable is never read."
    PARAMETER_ASSIGNED = "parameter_assigned", "The kernel assigns one of its parameters anew."
    SINGLE_TURN = "single_turn", "A loop with literal bounds turns less than twice."
    COUNTER_RETYPED = (
        "counter_retyped",
        "A loop with literal bounds casts its counter to float64: Warp takes it for that type from "
        "then on.",
    )
    NEUTRAL_OPERATION = (
        "neutral_operation",
        "An operation changes nothing: times or over 1, plus or minus 0, to the power of 1.",
    )
    DEAD_START = (
        "dead_start",
        "A local is written again before its first value is read, or an arm sets the literal that "
        "it holds already.",
    )
    LONE_ATOMIC = (
        "lone_atomic",
        "An atomic updates an element that no other thread can reach.",
    )
    DEAD_BRANCH = "dead_branch", "A branch is taken by every thread, or by none."
    DEAD_LOOP = "dead_loop", "No thread enters a loop."
    DEAD_OPERAND = (
        "dead_operand",
        "One side of a choice, as of `min` or `where`, is taken by every thread or by none.",
    )
    UNUSED_INPUT = "unused_input", "An input can change without any output changing."
    UNWRITTEN_OUTPUT = "unwritten_output", "An element of an output is written by no thread."
    CONSTANT_OUTPUT = "constant_output", "All elements of an output are equal."
    TRIVIAL_OUTPUT = (
        "trivial_output",
        "An output is, but for few elements, all zeros, its own mean or a copy of an input.",
    )
    UNEVEN_OUTPUT = (
        "uneven_output",
        "Too many elements of an output are small beside the tolerance that its large ones need.",
    )
    ILL_CONDITIONED = (
        "ill_conditioned",
        "Rounding moves an output so far that its tolerance would hide wrong values.",
    )
    PRECISION_DEPENDENT = (
        "precision_dependent",
        "Rounding decides a branch, a trip count or an integer, so another machine may get another "
        "result.",
    )
    NOT_FINITE = "not_finite", "A float becomes infinite or not a number."
    DOMAIN_ERROR = "domain_error", "A function gets an argument outside of where it is defined."
    SIGNED_OVERFLOW = "signed_overflow", "A signed integer leaves the range of its type."
    BAD_CAST = "bad_cast", "A number is cast to an integer type that cannot hold it."
    OUT_OF_BOUNDS = "out_of_bounds", "An index lies outside its array, vector or matrix."
    READS_UNWRITTEN = "reads_unwritten", "An element of an output is read before it is written."
    WRITE_COLLISION = "write_collision", "Two threads write the same element."
    ORDER_DEPENDENT = "order_dependent", "The result depends on the order in which threads run."
    TOO_MANY_ITERATIONS = "too_many_iterations", "A loop does not end within the turns allowed."


class RuleReason(Worded):
    """Why a row that passed gates and checks does not enter a dataset."""

    DUPLICATE = "duplicate", "An earlier row is equal to it up to names."
    STRUCTURE_CAP = (
        "structure_cap",
        "As many rows as are allowed share its structure, which leaves out names and literals.",
    )
    OVERLAP = "overlap", "It repeats texts of a benchmark that the dataset is to be free of."


class ViewReason(Worded):
    """Why a training view leaves a row out."""

    NO_PLAIN_CUDA = "no_plain_cuda", "The row has no plain CUDA."
    NO_REFERENCE = "no_reference", "The row has no reference in plain Python."
    NO_ARRAY_PYTHON = "no_array_python", "The row has no whole-array NumPy (`array_reason`)."
    NO_ADJOINT = "no_adjoint", "The row has no `cuda_backward`."
    NOT_CHECKED = "not_checked", "The row's adjoint was not run: the verify level is below `run`."
    ADJOINT_DOES_NOT_AGREE = (
        "adjoint_does_not_agree",
        "The row's `checks.adjoint` is another than `agrees`.",
    )
    NO_GRADIENT = (
        "no_gradient",
        "The row has no backward kernel of ours: its `checks.gradient` is another than `agrees`.",
    )
    ADJOINT_IS_NOT_WRONG = (
        "adjoint_is_not_wrong",
        "The row's `checks.adjoint` is another than `warp_differs`.",
    )
    NOTHING_CAUGHT = (
        "nothing_caught",
        "No wrong version of the row's plain CUDA was caught by a check, or the right one does not "
        "pass.",
    )
    NOTHING_SLOWER = (
        "nothing_slower",
        "No other layout with the parameters of the row's kernel is predicted to take 1.5 times as "
        "long, or one of the two does not pass.",
    )
    LITTLE_GAIN = (
        "little_gain",
        "Other layouts take 1.5 times as long as the row's, but none of them 2 µs more.",
    )
    UNMEASURED = (
        "unmeasured",
        "Other layouts are slower mostly by what the cost model allows for barriers, a constant "
        "that was fitted, or by lines that it counts for each lane where one serves several, and "
        "no device has timed them.",
    )
    MANY_ALIKE = (
        "many_alike",
        "The slower layout would be a loop over the grid, of which only every third row is taken.",
    )
    NO_TENSORS = (
        "no_tensors",
        "No PyTorch on whole tensors computes what the kernel does (threads that walk, words that "
        "PyTorch does not compute with, structs), or its text, run, does not give the outputs.",
    )
    AUTOGRAD_DIFFERS = (
        "autograd_differs",
        "What PyTorch's autograd gives of the row's PyTorch is not what the backward kernel gives, "
        "or it gives nothing: in half precision, at NaN, where a tensor is changed in place.",
    )
    NO_HOST_SIDE = (
        "no_host_side",
        "No tensors hold the row's arguments, as with structs, or no input is an array.",
    )
    NO_PROBLEM = (
        "no_problem",
        "The harness cannot take the row: several outputs, floats of another width than 32 bits, "
        "whole numbers that float32 does not hold.",
    )
    NO_CHALLENGE = (
        "no_challenge",
        "At the harness's tolerance zeros, one number or an input would pass, or its reference "
        "needs too much memory or too many calls.",
    )
    WORDS_LACK = (
        "words_lack",
        "The description does not name every parameter and number of the kernel, or the limits to "
        "which it holds an index.",
    )
    POOR_ANSWER = (
        "poor_answer",
        "The cost model itself says that the row's layout takes four times what its memory traffic "
        "and arithmetic would take on a full device, or half of its threads lie beyond the edge.",
    )
    TOO_MANY_CHARACTERS = "too_many_characters", "The conversation is longer than `--max-chars`."
    TOO_MANY_TOKENS = "too_many_tokens", "The conversation is longer than `--max-tokens`."


class HarvestStep(Worded):
    """Steps of a harvest in order; the sentence says why a kernel is left out at one."""

    MODULE = "module", "The module cannot be imported or harvested to its end."
    FOUND = "found", "There is no concrete kernel under that name, as for a generic one."
    GENERATED = "generated", "Warp does not translate the kernel."
    EXTRACTED = "extracted", "The kernel's own CUDA cannot be taken out of Warp's module."
    DISTINCT = "distinct", "Another kernel has the same text, or the row has not the form of one."
    KEPT = "kept", "Its module already gave as many rows as are allowed (`--per-module`)."
    COMPILED = "compiled", "NVRTC refuses the CUDA text."
    SELF_CONTAINED = "self_contained", "The kept row's `python` alone does not give its CUDA."
    RUN = "run", "The kept row was not run on the host."


PLAIN = "plain_"
"""Before the status with which a row's plain CUDA failed its check; Warp's text has none."""


def failed_checks() -> dict[str, str]:
    """Every reason for which a row that passed the gates fails its check, with its sentence."""
    failures = {
        str(status): status.sentence
        for statuses in (CompileStatus, RunStatus)
        for status in statuses
        if status not in (CompileStatus.COMPILES, RunStatus.AGREES)
    }
    warp = {word: f"Warp's text: {sentence}" for word, sentence in failures.items()}
    plain = {f"{PLAIN}{word}": f"Plain CUDA: {said}" for word, said in failures.items()}
    return warp | plain


def reject_sentences() -> Mapping[str, str]:
    """Every reason that a manifest counts among its rejects, with its sentence; of a harvest, the
    step that comes before the colon."""
    return {
        **{str(reason): reason.sentence for reason in (*GateReason, *RuleReason)},
        **failed_checks(),
        **{str(step): step.sentence for step in HarvestStep},
    }


def reject_sentence(reason: str) -> str:
    """The sentence of a reason as a manifest counts it; empty for one that is not known."""
    known = reject_sentences()
    return known.get(reason) or known.get(reason.partition(": ")[0], "")
