"""Budgets with their balance, adjustments by hand, and the entries of their ledger as JSON or CSV."""

from functools import partial
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.api.idempotency import idempotent
from fulfillment.core.api.access import Access
from fulfillment.core.api.parameters import AFTER, link_header, next_page, parse_whole_number, take_parameter
from fulfillment.core.api.responses import CSVRenderer, concurrency_errors
from fulfillment.core.api.serializers import validate_data
from fulfillment.core.api.viewsets import ApiViewSet
from fulfillment.core.concurrency_limits import slot_if
from fulfillment.core.csv_rows import csv_pieces
from fulfillment.core.errors import Invalid, invalid_after
from fulfillment.core.files.downloads import streamed_file
from fulfillment.core.text import parse_number
from stores.budgets.api.serializers import (
    ADJUSTMENT_EXAMPLE,
    BUDGET_EXAMPLE,
    CHANGE_EXAMPLE,
    ENTRY_EXAMPLE,
    REQUEST_EXAMPLE,
    AdjustmentSerializer,
    BudgetChangeSerializer,
    BudgetEntrySerializer,
    BudgetRequestSerializer,
    BudgetSerializer,
)
from stores.budgets.models import Budget
from stores.budgets.representations import ENTRY_COLUMNS, budget_record
from stores.budgets.selectors.budgets import (
    READ,
    WRITE,
    BudgetAccess,
    authorize_budgets,
    entries_for,
    entry_records,
    has_long_list,
    list_budgets,
    scope_names,
    standing_for,
    statement_cells,
)
from stores.budgets.services.budgets import adjust_budget, change_budget, create_budget, remove_budget
from stores.budgets.standings import Standing
from stores.catalog.api.stores import NO_STORE, STORE_ID

BUDGET_ID = OpenApiParameter("budget_id", str, OpenApiParameter.PATH, description="The BudgetID.")
DEFAULT_TAKE, MAX_TAKE = 100, 1000
FORMAT = OpenApiParameter("format", str, enum=["csv", "json"], description="Instead of an `Accept` header.")

BUDGET_READ = Access(
    rule=(
        "Callers see the budgets that apply to them. With `Store.All.Read` or `Budget.All.Write`, they see every "
        "budget of the store."
    ),
    permissions=READ,
)
BUDGET_WRITE = Access(
    rule="Every caller with `Budget.All.Write` on the store may call it.", permissions=WRITE
)
BROKEN_RULE = (
    f"{NO_STORE}, or the body breaks a rule: `scope_unknown`, `not_offered`, `not_whole`, `too_small`, "
)
ASSOCIATION = (
    "No association with the store (`association_required`), or one without the grant (`grant_missing`); a test "
    "application changes no budgets (`closed_to_test_applications`)."
)
NOT_FOUND = "There is no such budget for this caller (`budget_not_found`)."
COMMON = {400: NO_STORE + ".", 403: ASSOCIATION, 404: NOT_FOUND}
HAS_ENTRIES = "The budget has entries (`budget_has_entries`)"


on_budget = partial(extend_schema, parameters=[STORE_ID, BUDGET_ID], responses={200: BudgetSerializer})


class BudgetViewSet(ApiViewSet):
    tag = "Budgets"
    access = {
        "list": BUDGET_READ,
        "retrieve": BUDGET_READ,
        "create": BUDGET_WRITE,
        "partial_update": BUDGET_WRITE,
        "destroy": BUDGET_WRITE,
        "adjust": BUDGET_WRITE,
    }
    errors = {
        "list": {
            400: NO_STORE + ".",
            403: ASSOCIATION,
            404: "Nothing exists at this URL.",
            **concurrency_errors("exports or lists of more than 500 budgets"),
        },
        "retrieve": COMMON,
        "create": {
            400: BROKEN_RULE + "`too_large`, `date_out_of_range`, `ends_before_start`.",
            403: ASSOCIATION,
            404: "Nothing exists at this URL.",
            409: "The store has no budgets (`budgets_disabled`), or 5,000 already, or 100 that have not ended for the "
            "same scope (`too_many_budgets`).",
        },
        "partial_update": {
            **COMMON,
            400: BROKEN_RULE + "`too_large`, `date_out_of_range`, `ends_before_start`, `currency_changed`.",
            409: f"{HAS_ENTRIES}: Scope, Type, Duration and StartDate cannot change. Or 100 budgets that have not "
            "ended have the new scope (`too_many_budgets`).",
        },
        "destroy": {**COMMON, 409: f"{HAS_ENTRIES}: end it by setting EndDate."},
        "adjust": {
            **COMMON,
            400: f"{NO_STORE}, or the limit of the period would be below 0 (`limit_below_zero`).",
            409: "The budget has no period today (`budget_not_in_force`).",
        },
    }

    def _authorize(self, request: Request, store_id: str, budget_id: str = "") -> BudgetAccess:
        return authorize_budgets(request.auth, store_id, WRITE)

    def _budget(self, request: Request, store_id: str, budget_id: str) -> Budget:
        return standing_for(self._authorize(request, store_id), budget_id).budget

    @extend_schema(
        operation_id="budget_list",
        summary="List budgets",
        description="Returns the budgets by name, each with its current period.",
        parameters=[STORE_ID],
        responses={200: BudgetSerializer(many=True)},
        examples=[BUDGET_EXAMPLE],
    )
    def list(self, request: Request, store_id: str) -> Response:
        access = authorize_budgets(request.auth, store_id, READ)
        with slot_if(has_long_list(access), request.auth.key):
            standings = list_budgets(access)
            names = scope_names(
                (standing.budget for standing in standings), names_people=request.auth.sees_names
            )
            return Response([budget_record(standing, store_id, names) for standing in standings])

    @extend_schema(
        operation_id="budget_create",
        summary="Create a budget",
        description="From `StartDate` on, the budget applies to every order in its `Scope`.",
        parameters=[STORE_ID],
        request=BudgetRequestSerializer,
        responses={201: BudgetSerializer},
        examples=[REQUEST_EXAMPLE, BUDGET_EXAMPLE],
    )
    @idempotent(access=_authorize)
    def create(self, request: Request, store_id: str) -> Response:
        access = self._authorize(request, store_id)
        values = validate_data(BudgetRequestSerializer, request.data)
        standing = create_budget(store=access.store, values=values)
        location = f"/api/v1/store/{store_id}/budget/{standing.budget.pk}"
        return _budget_response(request, standing, store_id, status=201, headers={"Location": location})

    @on_budget(
        operation_id="budget_read",
        summary="Read a budget",
        examples=[BUDGET_EXAMPLE],
    )
    def retrieve(self, request: Request, store_id: str, budget_id: str) -> Response:
        standing = standing_for(authorize_budgets(request.auth, store_id, READ), budget_id)
        return _budget_response(request, standing, store_id)

    @on_budget(
        operation_id="budget_update",
        summary="Change a budget",
        description=(
            "Send only the members to change. A limit below the amount already used does not affect "
            "earlier orders; `OverBudget` decides about later ones. Once there are entries, `Scope`, "
            "`Type`, `Duration` and `StartDate` cannot change."
        ),
        request=BudgetChangeSerializer,
        examples=[CHANGE_EXAMPLE, BUDGET_EXAMPLE],
    )
    def partial_update(self, request: Request, store_id: str, budget_id: str) -> Response:
        budget = self._budget(request, store_id, budget_id)
        values = validate_data(BudgetChangeSerializer, request.data)
        return _budget_response(request, change_budget(budget=budget, values=values), store_id)

    @on_budget(
        operation_id="budget_delete",
        summary="Delete a budget",
        description="Works only while the budget has no entries. Otherwise, end it by setting `EndDate`.",
        request=None,
        responses={204: None},
    )
    def destroy(self, request: Request, store_id: str, budget_id: str) -> HttpResponse:
        remove_budget(budget=self._budget(request, store_id, budget_id))
        return HttpResponse(status=204)

    @on_budget(
        operation_id="budget_adjust",
        summary="Adjust the current period of a budget",
        request=AdjustmentSerializer,
        responses={201: BudgetEntrySerializer},
        examples=[ADJUSTMENT_EXAMPLE, ENTRY_EXAMPLE],
    )
    @idempotent(access=_authorize)
    def adjust(self, request: Request, store_id: str, budget_id: str) -> Response:
        budget = self._budget(request, store_id, budget_id)
        values = validate_data(AdjustmentSerializer, request.data)
        entry = adjust_budget(
            budget=budget, amount=values["Amount"], note=values["Note"], caller=request.auth
        )
        [record] = entry_records([entry], budget, names_people=request.auth.sees_names)
        return Response(record, status=201)


class BudgetEntryViewSet(ApiViewSet):
    tag = "Budgets"
    renderer_classes = [*api_settings.DEFAULT_RENDERER_CLASSES, CSVRenderer]
    access = {
        "list": Access(
            rule=(
                "Users and applications see the entries of budgets whose scope is only themselves. With "
                "`Store.All.Read` or `Budget.All.Write`, they see the entries of every budget of the store."
            ),
            permissions=READ,
        )
    }
    errors = {
        "list": {
            **COMMON,
            400: f"{NO_STORE}, or a parameter is invalid (`parameter_invalid`).",
            **concurrency_errors("exports as CSV or long pages"),
        }
    }

    @extend_schema(
        operation_id="budget_entry_list",
        summary="List the entries of a budget",
        description=(
            'Returns the entries, oldest first; follow `Link: rel="next"`. `Accept: text/csv` streams '
            "all of them."
        ),
        parameters=[
            STORE_ID,
            BUDGET_ID,
            AFTER,
            take_parameter(default=DEFAULT_TAKE, largest=MAX_TAKE),
            FORMAT,
            link_header(),
        ],
        responses={
            (200, "application/json"): BudgetEntrySerializer(many=True),
            (200, "text/csv"): OpenApiTypes.STR,
        },
        examples=[ENTRY_EXAMPLE],
    )
    def list(self, request: Request, store_id: str, budget_id: str) -> Response | StreamingHttpResponse:
        access = authorize_budgets(request.auth, store_id, READ)
        budget = standing_for(access, budget_id).budget
        entries, names_people = entries_for(access, budget), access.caller.sees_names
        query = request.query_params
        take = parse_whole_number(query, "take", default=DEFAULT_TAKE, most=MAX_TAKE)
        if "after" in query:
            entries = entries.filter(pk__gt=_read_cursor(query["after"]))
        if _wants_csv(request):
            rows = csv_pieces(ENTRY_COLUMNS, statement_cells(entries, budget, names_people=names_people))
            return streamed_file(rows, f"budget-{budget.pk}.csv", request.auth.key)
        with slot_if(take > DEFAULT_TAKE, request.auth.key):
            page = list(entries[: take + 1])
            records = entry_records(page[:take], budget, names_people=names_people)
        path = f"/store/{store_id}/budget/{budget_id}/entry"
        more = len(page) > take
        headers = next_page(path, query.items(), str(page[take - 1].pk)) if more else {}
        return Response(records, headers=headers)


def _budget_response(request: Request, standing: Standing, store_id: str, **options: Any) -> Response:
    names = scope_names([standing.budget], names_people=request.auth.sees_names)
    return Response(budget_record(standing, store_id, names), **options)


def _read_cursor(text: str) -> int:
    key = parse_number(text)
    if key is None:
        raise invalid_after()
    return key


def _wants_csv(request: Request) -> bool:
    format_name = request.query_params.get("format", request.accepted_renderer.format)
    if format_name not in {"csv", "json"}:
        raise Invalid.at(
            "?format", "parameter_invalid", f"format: write csv or json; found {format_name[:40]!r}."
        )
    return bool(format_name == CSVRenderer.format)
