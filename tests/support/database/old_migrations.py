"""A database as it was before 0.1.0: other names of migrations."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

OURS = "app IN ('accounts', 'applications', 'delivery', 'stores')"


@contextmanager
def old_migrations() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE django_migrations SET name = 'old_' || name WHERE {OURS}")
        try:
            yield
        finally:
            cursor.execute(f"UPDATE django_migrations SET name = substr(name, 5) WHERE {OURS}")
