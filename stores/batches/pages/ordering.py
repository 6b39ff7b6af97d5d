"""Makes a batch ready and orders it: its file, which column is which field, what it will cost; and cancels it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_post, signed_in_user
from accounts.throttles import enforce_page_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_number
from stores.batches.models import Batch
from stores.batches.overview import PROBLEMS, BatchPage, required_targets, tone_of, unmapped_targets
from stores.batches.pages.showing import PORTAL, BatchSite, batches_of_person
from stores.batches.row_contents import RECIPIENT
from stores.batches.selectors.batches import (
    counts_of,
    counts_of_batches,
    kept_mappings,
    search_condition,
    target_labels,
)
from stores.batches.services.batches import cancel_batch, change_batch, start_check
from stores.batches.services.ordering import order_batch
from stores.batches.services.uploads import receive_rows
from stores.orders.services.changes import actor_of

A_PAGE = 25
SAMPLES = 3


@signed_in_form(harmless)
def order(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    access, batch = site.open(request, batch_id)
    page = BatchPage(batch, counts_of(batch))
    values = request.POST if request.method == "POST" else request.GET
    only_ready = values.get("rows") != "all"
    if page.counts.errors and not only_ready:
        messages.error(
            request,
            _("Rows in error: %(errors)s. Correct them, or order ready rows only.")
            % {"errors": number_format(page.counts.errors, force_grouping=True)},
        )
        return redirect(f"{reverse(site.show, args=[batch_id])}?state={PROBLEMS}")
    if request.method == "POST":
        if request.POST.get("seen") != confirmed_state(page):
            messages.warning(request, _("Rows changed meanwhile. Look at the numbers again."))
        else:
            with errors_as_messages(request):
                actor = actor_of(access)
                order_batch(batch=batch, actor=actor, only_ready=only_ready)
                return site.lead_to("show", batch_id)
    if not page.can_order:
        return site.lead_to("show", batch_id)
    return site.render(
        request, "order", page=page, batch=batch, seen=confirmed_state(page), only_ready=only_ready
    )


@signed_in_form(harmless)
def cancel(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    batch = site.open(request, batch_id).batch
    if request.method == "POST":
        with errors_as_messages(request):
            cancel_batch(batch=batch, note=request.POST.get("note", "").strip()[:1000])
            messages.success(request, _("The batch is cancelled. Orders that are already placed stay."))
        return site.lead_to("show", batch_id)
    return site.render(request, "cancel", batch=batch)


@signed_in_post(harmless)
def check_again(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    """Checks all rows against the product, its template and prices of now."""
    with errors_as_messages(request):
        start_check(batch=site.open(request, batch_id).batch)
    return site.lead_to("show", batch_id)


def confirmed_state(page: BatchPage) -> str:
    """What a person agrees to: the numbers, and the rows since their last change. Once it changes, the person is to
    confirm again."""
    changed = page.batch.updated.timestamp()
    return f"{page.counts.orderable} {page.counts.errors} {page.counts.total} {changed}"


@signed_in_page
def list_batches(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    batches = batches_of_person(signed_in_user(request)).filter(search_condition(searched))
    page = Paginator(batches, A_PAGE).get_page(request.GET.get("page"))
    counts = counts_of_batches(page)
    rows = [{"batch": batch, "tone": tone_of(batch), "counts": counts[batch.pk]} for batch in page]
    context = {"page": page, "rows": rows, "searched": searched, "part": "catalog"}
    return render(request, "stores/batches/list.html", context)


@signed_in_post(harmless)
@takes_large_forms
def send_rows(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    """Reads the file and leads to its columns, so that reloading the page sends nothing twice."""
    access, batch = site.open(request, batch_id)
    file = request.FILES.get("file")
    with errors_as_messages(request):
        enforce_page_limit("product-page", signed_in_user(request).pk)
        receive_rows(batch=batch, caller=access.caller, file=file)
        return site.lead_to("mapping", batch_id)
    return site.lead_to("show", batch_id)


@signed_in_form(harmless)
def map_columns(request: HttpRequest, batch_id: UUID, site: BatchSite = PORTAL) -> HttpResponse:
    """Shows which column was taken for which field, also by columns kept under a name, and starts the check with what
    is chosen. A required field without a column is an error here, not on each row."""
    batch = site.open(request, batch_id).batch
    if not batch.columns:
        return site.lead_to("show", batch_id)
    saved_mappings, mapping_name = kept_mappings(batch), request.GET.get("kept", "")
    if request.method == "POST":
        batch.mapping = _chosen_mapping(request, batch)
        name = request.POST.get("keep_as", "").strip()[:100]
        with errors_as_messages(request):
            if not unmapped_targets(batch):
                change_batch(batch=batch, values={"mapping": batch.mapping}, mapping_name=name)
                return site.lead_to("show", batch_id)
    elif mapping_name and (saved := saved_mappings.filter(name=mapping_name).first()):
        batch.mapping = {field: column for field, column in saved.mapping.items() if column in batch.columns}
    targets = _list_targets(batch)
    return site.render(
        request,
        "mapping",
        batch=batch,
        columns=_list_samples(batch),
        targets=targets,
        missing=[target for target in targets if target["is_missing"]] if request.method == "POST" else [],
        folded={target["group"] for target in targets if target["is_folded"]},
        unused=[heading for heading in batch.columns if heading not in batch.mapping.values()],
        rows=batch.rows.count(),
        kept=[mapping.name for mapping in saved_mappings.order_by("-updated")],
        chosen=mapping_name,
    )


def _chosen_mapping(request: HttpRequest, batch: Batch) -> dict[str, str]:
    """Columns and targets by their places: heads of a file may be any text."""
    delivery = {}
    for index, target in enumerate(target_labels(batch)):
        number = parse_number(request.POST.get(f"target-{index}", ""), most=len(batch.columns) - 1)
        if number is not None:
            delivery[target] = batch.columns[number]
    return delivery


def _list_samples(batch: Batch) -> list[tuple[int, str, str]]:
    """Each column with its position and the first texts that it has."""
    values = list(batch.rows.order_by("number").values_list("values", flat=True)[:SAMPLES])
    samples = []
    for index, column in enumerate(batch.columns):
        texts = [" ".join(text.split())[:40] for row in values if (text := row.get(column, "").strip())]
        samples.append((index, column, " · ".join(dict.fromkeys(texts))))
    return samples


def _list_targets(batch: Batch) -> list[dict[str, Any]]:
    scores = {(match["Target"], match["Column"]): match["Score"] for match in batch.matches}
    required = required_targets(batch)
    targets = []
    for index, (target, label) in enumerate(target_labels(batch).items()):
        column = batch.mapping.get(target)
        score = scores.get((target, column))
        targets.append(
            {
                "place": index,
                "name": target,
                "label": label,
                "is_required": target in required,
                "is_missing": target in required and column is None,
                "is_folded": target not in required and column is None,
                "column": column,
                "score": None if score is None else round(score * 100),
                "group": "Recipient" if target.startswith(RECIPIENT) else "Row",
            }
        )
    return targets
