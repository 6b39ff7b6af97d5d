"""Every search box of the admin and every field that is filled by typing, with words that find all, few and nothing."""

from collections.abc import Iterator
from urllib.parse import urlencode

TERMS = ("", "a", "application 01234", "customer-01234", "4711", "no such thing")


def search_paths() -> Iterator[str]:
    yield from _lists()
    yield from _choices()


def _lists() -> Iterator[str]:
    from django.contrib import admin
    from django.urls import reverse

    for model in sorted(admin.site._registry, key=lambda model: model._meta.label):
        names = model._meta.app_label, model._meta.model_name
        for term in TERMS[1:]:
            yield f"{reverse('admin:{}_{}_changelist'.format(*names))}?{urlencode({'q': term})}"


def _choices() -> Iterator[str]:
    from django.contrib import admin
    from django.urls import reverse

    for model, one in sorted(admin.site._registry.items(), key=lambda item: item[0]._meta.label):
        for source in (one, *one.inlines):
            for name in source.autocomplete_fields:
                of = source.model if source is not one else model
                asked = {
                    "app_label": of._meta.app_label,
                    "model_name": of._meta.model_name,
                    "field_name": name,
                }
                for term in TERMS:
                    yield f"{reverse('admin:autocomplete')}?{urlencode({**asked, 'term': term})}"
