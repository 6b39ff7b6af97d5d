"""Places as many orders as the first argument says, eight at a time; prints their OrderIDs."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from store_fulfillment import Client, Retries
from store_fulfillment.models import OrderRequest

given = json.load(sys.stdin)
ORDER: OrderRequest = {
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
            "ProductID": "business-card-standard",
            "Quantity": 500,
            "TemplateData": {"Name": "Ada Lovelace", "Email": "ada@example.com"},
        }
    ],
}
application = given["application"]
with (
    Client(
        given["url"],
        client_id=application["external_id"],
        client_secret=application["key"],
        subscription_key=application["subscription_key"],
        retries=Retries(most=15, first_wait=0.05),
    ) as client,
    ThreadPoolExecutor(8) as pool,
):
    placed = pool.map(lambda _: client.orders.create("demo", ORDER)["OrderID"], range(int(sys.argv[1])))
    print("\n".join(placed))
