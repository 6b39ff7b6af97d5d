from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from stores.editor.models import ArtworkUpload

# A template that is saved has its pictures in itself.
ARTWORK_KEPT = timedelta(days=7)


def retention_rules() -> list[RetentionRule]:
    return [rule_for_rows("artwork of unsaved templates", _old_artwork)]


def _old_artwork() -> QuerySet[ArtworkUpload]:
    return ArtworkUpload.objects.filter(created__lt=timezone.now() - ARTWORK_KEPT)
