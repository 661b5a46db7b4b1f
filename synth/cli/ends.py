"""How a command ends: one line and a code for what users and machines do, a traceback for bugs."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click


class OneLineGroup(click.Group):
    """Turns a bad request into one line and exit code 2, and a broken run into exit code 1.

    So it is with what the machine does: full disks, small limits, closed streams. An error of ours
    goes on as it is.
    """

    def main(self, args: Sequence[str] | None = None, *more: Any, **named: Any) -> Any:
        _open_streams()
        try:
            with _ended_in_order():
                _require_words(sys.argv[1:] if args is None else args)
                sys.exit(super().main(args, *more, **{**named, "standalone_mode": False}) or 0)
        except SystemExit as end:
            sys.exit(_flushed(end.code))
        except click.Abort:
            _complain("broken off")
            sys.exit(_flushed(1))
        except click.ClickException as error:
            _show(error)
            sys.exit(_flushed(error.exit_code))
        except Exception as error:
            code = _say(error)
            if code is None:
                raise
            sys.exit(_flushed(code))

    def invoke(self, ctx: click.Context) -> Any:
        from validate.process.machine import LEAST_COMMAND_BYTES, require_memory, require_threads

        try:
            require_memory(LEAST_COMMAND_BYTES)
            require_threads()
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            code = _say(error)
            if code is None:
                raise
            ctx.exit(code)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have SIGTERM end the block as Ctrl-C does: child processes and temporary files go with it."""

    def end(number: int, _frame: object) -> None:
        sys.exit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _say(error: Exception) -> int | None:
    """Say an error that is the user's to mend; its exit code, None for a bug of ours."""
    from synth.errors import RunError, SettingsError, UnsupportedWarpError
    from validate.errors import (
        CompileUnavailable,
        GpuUnavailable,
        HostRunUnavailable,
        MachineFault,
        OpenclUnavailable,
    )
    from validate.process.machine import fault_line

    missing = (
        UnsupportedWarpError
        | HostRunUnavailable
        | CompileUnavailable
        | GpuUnavailable
        | MachineFault
        | OpenclUnavailable
    )
    if isinstance(error, SettingsError | RunError | missing):
        line: str | None = str(error)
    else:
        line = fault_line(error)
        if line is not None and _came_of_printing(error):
            line = f"standard output: {line}"
    if line is None:
        return None
    _complain(line)
    return 1 if isinstance(error, RunError) else 2


def _show(error: click.ClickException) -> None:
    """Say what click has against a call, and where help is."""
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
        return
    ctx = getattr(error, "ctx", None)
    _complain(error.format_message() + (f" See {ctx.command_path} -h." if ctx else ""))


def _complain(line: str) -> None:
    try:
        click.echo(f"pairsmith: {' '.join(line.split())}", err=True)
    except OSError:
        # Nobody can be told; the exit code still says it.
        _drop(sys.stderr)


def _came_of_printing(error: BaseException) -> bool:
    """Whether what prints for us raised it: a stream's error names no file."""
    *_, (frame, _line) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals["__name__"].partition(".")[0] in ("click", "rich")


def _flushed(code: Any) -> Any:
    """The exit code, or that of output that could not be written after all."""
    from validate.process.machine import fault_line

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            # Whoever read it has read enough.
            _drop(stream)
            code = code or 1
        except OSError as error:
            if stream is sys.stdout and not code:
                _complain(f"standard output: {fault_line(error) or error}")
                code = 2
            _drop(stream)
    return code


def _drop(stream: Any) -> None:
    """Send what a stream still holds nowhere: the interpreter would try again, and complain."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _open_streams() -> None:
    """See to it that the three standard streams are there and take any text.

    A stream that was closed leaves its number to the next file that is opened, and what a compiler
    prints would end in that.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere == number:
                # For child processes as well.
                os.set_inheritable(number, True)
            else:
                os.dup2(nowhere, number)
                os.close(nowhere)
        if mode == "w" and getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _require_words(words: Sequence[str]) -> None:
    """:class:`SettingsError` for a word that is empty (as a path it would be the working folder) or
    no UTF-8 (such names end in files of ours)."""
    from synth.errors import SettingsError

    if "" in words:
        raise SettingsError("an argument is empty: give a value, or leave it out")
    for word in (*words, os.environ.get("TMPDIR", "")):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise SettingsError(f"{word!a} is no UTF-8: rename it, or link to it") from None
