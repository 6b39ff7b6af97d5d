"""The catalog file that the console sends."""

from collections.abc import Sequence
from functools import partial
from tempfile import SpooledTemporaryFile

from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.http import content_disposition_header

from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES, LimitedStream
from fulfillment.core.page_messages import errors_as_messages
from stores.catalog.services.imports import export_catalog

IN_MEMORY = 8 * 1024 * 1024
BLOCK = 64 * 1024


def catalog_response(request: HttpRequest, store_ids: Sequence[str], name: str) -> HttpResponseBase:
    """Makes the file in its turn, which ends when it is sent, and leads to the list where there is none.

    It is complete before the first byte is sent, because a slow reader would keep the transaction open.
    """
    with errors_as_messages(request), FILES.limited(Caller.on_pages(request.user).key) as held:
        file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the answer closes it
        file.writelines(export_catalog(store_ids=store_ids) if store_ids else ())
        headers = {
            "Content-Disposition": content_disposition_header(True, name),
            "Content-Length": str(file.tell()),
        }
        file.seek(0)
        until_sent = held.whole.pop_all()
        until_sent.callback(file.close)
        blocks = LimitedStream(iter(partial(file.read, BLOCK), b""), until_sent)
        return StreamingHttpResponse(blocks, content_type="application/json", headers=headers)
    return redirect("admin:stores_store_changelist")
