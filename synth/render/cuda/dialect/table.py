"""What a dialect is: the words in which one language of kernels says what CUDA says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

AXES = "xyz"


class NoForm(Exception):  # noqa: N818
    """A program has no text in a dialect; the message says why, as the rest of a sentence."""


@dataclass(frozen=True)
class Dialect:
    """A language of kernels.

    ``scalars`` and ``vectors`` name the types: of a vector the part before the number of its
    elements. ``suffixes`` end integer literals, by dtype. ``functions`` has what is called
    otherwise than in CUDA, and as ``None`` what the language does not have; all others have
    CUDA's name, in float with ``float_suffix`` behind it. ``reserved`` are names that a program's
    own must not have, ``builtins`` those that no function of a text may have. Words of places in
    the launch are formats of an axis, as letter and as number.
    """

    name: str
    title: str
    scalars: Mapping[str, str]
    vectors: Mapping[str, str]
    stored: Mapping[str, str]
    """Types that are named otherwise in memory that the host shares."""
    suffixes: Mapping[str, str]
    functions: Mapping[str, str | None]
    reserved: frozenset[str]
    builtins: frozenset[str]
    float_suffix: str
    infinity: Mapping[str, str]
    kernel: str
    launch_bounds: str
    """A format of all threads of a block and of its extents along each axis."""
    function: str
    """What stands before a device function that is to be inlined."""
    plain_function: str
    """The same of any other."""
    global_: str
    """What stands before the type that a pointer to global memory points to."""
    local: str
    """The same for memory that a block shares."""
    shared: str
    """What stands before an array that a block shares."""
    restrict: str
    struct: tuple[str, str]
    """What stands before and behind the braces of a struct, formats of name and alignment."""
    construct: tuple[str, str]
    """How a value of a struct is made, a format of its type up to the brace; how one of a vector
    is, up to the bracket."""
    zeros: str
    """What initialises a whole aggregate with zeros."""
    thread: str
    block: str
    block_size: str
    place: str
    """A thread's place in the whole launch."""
    all_threads: str
    barrier: str
    head: Sequence[str]
    """Lines at the top of each text."""
    half_head: Sequence[str]
    """Lines at the top of a text with float16 in it."""
    overloads: bool
    """Whether functions of one name may take different types, as operators do; whether there are
    references."""
    unsigned_abs: bool
    """Whether `abs` and counts of bits have the type of their argument, made unsigned."""
    shuffles: bool
    """Whether threads of a warp of 32 can read one another's registers."""

    def at(self, word: str, axis: str | int) -> str:
        """A word along an axis of the launch."""
        number = axis if isinstance(axis, int) else AXES.index(axis)
        return word.format(letter=AXES[number], number=number)

    def called(self, name: str) -> str:
        """What a function of CUDA is called; :class:`NoForm` where there is none."""
        found = self.functions.get(name, name)
        if found is None:
            raise NoForm(f"{self.title} has no {name}")
        return found
