ERASABLE: dict[str, tuple[str, ...]] = {
    "stores.BudgetEntry": ("note",),
    "stores.OrderHistory": ("note",),
    "stores.TemplateChange": (),
}
# The history of a test order is deleted with it.
PRUNABLE = {
    "stores.OrderHistory": "EXISTS (SELECT FROM stores_order placed WHERE placed.id = OLD.order_id AND placed.is_test)",
}
