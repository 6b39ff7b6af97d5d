"""Catalog files as they are imported."""

import io
import json

from stores.catalog.services.imports import import_catalog


def load(content, **options):
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return import_catalog(source=io.BytesIO(text), **options)
