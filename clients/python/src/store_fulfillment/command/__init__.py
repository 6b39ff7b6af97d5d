"""The command `fulfillment`."""

from __future__ import annotations

from typing import Annotated

import typer

from store_fulfillment._version import __version__
from store_fulfillment.command import batches, catalog, events, logs, orders, sign_in, stories

app = typer.Typer(
    name="fulfillment",
    help="Prints, orders and events of a Store Fulfillment service, from a terminal.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    # Older versions of Typer show them by default, with keys and tokens among them.
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 refused, 2 wrong use, 3 not signed in or not allowed, 4 not found, 5 no answer.",
)
artwork_app = typer.Typer(help="Print-ready PDFs.", no_args_is_help=True)
batches_app = typer.Typer(help="Rows of a table, checked and ordered together.", no_args_is_help=True)
orders_app = typer.Typer(help="Orders that were placed.", no_args_is_help=True)

app.command()(sign_in.login)
app.command()(sign_in.logout)
app.command()(catalog.stores)
app.command()(catalog.products)
app.command()(catalog.proof)
artwork_app.command(name="check")(catalog.check_artwork)
app.add_typer(artwork_app, name="artwork")
batches_app.command()(batches.check)
batches_app.command()(batches.order)
app.add_typer(batches_app, name="batches")
app.command()(orders.quote)
app.command()(orders.order)
app.command()(orders.budgets)
orders_app.command()(orders.tail)
orders_app.command()(orders.show)
orders_app.command()(orders.approve)
orders_app.command()(orders.deny)
app.add_typer(orders_app, name="orders")
app.command(name="events")(events.events)
app.command()(events.listen)
app.command(name="logs")(logs.logs)
app.command()(stories.trigger)


def print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of every command, and the general help."""


def main() -> None:
    app()
