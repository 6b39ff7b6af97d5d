"""One request for each operation there is, and what it is answered to each kind of caller."""

from dataclasses import dataclass
from typing import Any

from tests.factories.budgets import budget_values
from tests.support.api.access_scene import BATCH, ORDER, QUOTE


@dataclass(frozen=True)
class Row:
    """`path` is formatted with the ids of the world; the statuses are those of PEOPLE in that order."""

    path: str
    statuses: tuple[int, int, int, int, int]
    body: Any = None


NEW_USER = {
    "Username": "newcomer",
    "FirstName": "New",
    "LastName": "Comer",
    "Email": "new@print.example",
    "Password": "a long pass phrase",
}
OF_BATCH = "/store/associated/batch/{batch}"
NEW_BUDGET = budget_values(Name="Another")


ROWS = {
    ("store-list", "GET"): Row("/store", (200, 200, 200, 200, 200)),
    ("store-detail", "GET"): Row("/store/associated", (200, 401, 200, 401, 200)),
    ("product-list", "GET"): Row("/store/associated/product", (200, 403, 200, 403, 200)),
    ("product-detail", "GET"): Row("/store/associated/product/none", (404, 403, 404, 403, 404)),
    ("quote-list", "POST"): Row("/store/associated/quote", (201, 403, 201, 403, 201), QUOTE),
    ("quote-detail", "GET"): Row("/store/associated/quote/{quote}", (200, 403, 200, 403, 200)),
    ("budget-list", "GET"): Row("/store/associated/budget", (200, 403, 200, 403, 200)),
    ("budget-list", "POST"): Row("/store/associated/budget", (201, 403, 403, 403, 201), NEW_BUDGET),
    ("budget-detail", "GET"): Row("/store/associated/budget/{budget}", (200, 403, 200, 403, 200)),
    ("budget-detail", "PATCH"): Row(
        "/store/associated/budget/{budget}", (200, 403, 403, 403, 200), {"Limit": 200}
    ),
    ("budget-detail", "DELETE"): Row("/store/associated/budget/{budget}", (204, 403, 403, 403, 204)),
    ("budget-adjust", "POST"): Row(
        "/store/associated/budget/{budget}/adjustment", (201, 403, 403, 403, 201), {"Amount": 5, "Note": "x"}
    ),
    ("budget-entry-list", "GET"): Row("/store/associated/budget/{budget}/entry", (200, 403, 403, 403, 200)),
    ("batch-list", "POST"): Row("/store/associated/batch", (201, 403, 201, 403, 201), BATCH),
    ("batch-detail", "GET"): Row(f"{OF_BATCH}", (200, 403, 200, 403, 200)),
    ("batch-detail", "PATCH"): Row(f"{OF_BATCH}", (200, 403, 200, 403, 200), {"Name": "x"}),
    ("batch-rows", "PUT"): Row(f"{OF_BATCH}/rows", (202, 403, 202, 403, 202), [{"RowKey": "1"}]),
    ("batch-row-list", "GET"): Row(f"{OF_BATCH}/row", (200, 403, 200, 403, 200)),
    ("batch-row-detail", "PATCH"): Row(f"{OF_BATCH}/row/none", (404, 403, 404, 403, 404), {"RowKey": "2"}),
    ("batch-contact-sheet", "GET"): Row(f"{OF_BATCH}/contact-sheet", (200, 403, 200, 403, 200)),
    ("batch-template", "GET"): Row(f"{OF_BATCH}/template", (200, 403, 200, 403, 200)),
    ("batch-check", "POST"): Row(f"{OF_BATCH}/check", (409, 403, 409, 403, 409)),
    ("batch-order", "POST"): Row(f"{OF_BATCH}/order", (409, 403, 409, 403, 409)),
    ("batch-cancel", "POST"): Row(f"{OF_BATCH}/cancel", (200, 403, 200, 403, 200)),
    ("batch-approve", "POST"): Row(f"{OF_BATCH}/approve", (403, 403, 403, 403, 409)),
    ("batch-deny", "POST"): Row(f"{OF_BATCH}/deny", (403, 403, 403, 403, 409), {"Reason": "Too many."}),
    ("order-list", "POST"): Row("/store/associated/order", (201, 403, 201, 403, 201), ORDER),
    ("order-exportview", "GET"): Row("/store/associated/order/exportview", (200, 403, 200, 403, 200)),
    ("order-detail", "GET"): Row("/store/associated/order/{order}", (200, 403, 200, 403, 200)),
    ("order-history", "GET"): Row("/store/associated/order/{order}/history", (200, 403, 200, 403, 200)),
    ("order-cancel", "POST"): Row("/store/associated/order/{order}/cancel", (200, 403, 200, 403, 200)),
    ("order-cancel-refuse", "POST"): Row(
        "/store/associated/order/{order}/cancel/refuse", (409, 403, 403, 403, 409)
    ),
    ("order-status", "POST"): Row(
        "/store/associated/order/{order}/status", (200, 403, 403, 403, 200), {"Status": 30}
    ),
    ("order-approve", "POST"): Row("/store/associated/order/{order}/approve", (403, 403, 403, 403, 409)),
    ("order-deny", "POST"): Row(
        "/store/associated/order/{order}/deny", (403, 403, 403, 403, 409), {"Reason": "Too many."}
    ),
    ("order-advance", "POST"): Row("/store/associated/order/{order}/advance", (409, 403, 409, 403, 409)),
    ("order-print-file", "GET"): Row(
        "/store/associated/order/{order}/item/1/print-file", (404, 403, 404, 403, 404)
    ),
    ("order-eddm-papers", "GET"): Row(
        "/store/associated/order/{order}/item/1/eddm-papers", (404, 403, 403, 403, 404)
    ),
    ("order-packing-slip", "GET"): Row(
        "/store/associated/order/{order}/packing-slip", (200, 403, 200, 403, 200)
    ),
    ("proof-list", "POST"): Row(
        "/store/associated/product/none/proof", (404, 403, 404, 403, 404), {"Name": "Ada"}
    ),
    ("artwork-list", "POST"): Row(
        "/store/associated/product/none/artwork", (404, 403, 404, 403, 404), {"AssetID": "none"}
    ),
    ("asset-list", "POST"): Row("/store/associated/asset", (415, 403, 415, 403, 415)),
    ("store-user-roles", "GET"): Row("/store/associated/user/{user}", (200, 403, 403, 403, 200)),
    ("user-list", "POST"): Row("/user", (200, 200, 403, 403, 200), NEW_USER),
    ("user-self", "GET"): Row("/user/self", (200, 200, 403, 403, 200)),
    ("user-emails", "POST"): Row("/user/emails", (200, 200, 200, 200, 200), ["user@print.example"]),
    ("user-roles", "GET"): Row("/user/{user}/roles", (403, 403, 403, 403, 200)),
    ("application-list", "GET"): Row("/application", (200, 200, 200, 200, 200)),
    ("application-list", "POST"): Row("/application", (201, 201, 403, 403, 201), {"Name": "New"}),
    ("application-detail", "GET"): Row("/application/{application}", (200, 403, 200, 403, 200)),
    ("application-detail", "PATCH"): Row(
        "/application/{application}", (200, 403, 403, 403, 200), {"Name": "x"}
    ),
    ("application-key-regenerate", "PATCH"): Row(
        "/application/{application}/key/{key}/regenerate", (200, 403, 403, 403, 200)
    ),
    ("application-icon", "GET"): Row("/application/{application}/icon", (404, 403, 404, 403, 404)),
    ("application-icon", "POST"): Row("/application/{application}/icon", (415, 403, 403, 403, 415)),
    ("event-list", "GET"): Row("/application/{application}/event", (200, 403, 200, 403, 200)),
    ("request-list", "GET"): Row("/application/{application}/request", (200, 403, 200, 403, 200)),
    ("webhook-list", "GET"): Row("/application/{application}/webhook", (200, 403, 200, 403, 200)),
    ("webhook-list", "POST"): Row(
        "/application/{application}/webhook", (201, 403, 201, 403, 201), {"URL": "https://192.0.43.8/events"}
    ),
    ("webhook-detail", "GET"): Row("/application/{application}/webhook/{webhook}", (200, 403, 200, 403, 200)),
    ("webhook-detail", "PATCH"): Row(
        "/application/{application}/webhook/{webhook}", (200, 403, 200, 403, 200), {"EventTypes": ["*"]}
    ),
    ("webhook-detail", "DELETE"): Row(
        "/application/{application}/webhook/{webhook}", (204, 403, 204, 403, 204)
    ),
    ("webhook-rotate-secret", "POST"): Row(
        "/application/{application}/webhook/{webhook}/rotate-secret", (200, 403, 200, 403, 200)
    ),
    ("webhook-test", "POST"): Row(
        "/application/{application}/webhook/{webhook}/test", (202, 403, 202, 403, 202)
    ),
    ("webhook-enable", "POST"): Row(
        "/application/{application}/webhook/{webhook}/enable", (200, 403, 200, 403, 200)
    ),
    ("webhook-recover", "POST"): Row(
        "/application/{application}/webhook/{webhook}/recover",
        (202, 403, 202, 403, 202),
        {"Since": "{today}"},
    ),
    ("delivery-list", "GET"): Row(
        "/application/{application}/webhook/{webhook}/delivery", (200, 403, 200, 403, 200)
    ),
    ("delivery-resend", "POST"): Row(
        "/application/{application}/webhook/{webhook}/delivery/{event}/resend", (202, 403, 202, 403, 202)
    ),
    ("association-list", "GET"): Row("/association", (200, 200, 200, 200, 200)),
    ("association-list", "POST"): Row(
        "/association",
        (200, 403, 200, 403, 200),
        {"StoreID": "unassociated", "ApplicationID": "{application}"},
    ),
    ("association-detail", "GET"): Row("/association/{association}", (200, 404, 200, 404, 200)),
    ("association-withdraw", "POST"): Row("/association/{association}/withdraw", (200, 404, 200, 404, 200)),
    ("association-approve", "POST"): Row("/association/{association}/approve", (403, 403, 403, 403, 200)),
    ("association-deny", "POST"): Row("/association/{association}/deny", (403, 403, 403, 403, 200)),
    ("eddm-list", "GET"): Row("/delivery/eddm?postalCodes=84101", (503, 503, 503, 503, 503)),
    ("eddm-selection-list", "POST"): Row(
        "/delivery/eddm/selection", (503, 503, 503, 503, 503), {"PostalCodes": ["84101"]}
    ),
    ("eddm-selection-detail", "GET"): Row("/delivery/eddm/selection/none", (404, 404, 404, 404, 404)),
}
