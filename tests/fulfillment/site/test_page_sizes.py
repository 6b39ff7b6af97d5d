"""What a first visit to a page of the console transfers, compressed and without pictures."""

import gzip
import re
from functools import lru_cache
from pathlib import Path

from django.contrib import admin
from django.contrib.staticfiles import finders
from django.urls import reverse

from tests.factories.templates import make_card
from tests.support.scenario import sign_in

MAX_BYTES = 200_000
FILES = re.compile(r'(?:src|href)="/static/([^"]+\.(?:js|css|woff2))"')
NEVER_SENT = ("jquery", "select2", "RelatedObjectLookups")


@lru_cache
def sent_bytes(path: str) -> int:
    content = Path(finders.find(path)).read_bytes()
    return len(content) if path.endswith(".woff2") else len(gzip.compress(content))


def pages_of_the_console(world, client) -> dict[str, str]:
    """The list and the form for a new record of each admin, and the form of a product."""
    product = make_card(world.associated)
    sign_in(client, world.operator)
    request = client.get("/admin/").wsgi_request
    addresses = ["/admin/", reverse("admin:stores_product_change", args=[product.pk])]
    for model, model_admin in admin.site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        addresses.append(reverse(f"{name}_changelist"))
        if model_admin.has_add_permission(request):
            addresses.append(reverse(f"{name}_add"))
    return {address: client.get(address).content.decode() for address in addresses}


def test_pages_of_the_console_transfer_at_most_200_kilobytes_and_no_jquery(world, client):
    pages = pages_of_the_console(world, client)
    named = {(address, name) for address, content in pages.items() for name in NEVER_SENT if name in content}
    sizes = {
        address: len(gzip.compress(content.encode())) + sum(map(sent_bytes, {*FILES.findall(content)}))
        for address, content in pages.items()
    }

    assert len(sizes) > 40
    assert min(sizes.values()) > 50_000, "their files were not found"
    assert {address: size for address, size in sizes.items() if size > MAX_BYTES} == {}
    assert named == set()
