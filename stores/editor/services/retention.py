from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from stores.catalog.models import TemplatePicture
from stores.editor.models import ArtworkUpload

# A saved template contains its pictures.
ARTWORK_RETENTION = timedelta(days=7)
# How long a version can be restored with pictures that the template no longer has.
EARLIER_PICTURE_RETENTION = timedelta(days=365)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows("artwork of unsaved templates", _old_artwork),
        rule_for_rows("pictures of earlier templates", _old_pictures),
    ]


def _old_artwork() -> QuerySet[ArtworkUpload]:
    return ArtworkUpload.objects.filter(created__lt=timezone.now() - ARTWORK_RETENTION)


def _old_pictures() -> QuerySet[TemplatePicture]:
    return TemplatePicture.objects.filter(created__lt=timezone.now() - EARLIER_PICTURE_RETENTION)
