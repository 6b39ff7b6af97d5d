"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.client_names import ClientNames
from fulfillment.core.api.declarations import BODY, ETAG, OF_THE_REQUEST, Link, Tag

TAGS = (
    Tag("Stores", "The stores a caller may use, and who may do what on them.", 10),
    Tag("Products", "What a store offers, with its prices, quantities and template fields.", 20),
    Tag("Proofs", "How a product looks with data in it, and pictures for its image fields.", 30),
    Tag("Orders", "Prices that bind, orders, what became of them, and their print files.", 40),
    Tag("Batches", "Rows of a table, each checked and seen before they are ordered together.", 43),
    Tag("Budgets", "How much may be ordered in each period, and what was.", 45),
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
BATCH = {**STORE, "batchID": f"{BODY}BatchID"}
BUDGET = {**STORE, "budgetID": f"{BODY}BudgetID"}
ASSOCIATION = {"associationID": f"{BODY}ID"}
LINKS = {
    "Store": (
        Link("store_read", "Read it again.", STORE),
        Link("product_list", "Its products.", STORE),
        Link("asset_create", "Upload a picture for its products.", STORE),
        Link("order_exportview", "Its orders.", STORE),
    ),
    "Product": (
        Link("product_read", "Read it again.", PRODUCT),
        Link("proof_create", "See it with data in it.", PRODUCT),
        Link("artwork_create", "See a PDF of yours on it.", PRODUCT),
        Link("quote_create", "Ask what the usual quantity costs.", IN_STORE, ITEMS),
        Link("order_create", "Order the usual quantity.", IN_STORE, ITEMS),
    ),
    "Budget": (
        Link("budget_read", "Read it again.", BUDGET),
        Link("budget_update", "Change it.", BUDGET),
        Link("budget_adjust", "Add to this period, or take from it.", BUDGET),
        Link("budget_entry_list", "What was counted.", BUDGET),
        Link("budget_delete", "Remove it, while it has no entries.", BUDGET),
    ),
    "Batch": (
        Link("batch_read", "See how far it is.", BATCH),
        Link("batch_update", "Change it.", BATCH),
        Link("batch_rows_replace", "Send its rows.", BATCH),
        Link("batch_row_list", "Its rows, with what is wrong with each.", BATCH),
        Link("batch_contact_sheet", "Its rows on paper.", BATCH),
        Link("batch_template", "A file to fill in.", BATCH),
        Link("batch_check", "Check its rows again.", BATCH),
        Link("batch_order", "Order it.", BATCH),
        Link("batch_cancel", "Cancel what is not ordered.", BATCH),
        Link("batch_approve", "Approve it.", BATCH),
        Link("batch_deny", "Deny its approval.", BATCH),
    ),
    "BatchRow": (
        Link(
            "batch_row_update",
            "Correct it.",
            {
                **IN_STORE,
                "batchID": f"{OF_THE_REQUEST}batchID",
                "rowKey": f"{BODY}RowKey",
            },
        ),
    ),
    "Quote": (Link("quote_read", "Read it again, until it expires.", QUOTE),),
    "Order": (
        Link("order_read", "Read it again.", ORDER),
        Link("order_history", "What became of it, and when.", ORDER),
        Link("order_cancel", "Cancel it as it was seen here.", {**ORDER, **ETAG}),
        Link("order_cancel_refuse", "Refuse the request to cancel it.", {**ORDER, **ETAG}),
        Link("order_approve", "Approve it as it was seen here.", {**ORDER, **ETAG}),
        Link("order_deny", "Deny its approval.", {**ORDER, **ETAG}),
        Link("order_status", "Move it as it was seen here.", {**ORDER, **ETAG}),
        Link("order_advance", "In the demo store: move it one step on.", {**ORDER, **ETAG}),
        Link("order_packing_slip", "Its packing slip.", ORDER),
        Link("order_print_file", "What is printed.", {**ORDER, "itemKey": f"{BODY}Items/0/ItemKey"}),
        Link(
            "order_eddm_papers",
            "The papers of an item for EDDM.",
            {**ORDER, "itemKey": f"{BODY}Items/0/ItemKey"},
        ),
        Link("order_create", "Print it once more.", STORE, {"ReprintOfOrderID": f"{BODY}OrderID"}),
    ),
    "ExportRow": (
        Link("order_read", "The whole order.", ORDER),
        Link("order_history", "What became of it, and when.", ORDER),
    ),
    "Application": (Link("association_request", "Ask to join it.", {}, {"ApplicationID": f"{BODY}ID"}),),
    "Association": (
        Link("association_read", "See what became of it.", ASSOCIATION),
        Link("association_withdraw", "Withdraw it.", ASSOCIATION),
        Link("association_approve", "Approve it.", ASSOCIATION),
        Link("association_deny", "Deny it.", ASSOCIATION),
    ),
    "Role": (Link("store_user_roles", "What they may do there.", {**STORE, "userID": f"{BODY}UserID"}),),
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
