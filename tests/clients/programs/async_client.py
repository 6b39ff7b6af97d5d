"""What differs for asyncio: waiting, pages, files, and one token for many calls at once."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
from store_fulfillment import AsyncClient, InvalidRequest, Retries, headers_of

given: dict[str, Any] = json.load(sys.stdin)
CARD = "business-card-standard"


async def pieces_of(path: str) -> AsyncIterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(1000):
            yield piece


async def use(client: AsyncClient) -> None:
    stores = await asyncio.gather(*(client.stores.list() for _ in range(5)))
    assert all("demo" in [one["StoreID"] for one in found] for found in stores)
    assert headers_of(stores[0])["RateLimit"]
    asset = await client.assets.create("demo", given["picture"])
    assert asset["Height"] == 600
    assert (await client.assets.create("demo", pieces_of(given["picture"])))["Height"] == 600
    proof = await client.proofs.create("demo", CARD, {"Name": "Ada", "Email": "ada@example.com"})
    file = await client.download(proof["PdfURL"])
    assert (await file.save(given["picture"] + ".pdf")).read_bytes().startswith(b"%PDF")
    for quantity in (500, 600, 700):
        await client.orders.create(
            "demo",
            {
                "Recipient": {
                    "Name": "Dana Whitfield",
                    "Address1": "1200 17th Street",
                    "City": "Denver",
                    "State": "CO",
                    "PostalCode": "80202",
                    "CountryCode": "US",
                },
                "Items": [
                    {
                        "ProductID": CARD,
                        "Quantity": quantity,
                        "TemplateData": {"Name": "Ada", "Email": "ada@example.com"},
                    }
                ],
            },
        )
    listed = [row["TotalQuantity"] async for row in client.orders.export("demo", take=2)]
    assert listed[-3:] == [500, 600, 700]
    try:
        await client.proofs.create("demo", CARD, {"Nam": "Ada"})
    except InvalidRequest as error:
        assert error.code == "values_invalid"
        assert "/Nam" in [fault.pointer for fault in error.errors]
    else:
        raise AssertionError("a field that is not there was taken")


async def main() -> None:
    sent: list[str] = []

    async def note(request: httpx.Request) -> None:
        sent.append(request.url.path)

    application = given["application"]
    async with AsyncClient(
        given["url"],
        client_id=application["external_id"],
        client_secret=application["key"],
        subscription_key=application["subscription_key"],
        retries=Retries(most=2),
        http_client=httpx.AsyncClient(event_hooks={"request": [note]}),
    ) as client:
        await use(client)
    assert sent.count("/oauth/token") == 1


asyncio.run(main())
