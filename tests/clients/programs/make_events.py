"""Makes five events of each of as many orders as the first argument says, ten a second."""

import json
import sys
import time

from store_fulfillment import Client

given = json.load(sys.stdin)
application = given["application"]
with Client(
    given["url"],
    client_id=application["external_id"],
    client_secret=application["key"],
    subscription_key=application["subscription_key"],
) as client:
    product = next(one for one in client.products.list("demo") if not one["HasTemplate"])
    for _ in range(int(sys.argv[1])):
        began = time.monotonic()
        order = client.orders.create(
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
                "Items": [{"ProductID": product["ID"], "Quantity": product["DefaultQty"]}],
            },
        )
        for _ in range(4):
            client.orders.advance("demo", order["OrderID"])
        time.sleep(max(0.0, 0.5 - (time.monotonic() - began)))
