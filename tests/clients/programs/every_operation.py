"""Calls every operation with the installed library; standard input has the demo's record and the address.

Prints what was requested, one `METHOD path` a line.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx
from store_fulfillment import AccessToken, Client, ClientCredentials, Conflict, NotFound, etag_of
from store_fulfillment.models import (
    BatchRecipientRequest,
    DenyRequest,
    OrderRequest,
    QuoteItemRequest,
    RecipientRequest,
)

given: dict[str, Any] = json.load(sys.stdin)
requested: list[str] = []
CARD = "business-card-standard"
VALUES = {"Name": "Ada Lovelace", "Email": "ada@example.com"}
ITEMS: list[QuoteItemRequest] = [{"ProductID": CARD, "Quantity": 500}]
RECIPIENT: RecipientRequest = {
    "Name": "Dana Whitfield",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
OFFICE: BatchRecipientRequest = {
    "Name": "Dana Whitfield",
    "Address1": "1200 17th Street",
    "City": "Denver",
    "State": "CO",
    "PostalCode": "80202",
    "CountryCode": "US",
}
ORDER: OrderRequest = {
    "Recipient": RECIPIENT,
    "Items": [{"ItemKey": "cards", "ProductID": CARD, "Quantity": 500, "TemplateData": dict(VALUES)}],
}


def note(request: httpx.Request) -> None:
    requested.append(f"{request.method} {request.url.path}")


def client_of(role: str) -> Client:
    who = given[role]
    key = who.get("key")
    credentials = ClientCredentials(who["external_id"], key) if key else AccessToken(who["access_token"])
    return Client(
        given["url"],
        credentials=credentials,
        subscription_key=who["subscription_key"],
        http_client=httpx.Client(event_hooks={"request": [note]}),
    )


def read_the_catalog(shop: Client) -> None:
    assert "demo" in [store["StoreID"] for store in shop.stores.list(verbose=True)]
    assert shop.stores.get("demo")["CompanyName"]
    assert CARD in [product["ID"] for product in shop.products.list("demo")]
    product = shop.products.get("demo", CARD, verbose=True)
    assert product["TemplateFields"][0]["FieldName"]
    proof = shop.proofs.create("demo", CARD, VALUES)
    assert [finding["Code"] for finding in proof["Preflight"]] == []
    pdf = shop.download(proof["PdfURL"])
    assert pdf.media_type == "application/pdf"
    assert pdf.read().startswith(b"%PDF")
    asset = shop.assets.create("demo", given["picture"])
    assert asset["Width"] == 900
    with open(given["picture"], "rb") as picture:
        assert shop.assets.create("demo", picture, idempotency_key="a picture")["AssetID"]
    with open(given["picture"], "rb") as picture:
        pieces = iter(lambda: picture.read(1000), b"")
        assert shop.assets.create("demo", pieces)["Width"] == 900
    with subprocess.Popen(["cat", given["picture"]], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert shop.assets.create("demo", process.stdout)["Width"] == 900
    artwork = shop.assets.create("demo", given["artwork"])["AssetID"]
    assert shop.artworks.create("demo", CARD, {"AssetID": artwork, "FirstPage": 2})["Preflight"] == []
    populations = shop.eddm.list(postal_codes=given["postal_codes"])
    assert [one["PostalCode"] for one in populations] == given["postal_codes"]
    selection = shop.eddm.select({"PostalCodes": given["postal_codes"], "ResidentialOnly": True})
    assert shop.eddm.get_selection(selection["SelectionID"])["Pieces"] == selection["Pieces"]


def order(shop: Client, operator: Client) -> None:
    quote = shop.quotes.create("demo", {"Items": ITEMS, "ShipTo": {"CountryCode": "US"}})
    assert shop.quotes.get("demo", quote["QuoteID"])["Options"] == quote["Options"]
    placed = shop.orders.create("demo", ORDER)
    assert shop.orders.get("demo", placed["OrderID"])["OrderNumber"] == placed["OrderNumber"]
    where = "demo", placed["OrderID"]
    moved = shop.orders.advance(*where, if_match=etag_of(placed))
    assert moved["StatusName"] == "Accepted"
    shop.orders.advance(*where)
    cancellation = shop.orders.cancel(*where, {"Reason": "A typing error"})["Cancellation"]
    assert cancellation is not None
    assert cancellation["State"] == "Requested"
    operator.orders.refuse_cancellation(*where, {"Note": "It is printed already"})
    shipped = operator.orders.set_status(
        *where, {"Status": 60, "Shipments": [{"Carrier": "UPS", "TrackingNumber": "1Z999AA10123456784"}]}
    )
    assert shipped["StatusName"] == "Shipped"
    assert [one["Status"] for one in shop.orders.history(*where)][-1] == 60
    assert shop.orders.print_file(*where, "cards").read().startswith(b"%PDF")
    assert operator.orders.packing_slip(*where).read().startswith(b"%PDF")
    try:
        operator.orders.eddm_papers(*where, "cards")
    except NotFound as error:
        assert error.code == "eddm_papers_not_found"
    for _ in range(2):
        shop.orders.create("demo", ORDER)
    listed = [row["OrderID"] for row in shop.orders.export("demo", take=2)]
    assert len(listed) == len(set(listed)) >= 3
    assert placed["OrderID"] in listed
    csv = shop.orders.export_csv("demo", status=[60]).read().decode()
    assert placed["OrderNumber"] in csv


def keep_a_budget(shop: Client, operator: Client) -> None:
    store = given["store_ids"][0]
    made = operator.budgets.create(
        store,
        {
            "Name": "Spring fair",
            "Scope": {"Kind": "Store"},
            "Type": "Orders",
            "Limit": 5,
            "Duration": "Monthly",
            "OverBudget": "Approve",
        },
    )
    where = store, made["BudgetID"]
    assert made["BudgetID"] in [one["BudgetID"] for one in shop.budgets.list(store)]
    assert operator.budgets.update(*where, {"Limit": 0})["Limit"] == 0
    wanted, unwanted = (shop.orders.create(store, ORDER) for _ in range(2))
    approved = operator.orders.approve(
        store, wanted["OrderID"], {"Note": "For the spring fair"}, if_match=etag_of(wanted)
    )
    assert approved["Approval"] is not None
    assert approved["Approval"]["State"] == "Approved"
    denied = operator.orders.deny(store, unwanted["OrderID"], {"Reason": "One is enough"})
    assert denied["Approval"] is not None
    assert denied["Approval"]["State"] == "Denied"
    assert operator.budgets.adjust(*where, {"Amount": 2, "Note": "Trade fair"})["Amount"] == 2
    period = operator.budgets.get(*where)["Period"]
    assert (period["Limit"], period["Used"], period["Remaining"]) == (2, 1, 1)
    kinds = [entry["Kind"] for entry in operator.budgets.list_entries(*where, take=2)]
    assert kinds[-1] == "Adjustment"
    assert len(kinds) == 4
    assert operator.budgets.list_entries_csv(*where).read().count(b"\n") == 5
    unused = operator.budgets.create(
        store,
        {
            "Name": "Unused",
            "Scope": {"Kind": "Store"},
            "Type": "Amount",
            "Limit": 9.5,
            "Duration": "Weekly",
        },
    )
    operator.budgets.delete(store, unused["BudgetID"])
    assert unused["BudgetID"] not in [one["BudgetID"] for one in operator.budgets.list(store)]


def conflict_of(call: Callable[[], object]) -> str:
    try:
        call()
    except Conflict as error:
        return error.code
    return ""


def make_a_batch(shop: Client, operator: Client) -> None:
    """Without a worker, which would check it."""
    made = shop.batches.create("demo", {"ProductID": CARD, "Mode": "Items", "Recipient": OFFICE})
    where = "demo", made["BatchID"]
    assert shop.batches.update(*where, {"Quantity": 500})["Quantity"] == 500
    rows = b"Name,Email\nAda Lovelace,ada@example.com\n"
    sent = shop.batches.replace_rows(*where, rows, check=False, content_type="text/csv")
    assert sent["Mapping"] == {"Name": "Name", "Email": "Email"}
    [row] = shop.batches.list_rows(*where, state=["Pending"])
    changed = shop.batches.change_row(*where, row["RowKey"], {"Name": "Ada King"})
    assert (changed["RowKey"], changed["Values"]["Name"]) == (row["RowKey"], "Ada King")
    assert b"Ada King" in shop.batches.list_rows_csv(*where).read()
    assert shop.batches.contact_sheet(*where).read().startswith(b"%PDF")
    assert shop.batches.template(*where).read().startswith(b"PK")
    assert shop.batches.check(*where)["Status"] == "Checking"
    assert conflict_of(lambda: shop.batches.order(*where)) == "batch_not_checked"
    assert conflict_of(lambda: operator.batches.approve(*where)) == "approval_not_requested"
    denial: DenyRequest = {"Reason": "None"}
    assert conflict_of(lambda: operator.batches.deny(*where, denial)) == "approval_not_requested"
    assert shop.batches.cancel(*where)["Status"] == "Cancelled"
    assert shop.batches.get(*where)["Counts"]["Cancelled"] == 1


def manage_an_application(person: Client, operator: Client) -> str:
    made = person.applications.create({"Name": "Made by a test", "Keys": [{}]})
    application = made["ID"]
    assert application in [one["ID"] for one in person.applications.list()]
    assert person.applications.update(application, {"Description": "Changed"})["Description"] == "Changed"
    key = person.applications.get(application)["Keys"][0]
    assert person.applications.regenerate_key(application, key["ID"])["ID"] != key["ID"]
    person.applications.set_icon(application, given["icon"])
    assert person.applications.get_icon(application).read().startswith(b"\x89PNG")
    first = person.associations.request({"StoreID": given["store_ids"][0], "ApplicationID": application})
    assert person.associations.get(first["ID"])["State"] == "Pending"
    assert operator.associations.approve(first["ID"])["State"] == "Approved"
    second = person.associations.request({"StoreID": given["store_ids"][1], "ApplicationID": application})
    assert operator.associations.deny(second["ID"], {"Note": "Not now"})["State"] == "Denied"
    third = person.associations.request({"StoreID": given["store_ids"][1], "ApplicationID": application})
    assert person.associations.withdraw(third["ID"])["State"] == "Withdrawn"
    assert third["ID"] in [one["ID"] for one in person.associations.list(state="Withdrawn")]
    return application


def event_types(person: Client, application: str) -> set[str]:
    """With the test's event, the last one: transactions that are open anywhere on the server hold events back."""
    deadline = time.monotonic() + 240
    while True:
        types: set[str] = {event["Type"] for event in person.events.list(application, take=1)}
        if "webhook.test" in types or time.monotonic() > deadline:
            return types
        time.sleep(0.5)


def use_webhooks(person: Client, application: str) -> None:
    made = person.webhooks.create(application, {"URL": "https://example.com/hook", "EventTypes": ["*"]})
    assert made["Secret"].startswith("whsec_")
    where = application, made["ID"]
    assert [one["ID"] for one in person.webhooks.list(application)] == [made["ID"]]
    assert person.webhooks.get(*where)["URL"] == "https://example.com/hook"
    assert person.webhooks.update(*where, {"EventTypes": ["order.*"]})["EventTypes"] == ["order.*"]
    assert person.webhooks.rotate_secret(*where)["Secret"] != made["Secret"]
    person.webhooks.test(*where)
    delivery = person.webhooks.list_deliveries(*where).first().items[0]
    assert person.webhooks.resend_delivery(*where, delivery["ID"])["ID"] == delivery["ID"]
    person.webhooks.enable(*where)
    assert person.webhooks.recover(*where, {"Since": delivery["Created"]})["Deliveries"] >= 0
    person.webhooks.delete(*where)
    assert {"association.approved", "webhook.test"} <= event_types(person, application)
    assert all(call["Status"] == 404 for call in person.requests.list(application, status="404"))


def look_at_people(person: Client, operator: Client) -> None:
    me = person.users.me()
    assert operator.users.roles(me["ID"])
    assert person.stores.user_roles(given["store_ids"][0], me["ID"]) is not None
    made = person.users.create(
        {
            "Username": given["username"],
            "Password": "a long pass phrase",
            "FirstName": "Made",
            "LastName": "Person",
            "Email": f"{given['username']}@example.com",
        }
    )
    assert made["Username"] == given["username"]
    assert person.users.find_emails([me["Email"]]) == [me["Email"]]


with client_of("application") as shop, client_of("user") as person, client_of("operator") as operator:
    read_the_catalog(shop)
    order(shop, operator)
    keep_a_budget(shop, operator)
    make_a_batch(shop, operator)
    application = manage_an_application(person, operator)
    use_webhooks(person, application)
    look_at_people(person, operator)
    try:
        shop.orders.get("demo", "no-such-order")
    except NotFound as error:
        assert error.status == 404
        assert error.code
print("\n".join(requested))
