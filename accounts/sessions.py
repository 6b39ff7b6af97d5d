"""Database sessions stored under a digest of their ID, so that a copy of the database opens no session.

Session IDs are random and long, so SHA-256 suffices, cut to the column's length. Synchronous, as all pages are.
"""

import hashlib
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.utils import timezone

LENGTH = 40


class SessionStore(DatabaseStore):
    def exists(self, session_key: str) -> bool:
        return super().exists(_stored_key(session_key))

    def delete(self, session_key: str | None = None) -> None:
        key = session_key or self.session_key
        if key is not None:
            self.model.objects.filter(session_key=_stored_key(key)).delete()

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        instance = super().create_model_instance(data)
        instance.session_key = _stored_key(instance.session_key)
        return instance

    def _get_session_from_db(self) -> Any:
        key = _stored_key(self.session_key or "")
        session = self.model.objects.filter(session_key=key, expire_date__gt=timezone.now()).first()
        if session is None:
            self._session_key = None
        return session


def _stored_key(session_key: str) -> str:
    return hashlib.sha256(session_key.encode()).hexdigest()[:LENGTH]
