"""The endpoints for providers: postbacks with reports, and print files at signed URLs."""

from http import HTTPStatus

from django.core import signing
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from fulfillment.core.api.errors import problem
from fulfillment.core.errors import DomainError
from production.jobs.selectors.building import FILE_SALT, PDF
from production.jobs.services.reports import receive_reports
from production.providers.selectors.providers import adapter_of, provider_at_address
from stores.orders.models import OrderItem
from stores.orders.services.print_files import read_print_file

LARGEST_BODY = 1024 * 1024
FILE_SECONDS = 90 * 86_400


@csrf_exempt
@require_POST
def receive_postback(request: HttpRequest, code: str, secret: str) -> HttpResponse:
    """Answers 200 for every stored report, even a repeated or contradictory one, so that it is not resent."""
    provider = provider_at_address(code, secret)
    if provider is None:
        return problem(404, "address_unknown", "Nothing is received at this address.")
    size = request.META.get("CONTENT_LENGTH") or "0"
    if not size.isdigit() or int(size) > LARGEST_BODY:
        return problem(413, "body_too_large", f"A report may have {LARGEST_BODY:,} bytes at most.")
    try:
        reports = adapter_of(provider).parse_report(request.read(LARGEST_BODY), dict(request.headers))
    except ValueError as error:
        return problem(400, "report_unreadable", str(error))
    rows = receive_reports(provider=provider, reports=reports)
    return JsonResponse({"Received": len(rows), "Outcomes": [row.outcome for row in rows]})


@require_GET
def serve_print_file(request: HttpRequest, token: str, name: str) -> HttpResponse:
    """Serves a print file at its signed URL, for providers that fetch files."""
    try:
        key, digest = signing.loads(token, salt=FILE_SALT, max_age=FILE_SECONDS)
    except signing.SignatureExpired:
        return problem(410, "address_expired", "This address has expired; send the job again for a new one.")
    except (signing.BadSignature, ValueError, TypeError):
        return problem(403, "address_invalid", "This address is not one the service gave out.")
    item = OrderItem.objects.filter(pk=key).first()
    if item is None or not item.print_sha256.startswith(digest):
        return problem(404, "print_file_not_found", "The print file is not kept any longer.")
    try:
        content = read_print_file(item=item)
    except DomainError as error:
        return problem(error.status, error.code, error.message)
    headers = {
        "ETag": f'"{item.print_sha256}"',
        "Cache-Control": "private, max-age=86400, immutable",
        "Content-Disposition": f'attachment; filename="{item.order_id}-{item.position}.pdf"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, status=HTTPStatus.OK, content_type=PDF, headers=headers)
