"""The endpoints for providers: postbacks with reports, and print files at signed URLs."""

import hashlib
import re
from pathlib import PurePosixPath

from django.core import signing
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from accounts.callers import Caller
from fulfillment.core.api.errors import exception_response, problem
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import DomainError, ServiceBusy, TooManyAtOnce
from fulfillment.core.files.downloads import limited_pdf
from fulfillment.core.text import parse_number
from production.dispatch.services.postbacks import queue_postback, store_postback
from production.jobs.selectors import job_number
from production.jobs.services.adapter_jobs import FILE_SALT, FILE_VALID, PAPERS, stamped_content
from production.providers.selectors import provider_at_address
from stores.orders.models import OrderItem
from stores.orders.services.eddm_papers import render_eddm_papers
from stores.orders.services.print_files import read_print_file

MAX_BODY_BYTES = 1024 * 1024


@csrf_exempt
@require_POST
def receive_postback(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Answers 2xx for every report, even a repeated or contradictory one, so that it is not resent."""
    provider = provider_at_address(code, secret)
    if provider is None:
        return problem(404, "address_unknown", "This address accepts no reports.")
    if parse_number(request.META.get("CONTENT_LENGTH") or "0", most=MAX_BODY_BYTES) is None:
        return problem(413, "body_too_large", f"A report may have at most {MAX_BODY_BYTES:,} bytes.")
    body, content_type = request.read(MAX_BODY_BYTES), request.headers.get("Content-Type", "")
    try:
        try:
            with FILES.slot(f"provider:{provider.pk}"):
                rows = store_postback(provider=provider, body=body, content_type=content_type)
        except (ServiceBusy, TooManyAtOnce) as refusal:
            count = queue_postback(provider=provider, body=body, content_type=content_type, refusal=refusal)
            return JsonResponse({"Received": count, "Outcomes": ["Queued"] * count}, status=202)
    except DomainError as error:
        return exception_response(error)
    return JsonResponse({"Received": len(rows), "Outcomes": [row.outcome for row in rows]})


@require_GET
def serve_print_file(request: HttpRequest, token: str, name: str) -> HttpResponseBase:
    """Serves a print file at its signed URL, for providers that fetch files."""
    try:
        key, start, *pieces = signing.loads(token, salt=FILE_SALT, max_age=FILE_VALID)
    except signing.SignatureExpired:
        return problem(410, "address_expired", "This address has expired; send the job again for a new one.")
    except (signing.BadSignature, ValueError, TypeError):
        return problem(403, "address_invalid", "The service did not issue this address.")
    item = OrderItem.objects.select_related("order__store", "product").filter(pk=key).first()
    is_papers = start == PAPERS
    if item is None or not _is_name_of(item, name) or not (is_papers or item.print_sha256.startswith(start)):
        return problem(404, "print_file_not_found", "The print file is no longer stored.")
    ending = "-papers" if is_papers else ""
    try:
        with limited_pdf(0 if is_papers else item.print_bytes) as respond:
            if is_papers:
                content = render_eddm_papers(item=item, caller=Caller())
            else:
                number, print_file = PurePosixPath(name).stem, read_print_file(item=item)
                content = stamped_content(item, number, print_file, pieces=pieces[0] if pieces else None)
            response = respond(content, f"{item.order_id}-{item.position}{ending}.pdf")
    except DomainError as error:
        return exception_response(error)
    response["ETag"] = f'"{hashlib.sha256(content).hexdigest()}"'
    response["Cache-Control"] = "private, max-age=86400, immutable"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _is_name_of(item: OrderItem, name: str) -> bool:
    """The name is not signed, but printed on the file: it must be a number of the item's job."""
    number = re.escape(job_number(item.order, item.position))
    return re.fullmatch(rf"{number}(-\d{{1,4}})?(-eddm-papers)?\.pdf", name) is not None
