"""How calls are counted for stores."""

from django.http import HttpRequest, HttpResponse

from accounts.callers import Caller
from fulfillment.core.observability.instruments import Gauges
from stores.catalog.services.usage import count_store_call
from stores.catalog.services.usage import flush_store_usage as flush_usage

__all__ = ["GAUGES", "flush_usage", "record_request"]

GAUGES = Gauges(
    "SELECT 'budget_balances_wrong', '', count(*)::float8 FROM stores_budgetperiod WHERE differs",
    {"budget_balances_wrong": ("Periods of budgets whose balance is not the sum of their entries.", "")},
)


def record_request(
    request: HttpRequest, response: HttpResponse, caller: Caller, seconds: float, request_id: str
) -> None:
    match = request.resolver_match
    # Test calls do not count for a store.
    if not caller.is_test and match is not None and (store_id := match.kwargs.get("store_id")):
        count_store_call(store_id=store_id, status=response.status_code)
