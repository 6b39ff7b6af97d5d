"""`fulfillment stores`, `products` and `proof`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress

from store_fulfillment import Client, models
from store_fulfillment.command.profiles import signed_in
from store_fulfillment.command.screen import AsJson, notes, plain, reported, screen, show_json, show_table

Fields = Annotated[
    list[str] | None,
    typer.Argument(
        help="Template fields as NAME=VALUE; NAME=@photo.jpg sends a picture.", show_default=False
    ),
]
Data = Annotated[
    Path | None, typer.Option("--data", help="A JSON file of template fields.", exists=True, dir_okay=False)
]
Product = Annotated[str, typer.Option(help="STORE/PRODUCT, as demo/business-card-standard.")]


@reported
def stores(as_json: AsJson = False) -> None:
    """The stores that are open to you."""
    client, _ = signed_in()
    records = client.stores.list(verbose=True)
    if as_json:
        show_json(records)
        return
    rows = [
        (store["StoreID"], store["CompanyName"], store.get("Currency", ""), store.get("ProductCount", ""))
        for store in records
    ]
    show_table(("Store", "Company", "Currency", "Products"), rows, "No store is open to you.")


@reported
def products(
    store: str,
    product: Annotated[str | None, typer.Argument(help="Show this one with its fields and prices.")] = None,
    as_json: AsJson = False,
) -> None:
    """What a store prints."""
    client, _ = signed_in()
    if product is None:
        records = client.products.list(store)
        if as_json:
            show_json(records)
            return
        rows = [
            (entry["ID"], entry["Name"], entry["DefaultQty"], "yes" if entry["HasTemplate"] else "")
            for entry in records
        ]
        show_table(("Product", "Name", "Usual quantity", "Template"), rows, "This store has no products.")
        return
    record = client.products.get(store, product, verbose=True)
    if as_json:
        show_json(record)
    else:
        _show_product(record)


def _show_product(product: models.Product) -> None:
    quantities = f"{product['MinimumQty']} to {product['MaximumQty']}, in steps of {product['IncrementQty']}"
    screen.print(plain(f"{product['Name']}: {quantities}"))
    fields = [
        (
            field["FieldName"],
            f"{field['Type']} {field['SubType']}",
            "yes" if field["Required"] else "",
            field["Prompt"],
        )
        for field in product["TemplateFields"]
    ]
    show_table(("Field", "Type", "Required", "Prompt"), fields, "It has no template fields.")
    prices = [
        (price["DeliveryMethodCode"], price["CountryCode"], price["Price"], price["Description"])
        for price in product["DeliveredPrices"]
    ]
    show_table(("Delivery", "Country", "Price of one", "Description"), prices, "It has no prices.")


@reported
def proof(
    store: str,
    product: str,
    fields: Fields = None,
    data: Data = None,
    out: Annotated[Path, typer.Option(help="The folder to write to.", file_okay=False)] = Path(),
    open_files: Annotated[
        bool, typer.Option("--open/--no-open", help="Show the PDF when it is there.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """See what will be printed: writes the PDF and a picture of each page."""
    client, _ = signed_in()
    values = template_data(client, store, fields, data)
    with notes.status("Rendering the proof"):
        created = client.proofs.create(store, product, values)
    out.mkdir(parents=True, exist_ok=True)
    downloads = [(created["PdfURL"], out / f"{product}.pdf")]
    downloads += [(url, out / f"{product}-{page}.png") for page, url in enumerate(created["PageURLs"], 1)]
    with Progress(console=notes, transient=True) as progress:
        for url, path in progress.track(downloads, description="Saving"):
            client.download(url).save(path)
    if as_json:
        show_json({**created, "Files": [str(path) for _, path in downloads]})
    else:
        for message in created["_meta"]["Messages"]:
            notes.print(f"[yellow]{plain(message)}[/yellow]")
        for finding in created["Preflight"]:
            text = f"{finding['Severity']}, page {finding['Page']}: {finding['Message']}"
            notes.print(f"[yellow]{plain(text)}[/yellow]")
        for _, path in downloads:
            screen.print(plain(path), soft_wrap=True)
    if open_files and not as_json:
        typer.launch(str(downloads[0][1]))


@reported
def check_artwork(
    file: Annotated[
        Path, typer.Argument(help="A print-ready PDF.", exists=True, dir_okay=False, show_default=False)
    ],
    product: Product,
    first_page: Annotated[int | None, typer.Option(min=1, help="The PDF page to print first.")] = None,
    as_json: AsJson = False,
) -> None:
    """Whether a PDF can be printed: shows what preflight finds. With findings the exit code is 1."""
    store, name = parts_of(product)
    client, _ = signed_in()
    with notes.status(plain(f"Sending {file}")):
        asset = client.assets.create(store, file)
    choice: models.ArtworkRequest = {"AssetID": asset["AssetID"]}
    if first_page is not None:
        choice["FirstPage"] = first_page
    with notes.status("Checking it"):
        artwork = client.artworks.create(store, name, choice)
    if as_json:
        show_json({**artwork, "AssetID": asset["AssetID"]})
    else:
        for finding in artwork["Preflight"]:
            text = f"{finding['Severity']}, page {finding['Page']}: {finding['Message']} {finding['Remedy']}"
            screen.print(plain(text), soft_wrap=True)
        if not artwork["Preflight"]:
            screen.print(plain(f"Nothing found that may print badly. AssetID {asset['AssetID']}"))
    if artwork["Preflight"]:
        raise typer.Exit(1)


def parts_of(product: str) -> tuple[str, str]:
    store, mark, name = product.partition("/")
    if not mark:
        raise typer.BadParameter(f"{product!r} is not STORE/PRODUCT")
    return store, name


def template_data(
    client: Client, store: str, fields: list[str] | None, data: Path | None
) -> dict[str, str | None]:
    """Values of the file, overridden by the command line; uploads pictures first."""
    values: dict[str, Any] = json.loads(data.read_text("utf-8")) if data else {}
    if not isinstance(values, dict):
        raise typer.BadParameter(f"{data} holds no JSON object")
    for field in fields or []:
        name, mark, value = field.partition("=")
        if not mark:
            raise typer.BadParameter(f"{field!r} is not NAME=VALUE")
        if value.startswith("@"):
            with notes.status(plain(f"Sending {value[1:]}")):
                value = client.assets.create(store, value[1:])["AssetID"]
        values[name] = value
    return values
