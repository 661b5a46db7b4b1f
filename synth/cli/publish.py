"""The command that publishes a dataset on the Hub."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from synth.cli.options import FOLDER
from synth.progress import progress_bar


@click.command()
@click.argument("out", type=FOLDER)
@click.argument("name", metavar="USER/NAME")
@click.option("--private", is_flag=True, help="Make the repository private, when it is new.")
@click.option("--revision", default="main", show_default=True, help="Branch; made when missing.")
@click.option("--replace", is_flag=True, help="Take the place of what is there.")
@click.option("--quiet", is_flag=True, help="No progress bars.")
def publish(out: Path, name: str, private: bool, revision: str, replace: bool, quiet: bool) -> None:
    """Publish the dataset OUT on the Hugging Face Hub as USER/NAME.

    The token is the one of `hf auth login`, or HF_TOKEN; HF_ENDPOINT names another Hub. Every row
    is checked first as by `validate --verify text`. What is there already is not sent again, and
    an upload that broke off goes on when the same command is given again.
    """
    published = _publish()
    with (
        progress_bar(0, quiet, "check") as checking,
        progress_bar(0, quiet, "upload", "B") as uploading,
    ):
        done = published(
            out,
            name,
            private=private,
            revision=revision,
            replace=replace,
            watch=_watch(checking, uploading),
        )
    unchanged = f", {done.unchanged} unchanged" if done.unchanged else ""
    removed = f", {done.removed} removed" if done.removed else ""
    size = f"{done.sent} files sent ({done.sent_bytes / 1e6:,.1f} MB)"
    click.echo(f"{size}{unchanged}{removed}: commit {done.commit[:12]}")
    click.echo(done.url)


def _watch(checking: Any, uploading: Any) -> Any:
    from synth.publish.upload import Watch

    def to_send(size: int) -> None:
        uploading.reset(total=size)

    return Watch(checking.update, to_send, uploading.update)


def _publish() -> Callable[..., Any]:
    from synth.errors import SettingsError

    try:
        from synth.publish.upload import publish as publish_dataset
    except ImportError as error:
        if error.name != "huggingface_hub":
            raise
        raise SettingsError(
            "publish needs huggingface_hub: pip install 'pairsmith[publish]'"
        ) from None
    return publish_dataset
