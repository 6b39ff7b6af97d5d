"""The catalog file that the console sends."""

from collections.abc import Sequence
from tempfile import SpooledTemporaryFile

from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from accounts.callers import Caller
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.page_messages import errors_as_messages
from stores.catalog.services.imports import export_catalog

IN_MEMORY = 8 * 1024 * 1024


def catalog_response(request: HttpRequest, store_ids: Sequence[str], name: str) -> HttpResponseBase:
    """Makes the file in its turn, and leads to the list where there is none.

    It is complete before the first byte is sent, because a slow reader would keep the transaction open.
    """
    with errors_as_messages(request), FILES.limited(Caller.on_pages(request.user).key):
        file = SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - the answer closes it
        file.writelines(export_catalog(store_ids=store_ids) if store_ids else ())
        file.seek(0)
        return FileResponse(file, as_attachment=True, filename=name, content_type="application/json")
    return redirect("admin:stores_store_changelist")
