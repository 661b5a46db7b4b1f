"""Every status that a check can give: the word that is stored or printed, and what it means.

The words stand in rows, manifests, evidence and reports, and never change.
"""

from __future__ import annotations

from enum import Enum


class Word(str, Enum):
    """A word that is itself wherever text is wanted: in JSON, Parquet and f-strings, as a key."""

    __str__ = str.__str__
    __repr__ = str.__repr__

    def __format__(self, form: str) -> str:
        return str.__format__(self, form)


class Worded(Word):
    """A word that is stored, with its sentence for a user."""

    sentence: str

    def __new__(cls, word: str, sentence: str = "") -> Worded:
        member = str.__new__(cls, word)
        member._value_ = word
        member.sentence = sentence
        return member


class RunStatus(Worded):
    """Of a text, Warp's or plain CUDA, that was compiled as C++ and run on the host."""

    AGREES = (
        "agrees",
        "At every shape that was tried, each output is that of the reference within its tolerance.",
    )
    COMPILE_ERROR = "compile_error", "The compiler refuses the text."
    CRASHED = "crashed", "The process of the compiler or of the kernel ended, as by a bad address."
    OUT_OF_MEMORY = "out_of_memory", "The compiler or the kernel wanted more memory than it may."
    TIMEOUT = "timeout", "The compiler or the kernel did not end in time."
    WRONG_VALUE = (
        "wrong_value",
        "An element of an output is off the reference by more than its tolerance, or, of plain "
        "CUDA, off what Warp's text wrote.",
    )
    WROTE_OUT_OF_BOUNDS = "wrote_out_of_bounds", "The kernel writes outside its arrays."
    READ_OUT_OF_BOUNDS = "read_out_of_bounds", "The kernel reads outside its arrays."
    DATA_RACE = (
        "data_race",
        "Two threads use the same memory in no fixed order, and at least one of them writes it.",
    )
    BAD_SYNC = (
        "bad_sync",
        "Not all threads come to a barrier or a shuffle at which the others wait.",
    )
    UNDEFINED = (
        "undefined",
        "The kernel does what C++ leaves open, so that a device may do something else: an access "
        "at an odd address, an index past an array, too wide a shift, a cast out of range.",
    )
    INPUT_CHANGED = "input_changed", "The kernel changes an array that it may only read."
    REFERENCE_ERROR = "reference_error", "The row's reference fails, or there is none."
    BAD_ROW = "bad_row", "The inputs or the launch that the row describes cannot be made."


class CompileStatus(Worded):
    """Of a text that NVRTC was given; what is worst among the architectures asked for."""

    COMPILES = "compiles", "NVRTC makes PTX of every kernel, for every architecture asked for."
    COMPILE_ERROR = "compile_error", "NVRTC refuses the text, or a kernel is not in what it made."
    CRASHED = "crashed", "NVRTC ended its process."
    TIMEOUT = "timeout", "NVRTC did not end in time."
    OUT_OF_MEMORY = "out_of_memory", "NVRTC wanted more memory than it may."


class ArrayStatus(Worded):
    """Why a row has no `array_python`: its `array_reason`, null where it has one."""

    OFF = "off", "The dataset was made with `--no-array`."
    DIFFERS = (
        "differs",
        "The whole-array version, run on the host, did not give the outputs of the reference.",
    )
    WALK = (
        "walk",
        "Threads end early or take loops of different length: no array expression says that.",
    )
    FUNCTION = "function", "NumPy has no function for one of its operations."
    SCATTER = (
        "scatter",
        "Threads write or update elements in a way that whole arrays have no plain expression for.",
    )
    GUARD = "guard", "A condition guards what only some threads may read or compute."
    COMPOSITE = "composite", "Its structs, matrices or rotations have no plain form as arrays."


class AdjointStatus(Worded):
    """Of a row's backward kernel, run on the host: `checks.adjoint`. Null there: not measured."""

    AGREES = (
        "agrees",
        "Warp's adjoint gives the derivatives of the reference, so `cuda_backward` is published.",
    )
    NO_FLOAT_INPUT = (
        "no_float_input",
        "No input is an array of floats, so there is nothing to differentiate by and "
        "`cuda_backward` is withheld.",
    )
    NO_FLOAT_OUTPUT = (
        "no_float_output",
        "No output is an array of floats, so there is nothing to differentiate and `cuda_backward` "
        "is withheld.",
    )
    ZERO_GRADIENT = (
        "zero_gradient",
        "Adjoint and derivatives are zero everywhere, which proves nothing, so `cuda_backward` is "
        "withheld.",
    )
    NOT_SMOOTH_HERE = (
        "not_smooth_here",
        "The reference's derivative cannot be measured at the row's inputs, as at a kink, so "
        "`cuda_backward` is withheld.",
    )
    WARP_DIFFERS = (
        "warp_differs",
        "Warp's adjoint gives other derivatives than the reference has, writes where it may not, "
        "crashes or does not end, so `cuda_backward` is withheld.",
    )
    OFF = (
        "off",
        "There is no adjoint to check: it was not asked for (`--no-backward`).",
    )


class GradientStatus(Worded):
    """Of our own backward kernel, run on the host: `checks.gradient`. Null there: not measured."""

    AGREES = (
        "agrees",
        "It gives the derivatives of the reference at every shape, so `cuda_plain_backward` is "
        "published.",
    )
    NO_FLOAT_INPUT = "no_float_input", "No input is an array of floats."
    NO_FLOAT_OUTPUT = "no_float_output", "No output is an array of floats."
    ZERO_GRADIENT = (
        "zero_gradient",
        "No output depends on an input by a derivative other than zero.",
    )
    NOT_SMOOTH_HERE = (
        "not_smooth_here",
        "The reference's derivative cannot be measured at the row's inputs, as at a kink.",
    )
    NO_FORM = (
        "no_form",
        "The kernel has something that is not differentiated yet: structs, loops that end early, "
        "atomic minima, tiles. The evidence says what.",
    )
    DIFFERS = (
        "differs",
        "It was made, and gave other derivatives than the reference has, or ended in another way: "
        "a fault of ours, which is not published.",
    )
    OFF = "off", "The dataset was made with `--no-gradient`."


class GpuStatus(Worded):
    """Of a text that was run on a GPU."""

    PASSED = "passed", "The text did on the GPU all that is checked there."
    COMPILE_ERROR = "compile_error", "NVRTC refuses the text, or a kernel is not in what it made."
    LAUNCH_ERROR = "launch_error", "The driver reports an error, or the process of the run ended."
    TIMEOUT = "timeout", "The run did not end in time."
    WRONG_SHAPE = (
        "wrong_shape",
        "The kernel takes other parameters, or an output has other extents.",
    )
    WRONG_VALUE = (
        "wrong_value",
        "An output is off what it is compared with by more than its tolerance, or that comparison "
        "fails; of a backward text, its adjoint does not agree.",
    )
    WROTE_OUT_OF_BOUNDS = "wrote_out_of_bounds", "The kernel writes outside its arrays."
    INPUT_CHANGED = "input_changed", "The kernel changes an array that it may only read."


class ScoreStatus(Worded):
    """Of a text that others wrote for a row: the verdict of `validate.score.scorer`."""

    PASSED = (
        "passed",
        "At every hidden shape each output is the wanted one, nothing below was seen, and NVRTC "
        "compiles the text.",
    )
    NO_KERNEL = (
        "no_kernel",
        "The text has no `__global__ void` kernel, or several and does not say which is launched.",
    )
    BAD_SIGNATURE = "bad_signature", "The kernel takes other parameters than the row's plain CUDA."
    BAD_LAUNCH = (
        "bad_launch",
        "The launch that comes with the text cannot be read, or no device takes it at every size.",
    )
    COMPILE_ERROR = (
        "compile_error",
        "The text is refused: before it is compiled, by Clang, by the linker's list, or by NVRTC.",
    )
    CRASHED = "crashed", "The process of the compiler or of the kernel ended without an answer."
    TIMEOUT = "timeout", "The compiler or the kernel did not end in time."
    OUT_OF_MEMORY = "out_of_memory", "The compiler or the kernel wanted more memory than it may."
    WRONG_VALUE = (
        "wrong_value",
        "An element of an output is off the reference by more than its tolerance.",
    )
    WROTE_OUT_OF_BOUNDS = "wrote_out_of_bounds", "The kernel writes outside its arrays."
    READ_OUT_OF_BOUNDS = "read_out_of_bounds", "The kernel reads outside its arrays."
    DATA_RACE = (
        "data_race",
        "Two threads use the same memory in no fixed order, and at least one of them writes it.",
    )
    BAD_SYNC = (
        "bad_sync",
        "Not all threads come to a barrier or a shuffle at which the others wait.",
    )
    UNDEFINED = (
        "undefined",
        "The kernel does what C++ leaves open, so that a device may do something else: an access "
        "at an odd address, an index past an array, too wide a shift, a cast out of range.",
    )
    ROW_UNFIT = "row_unfit", "The row cannot be used: its own plain CUDA is not there or fails."
    NOT_JUDGED = "not_judged", "The time of the batch was up before the answer was judged."
    UNSEEN_BRANCH = (
        "unseen_branch",
        "A branch waits for larger sizes than any that could be tried.",
    )
    INPUT_CHANGED = "input_changed", "The kernel changes an array that it may only read."


class Likeness(Worded):
    """Of two ways from the same inputs to the same outputs, neither of which is the reference."""

    AGREES = "agrees", "Both ways write the same outputs, but for rounding."
    DIFFERS = "differs", "An output differs by more than rounding."
    OUT_OF_BOUNDS = "out_of_bounds", "The other way writes outside its arrays."
    ONLY_NAN = "only_nan", "The outputs are alike, and there is no number among them."


class OpenclStatus(Worded):
    """Of a row's program as OpenCL C, built and run by a runtime for the CPU."""

    AGREES = (
        "agrees",
        "At every shape and edge of the row each output is that of the reference within its "
        "tolerance.",
    )
    NO_FORM = (
        "no_form",
        "The program has no text in this language under the row's schedule; the reason says why.",
    )
    COMPILE_ERROR = "compile_error", "The runtime's compiler refuses the text."
    CRASHED = "crashed", "The process of the compiler or of the kernel ended without an answer."
    TIMEOUT = "timeout", "The compiler or the kernel did not end in time."
    WRONG_VALUE = (
        "wrong_value",
        "An element of an output is off the reference by more than its tolerance.",
    )
    WROTE_OUT_OF_BOUNDS = "wrote_out_of_bounds", "The kernel writes next to an array."
    INPUT_CHANGED = "input_changed", "The kernel changes an array that it may only read."
    REFERENCE_ERROR = "reference_error", "The row's reference fails, or there is none."
    BAD_ROW = "bad_row", "The inputs or the launch that the row describes cannot be made."


class ProcessEnd(Word):
    """How a child process ended that gave no answer; each check has a status of the same word."""

    CRASHED = "crashed"
    TIMEOUT = "timeout"
