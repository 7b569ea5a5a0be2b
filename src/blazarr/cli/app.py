"""The commands, put together."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated

import typer
from typer.main import get_command

from blazarr.cli import caring, changing, looking
from blazarr.cli.failing import DONE, INTERNAL, STOPPED, USAGE, code_of, described, line

app = typer.Typer(
    name="blazarr",
    help="Zarr on the command line. Every command takes --help and --json.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (
    looking.info,
    looking.ls,
    looking.tree,
    changing.cp,
    changing.convert,
    changing.rechunk,
    caring.check,
    caring.bench,
):
    app.command()(command)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(metadata.version("blazarr"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_say_version, help="Say the version."),
    ] = False,
) -> None:
    del version


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    arguments
        What stands behind ``blazarr``.
    """
    try:
        code = get_command(app).main(list(arguments), prog_name="blazarr", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except Exception as error:  # noqa: BLE001 - all of them are shown and become codes
        return _failed(error, as_json="--json" in arguments)
    # Typer makes this code of Ctrl-C, too.
    if code == STOPPED:
        _say("blazarr: stopped. Hint: cp, convert and rechunk go on with the same command")
    return code if isinstance(code, int) else DONE


def _failed(error: Exception, *, as_json: bool) -> int:
    if hasattr(error, "format_message"):
        message = " ".join(error.format_message().split())
        _say(f"blazarr: {message.rstrip('.')}. Hint: blazarr --help, or blazarr COMMAND --help")
        return USAGE
    if code_of(error) == INTERNAL and os.environ.get("BLAZARR_TRACEBACK"):
        traceback.print_exc()
    _say(json.dumps({"error": described(error)}) if as_json else line(error))
    return code_of(error)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
