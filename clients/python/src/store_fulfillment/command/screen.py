"""Output: tables, JSON, errors and exit codes."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from store_fulfillment import (
    ConnectionFailed,
    Forbidden,
    FulfillmentError,
    NotFound,
    OAuthError,
    Unauthorized,
)

AsJson = Annotated[bool, typer.Option("--json", help="Print the API's JSON response instead.")]
Command = TypeVar("Command", bound=Callable[..., None])
# Progress and errors go to standard error.
notes = Console(stderr=True, highlight=False)
screen = Console(highlight=False)
REFUSED = 1
NOT_ALLOWED = 3
NOT_FOUND = 4
NO_ANSWER = 5


# Control characters, and those that turn the direction of writing: on a terminal they could hide or forge a line.
UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(value: object) -> str:
    """A text of the service as it is printed: no markup, and nothing that steers a terminal."""
    return escape(UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(value)))


def reported(command: Command) -> Command:
    """Errors of the library become a sentence and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except FulfillmentError as error:
            notes.print(f"[red]{plain(error)}[/red]")
            raise typer.Exit(exit_code(error)) from error
        except BrokenPipeError as error:
            # `fulfillment events | head`: what reads the output has ended. Nothing is left to be flushed at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(REFUSED) from error
        except (OSError, ValueError) as error:
            notes.print(f"[red]{plain(error)}[/red]")
            raise typer.Exit(REFUSED) from error
        except KeyboardInterrupt as error:
            raise typer.Exit(130) from error

    return run  # type: ignore[return-value]


def exit_code(error: FulfillmentError) -> int:
    if isinstance(error, (Unauthorized, Forbidden, OAuthError)):
        return NOT_ALLOWED
    if isinstance(error, NotFound):
        return NOT_FOUND
    return NO_ANSWER if isinstance(error, ConnectionFailed) else REFUSED


def show_json(value: Any, *, is_line: bool = False) -> None:
    text = json.dumps(value, indent=None if is_line else 2, ensure_ascii=False)
    # JSON itself escapes what lies below the space.
    sys.stdout.write(UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def show_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], empty_text: str) -> None:
    table = Table(*headings, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(plain, row))
    if table.row_count:
        screen.print(table)
    else:
        notes.print(empty_text)
