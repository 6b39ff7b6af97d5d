"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.declarations import BODY, ETAG, OF_THE_REQUEST, ClientNames, Link, Tag

TAGS = (
    Tag("Stores", "The stores that a caller may use, and the roles of users on them.", 10),
    Tag("Products", "The products of a store, with prices, quantities and template fields.", 20),
    Tag("Proofs", "Proofs of personalized products, and pictures for their image fields.", 30),
    Tag("Orders", "Binding prices, orders, their history and their print files.", 40),
    Tag("Batches", "Table rows that are checked and proofed one by one, then ordered together.", 43),
    Tag("Budgets", "Spending limits for each period, and their entries.", 45),
    Tag("Associations", "Requests for access to a store, or for users to manage an application.", 90),
)
ENUMS = {
    "BatchStatusEnum": "stores.batches.models.BatchStatus.values",
    "BatchModeEnum": "stores.batches.models.BatchMode.values",
    "RowStateEnum": "stores.batches.models.RowState.values",
    "BudgetTypeValueEnum": "stores.catalog.models.BudgetType.values",
    "BudgetDurationValueEnum": "stores.catalog.models.BudgetDuration.values",
    "BudgetScopeKindEnum": "stores.budgets.models.ScopeKind.values",
    "BudgetDecisionEnum": "stores.budgets.standings.BudgetDecision.values",
}
CLIENT_NAMES = ClientNames(
    groups={
        "store_user": "stores",
        "budget_entry": "budgets",
        "batch": "batches",
        "batch_row": "batches",
        "batch_rows": "batches",
    },
    methods={
        "batch_contact_sheet": "contact_sheet",
        "batch_row_list": "list_rows",
        "batch_row_update": "change_row",
        "batch_rows_replace": "replace_rows",
        "budget_entry_list": "list_entries",
        "order_cancel_refuse": "refuse_cancellation",
        "order_exportview": "export",
        "order_status": "set_status",
        "store_user_roles": "user_roles",
    },
    repeatable=frozenset({"proof_create", "order_cancel"}),
)

STORE = {"storeID": f"{BODY}StoreID"}
PRODUCT = {"storeID": f"{OF_THE_REQUEST}storeID", "productID": f"{BODY}ID"}
ITEMS = {"Items": [{"ProductID": f"{BODY}ID", "Quantity": f"{BODY}DefaultQty"}]}
IN_STORE = {"storeID": f"{OF_THE_REQUEST}storeID"}
QUOTE = {**STORE, "quoteID": f"{BODY}QuoteID"}
ORDER = {**STORE, "orderID": f"{BODY}OrderID"}
ORDER_VERSION = {**ORDER, **ETAG}
FIRST_ITEM = {**ORDER, "itemKey": f"{BODY}Items/0/ItemKey"}
BATCH = {**STORE, "batchID": f"{BODY}BatchID"}
BUDGET = {**STORE, "budgetID": f"{BODY}BudgetID"}
ASSOCIATION = {"associationID": f"{BODY}ID"}
LINKS = {
    "Store": (
        Link("store_read", "Read it again.", STORE),
        Link("product_list", "List its products.", STORE),
        Link("asset_create", "Upload a picture for its products.", STORE),
        Link("order_exportview", "Export its orders.", STORE),
    ),
    "Product": (
        Link("product_read", "Read it again.", PRODUCT),
        Link("proof_create", "Create a proof of it.", PRODUCT),
        Link("artwork_create", "Check a print-ready PDF for it.", PRODUCT),
        Link("quote_create", "Request prices for the default quantity.", IN_STORE, ITEMS),
        Link("order_create", "Order the default quantity.", IN_STORE, ITEMS),
    ),
    "Budget": (
        Link("budget_read", "Read it again.", BUDGET),
        Link("budget_update", "Change it.", BUDGET),
        Link("budget_adjust", "Adjust its current period.", BUDGET),
        Link("budget_entry_list", "List its entries.", BUDGET),
        Link("budget_delete", "Delete it while it has no entries.", BUDGET),
    ),
    "Batch": (
        Link("batch_read", "Read its progress.", BATCH),
        Link("batch_update", "Change it.", BATCH),
        Link("batch_rows_replace", "Send its rows.", BATCH),
        Link("batch_row_list", "List its rows and their problems.", BATCH),
        Link("batch_contact_sheet", "Read its contact sheet.", BATCH),
        Link("batch_template", "Read a row template to fill in.", BATCH),
        Link("batch_check", "Check its rows again.", BATCH),
        Link("batch_order", "Order it.", BATCH),
        Link("batch_cancel", "Cancel the rows that are not ordered.", BATCH),
        Link("batch_approve", "Approve it.", BATCH),
        Link("batch_deny", "Deny its approval.", BATCH),
    ),
    "BatchRow": (
        Link(
            "batch_row_update",
            "Correct it.",
            {**IN_STORE, "batchID": f"{OF_THE_REQUEST}batchID", "rowKey": f"{BODY}RowKey"},
        ),
    ),
    "Quote": (Link("quote_read", "Read it again, until it expires.", QUOTE),),
    "Order": (
        Link("order_read", "Read it again.", ORDER),
        Link("order_history", "Read its history.", ORDER),
        Link("order_cancel", "Cancel it if it has not changed since this response.", ORDER_VERSION),
        Link("order_cancel_refuse", "Refuse the requested cancellation.", ORDER_VERSION),
        Link("order_approve", "Approve it if it has not changed since this response.", ORDER_VERSION),
        Link("order_deny", "Deny its approval.", ORDER_VERSION),
        Link("order_status", "Move it to a status if it has not changed since this response.", ORDER_VERSION),
        Link(
            "order_advance",
            "Advance it by one status, if it is a test order or in the demo store.",
            ORDER_VERSION,
        ),
        Link("order_packing_slip", "Read its packing slip.", ORDER),
        Link("order_print_file", "Read the print file of its first item.", FIRST_ITEM),
        Link("order_eddm_papers", "Read the EDDM papers of its first item.", FIRST_ITEM),
        Link("order_create", "Reprint it.", STORE, {"ReprintOfOrderID": f"{BODY}OrderID"}),
    ),
    "ExportRow": (
        Link("order_read", "Read the whole order.", ORDER),
        Link("order_history", "Read its history.", ORDER),
    ),
    "Application": (Link("association_request", "Request to join it.", {}, {"ApplicationID": f"{BODY}ID"}),),
    "Association": (
        Link("association_read", "Read its result.", ASSOCIATION),
        Link("association_withdraw", "Withdraw it.", ASSOCIATION),
        Link("association_approve", "Approve it.", ASSOCIATION),
        Link("association_deny", "Deny it.", ASSOCIATION),
    ),
    "Role": (
        Link("store_user_roles", "Read their roles on the store.", {**STORE, "userID": f"{BODY}UserID"}),
    ),
}
LINKS_AFTER = {
    "quote_create": (
        Link(
            "order_create",
            "Order the first option, with the same items.",
            IN_STORE,
            {
                "QuoteID": f"{BODY}QuoteID",
                "OptionID": f"{BODY}Options/0/OptionID",
                "Items": "$request.body#/Items",
            },
        ),
    )
}
WITH_ETAG = ("Order",)

# What people type to find an operation, beside its own words.
SEARCHED_AS = {
    "order_create": (
        "place an order; submit an order; create an order; new order; buy; purchase; checkout; "
        "order a product; print something; send an order"
    ),
    "order_read": (
        "get an order; track an order; track a shipment; tracking number; where is my order; "
        "order status; shipping status; get order by id; find an order"
    ),
    "order_exportview": (
        "list orders; all orders; export orders; search orders; find orders by number; order csv; "
        "download orders; sync orders; recent orders"
    ),
    "order_history": "order timeline; order log; status changes of an order",
    "order_cancel": "cancel an order; stop an order; withdraw an order; request a cancellation",
    "order_cancel_refuse": "refuse a cancellation; reject a cancellation",
    "order_status": (
        "change the status of an order; accept an order; hold an order; mark as shipped; "
        "ship an order; start production; mark as delivered; update an order; reject an order; "
        "add a tracking number"
    ),
    "order_advance": "simulate an order; advance a test order; simulate a shipment; move a sandbox order",
    "order_approve": "approve an order; release an order",
    "order_deny": "deny an order; decline an order",
    "order_print_file": "download the print file; get the pdf of an order; print ready file",
    "order_packing_slip": "packing slip; delivery note; packing list",
    "order_eddm_papers": "usps forms; postal paperwork; facing slips; eddm papers",
    "quote_create": (
        "get a price; get prices; price; how much does it cost; cost; calculate a price; estimate; "
        "create a quote; request a quote; shipping cost; shipping rates; delivery options; pricing"
    ),
    "quote_read": "get a quote; is a quote still valid",
    "proof_create": (
        "preview; preview a product; show a preview; render a design; mockup; render a template; "
        "generate a pdf; make a proof; draw a picture of the product"
    ),
    "asset_create": (
        "upload an image; upload a picture; upload a logo; upload a photo; upload artwork; "
        "upload a pdf; upload a file"
    ),
    "artwork_create": "check a pdf; preflight; validate artwork; print ready pdf; is my file printable",
    "product_list": "list products; catalog; browse products; products to order; get products",
    "product_read": "get a product; product details; template fields; product options",
    "store_list": "list stores; my stores; which stores; get stores; find the store id",
    "store_read": "get a store; store details",
    "store_user_roles": "permissions of a user; who may order",
    "budget_list": "remaining budget; budget left; list budgets; spending limit",
    "budget_create": "create a budget; set a spending limit; add a budget",
    "budget_update": "change a budget; raise a budget; edit a budget",
    "budget_delete": "delete a budget; end a budget",
    "budget_adjust": "add money to a budget; top up a budget; credit a budget",
    "budget_entry_list": "budget history; what was spent; spending report",
    "association_request": "get access to a store; request access; join a store; connect a store",
    "association_approve": "approve access; grant access to a store",
    "association_deny": "deny access; refuse access",
    "association_withdraw": "cancel a request for access",
    "association_list": "pending requests for access",
}
