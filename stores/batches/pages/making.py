"""The file of a batch, and which column of it is which field; the playground makes the batch."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.pages.guards import signed_in, signed_in_user
from accounts.throttles import enforce_page_limit
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.text import parse_number
from stores.batches.files.reading import MAX_BYTES
from stores.batches.models import Batch
from stores.batches.overview import required_targets, tone_of, unmapped_targets
from stores.batches.pages.opening import PORTAL, Place, batches_of_person
from stores.batches.rows import RECIPIENT
from stores.batches.selectors import counts_of_batches, kept_mappings, named, target_labels
from stores.batches.services.batches import change_batch
from stores.batches.services.uploads import receive_rows

A_PAGE = 25
SAMPLES = 3


@require_safe
@signed_in
def list_batches(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    batches = batches_of_person(signed_in_user(request)).filter(named(searched))
    page = Paginator(batches, A_PAGE).get_page(request.GET.get("page"))
    counts = counts_of_batches(page)
    rows = [{"batch": one, "tone": tone_of(one), "counts": counts[one.pk]} for one in page]
    context = {"page": page, "rows": rows, "searched": searched, "part": "catalog"}
    return render(request, "stores/batches/list.html", context)


@harmless
@require_POST
@signed_in
@takes_large_forms
def send_rows(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    """Reads the file and leads to its columns, so that reloading the page sends nothing twice."""
    opened = place.open(request, batch_id)
    file = request.FILES.get("file")
    with errors_as_messages(request):
        enforce_page_limit("playground", signed_in_user(request).pk)
        receive_rows(
            batch=opened.batch,
            caller=opened.caller,
            content=file.read(MAX_BYTES + 1) if file else b"",
            content_type=(file.content_type or "") if file else "",
            name=(file.name or "") if file else "",
            check=False,
        )
        return place.lead_to("mapping", batch_id)
    return place.lead_to("show", batch_id)


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def map_columns(request: HttpRequest, batch_id: UUID, place: Place = PORTAL) -> HttpResponse:
    """Shows which column was taken for which field, also by columns kept under a name, and starts the check with what
    is chosen. A required field without a column is an error here, not on each row."""
    batch = place.open(request, batch_id).batch
    if not batch.columns:
        return place.lead_to("show", batch_id)
    kept, chosen = kept_mappings(batch), request.GET.get("kept", "")
    if request.method == "POST":
        batch.mapping = _chosen_mapping(request, batch)
        name = request.POST.get("keep_as", "").strip()[:100]
        with errors_as_messages(request):
            if not unmapped_targets(batch):
                change_batch(batch=batch, values={"mapping": batch.mapping}, mapping_name=name)
                return place.lead_to("show", batch_id)
    elif chosen and (found := kept.filter(name=chosen).first()):
        batch.mapping = {one: column for one, column in found.mapping.items() if column in batch.columns}
    targets = _targets(batch)
    return place.render(
        request,
        "mapping",
        batch=batch,
        columns=_samples(batch),
        targets=targets,
        missing=[one for one in targets if one["is_missing"]] if request.method == "POST" else [],
        folded={one["group"] for one in targets if one["is_folded"]},
        unused=[one for one in batch.columns if one not in batch.mapping.values()],
        rows=batch.rows.count(),
        kept=[one.name for one in kept.order_by("-updated")],
        chosen=chosen,
    )


def _chosen_mapping(request: HttpRequest, batch: Batch) -> dict[str, str]:
    """Columns and targets by their places: heads of a file may be any text."""
    chosen = {}
    for place, target in enumerate(target_labels(batch)):
        number = parse_number(request.POST.get(f"target-{place}", ""), most=len(batch.columns) - 1)
        if number is not None:
            chosen[target] = batch.columns[number]
    return chosen


def _samples(batch: Batch) -> list[tuple[int, str, str]]:
    """Each column with its place and the first texts that it has."""
    values = list(batch.rows.order_by("number").values_list("values", flat=True)[:SAMPLES])
    found = []
    for place, column in enumerate(batch.columns):
        texts = [" ".join(text.split())[:40] for row in values if (text := row.get(column, "").strip())]
        found.append((place, column, " · ".join(dict.fromkeys(texts))))
    return found


def _targets(batch: Batch) -> list[dict[str, Any]]:
    scores = {(one["Target"], one["Column"]): one["Score"] for one in batch.matches}
    required = required_targets(batch)
    found = []
    for place, (target, label) in enumerate(target_labels(batch).items()):
        column = batch.mapping.get(target)
        score = scores.get((target, column))
        found.append(
            {
                "place": place,
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
    return found
