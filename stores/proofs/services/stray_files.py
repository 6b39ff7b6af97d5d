"""Cache files, which are removed by age alone."""

from collections.abc import Iterator
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import listed


def count_old_files(folder: str, age: timedelta) -> int:
    with storage_errors():
        return sum(1 for _ in _old_files(folder, age))


def remove_old_files(folder: str, age: timedelta) -> Iterator[int]:
    with storage_errors():
        for name in _old_files(folder, age):
            default_storage.delete(name)
            yield 1


def _old_files(folder: str, age: timedelta) -> Iterator[str]:
    """Files in the shards of a folder."""
    before = timezone.now() - age
    for shard in listed(folder)[0]:
        for file in listed(f"{folder}/{shard}")[1]:
            name = f"{folder}/{shard}/{file}"
            try:
                is_old = default_storage.get_modified_time(name) < before
            except FileNotFoundError:
                continue
            if is_old:
                yield name
