"""`fulfillment batches check` and `batches order`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.progress import Progress

from store_fulfillment import Client, models
from store_fulfillment.batches import Progress as Report
from store_fulfillment.command.catalog import Product, parts_of
from store_fulfillment.command.profiles import signed_in
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json, show_table

Rows = Annotated[
    Path,
    typer.Argument(
        help="CSV, XLSX or JSON, with column names.", exists=True, dir_okay=False, show_default=False
    ),
]
To = Annotated[
    Path | None,
    typer.Option(
        help="A JSON file with the recipient for all rows. Without it, each row has its own recipient.",
        exists=True,
        dir_okay=False,
    ),
]
Quantity = Annotated[int | None, typer.Option("--quantity", "-n", help="Of each row.", min=1)]
COUNTED = ("Ready", "Warning", "Error", "Ordered", "Failed", "Cancelled")


@reported
def check(
    file: Rows, product: Product, to: To = None, quantity: Quantity = None, as_json: AsJson = False
) -> None:
    """Check every row and show what is wrong. With errors the exit code is 1."""
    client, _ = signed_in()
    batch = _checked(client, file, product, to, quantity)
    _show(client, batch, as_json)
    if batch["Counts"]["Error"]:
        raise typer.Exit(1)


@reported
def order(
    file: Rows,
    product: Product,
    to: To = None,
    quantity: Quantity = None,
    external_id: Annotated[
        str | None, typer.Option(help="Your own ID: a second batch with it orders nothing.")
    ] = None,
    only_ready: Annotated[bool, typer.Option("--only-ready", help="Skip rows in error.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check every row and order all of them. With errors nothing is ordered, unless with --only-ready."""
    client, _ = signed_in()
    batch = _checked(client, file, product, to, quantity)
    if batch["Counts"]["Error"] and not only_ready:
        _show(client, batch, as_json)
        raise typer.Exit(1)
    body: models.BatchOrderRequest = {"OnlyReady": only_ready}
    if external_id:
        body["ExternalID"] = external_id
    where = batch["StoreID"], batch["BatchID"]
    client.batches.order(*where, body)
    with _progress("Ordering") as report:
        batch = client.batches.wait(*where, on_progress=report)
    _show(client, batch, as_json)
    if batch["Counts"]["Failed"] or batch["Status"] == "Checked":
        raise typer.Exit(1)


def _checked(client: Client, file: Path, product: str, to: Path | None, quantity: int | None) -> models.Batch:
    store, name = parts_of(product)
    body: models.BatchRequest = {
        "Name": file.name,
        "ProductID": name,
        "Mode": "Items" if to else "Recipients",
    }
    if to:
        body["Recipient"] = json.loads(to.read_text("utf-8"))
    if quantity is not None:
        body["Quantity"] = quantity
    with _progress("Checking") as report:
        return client.batches.upload(store, file, body, on_progress=report)


@contextmanager
def _progress(description: str) -> Iterator[Report]:
    with Progress(console=notes, transient=True) as progress:
        bar = progress.add_task(description, total=None)

        def report(batch: models.Batch) -> None:
            done, total = batch["Progress"]["Done"], batch["Progress"]["Total"]
            if batch["Status"] == "Ordering":
                done = batch["Counts"]["Ordered"] + batch["Counts"]["Failed"]
            progress.update(bar, completed=done, total=total)

        yield report


def _show(client: Client, batch: models.Batch, as_json: bool) -> None:
    if as_json:
        show_json(batch)
        return
    rows = [
        (row["Number"], row["Name"], problem["Column"] or "", problem["Message"], problem["Remedy"])
        for row in client.batches.list_rows(
            batch["StoreID"], batch["BatchID"], state=["Error", "Warning", "Failed"]
        )
        for problem in row["Problems"]
    ]
    show_table(("Row", "Name", "Column", "Problem", "Remedy"), rows, "No row has a problem.")
    counts_of = cast("dict[str, int]", batch["Counts"])
    counts = ", ".join(f"{counts_of[state]:,} {state.lower()}" for state in COUNTED if counts_of[state])
    total = f"{batch['Total']:,.2f} {batch['Currency']}"
    screen.print(plain(f"Batch {batch['BatchID']} is {batch['Status']}: {counts or 'no rows'}; {total}"))
    if batch["Note"]:
        screen.print(plain(batch["Note"]))
