import hashlib

from django.db import connection, transaction

from fulfillment.core.errors import Conflict, Fault, Invalid
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import remove_files, write_files
from printing.typesetting import FontInvalid, FontSet, open_font
from stores.templates.models import Font
from stores.templates.selectors.fonts import font_file

SUFFIXES = {b"OTTO": ".otf", b"ttcf": ".ttc"}
USERS = """
SELECT external_id FROM stores_product
WHERE template IS NOT NULL
  AND jsonb_path_exists(template, '$.Pages[*].Boxes[*].Font ? (@ == $name)', jsonb_build_object('name', %s::text))
ORDER BY id LIMIT 5
"""


def add_font(*, file_name: str, content: bytes) -> Font:
    """Checks and stores the font file; templates may use its families from then on."""
    try:
        families = open_font(content)
    except FontInvalid as error:
        faults = [Fault("/file", problem.code, problem.message) for problem in error.problems]
        raise Invalid(faults[0].message, faults=faults) from error
    taken = FontSet.shipped().families.intersection(families)
    if taken:
        message = f"{', '.join(sorted(taken))} comes with the service; rename the family in the file."
        raise Invalid.at("/file", "family_taken", message)
    font = Font(
        families=list(families),
        file_name=file_name[:200],
        suffix=SUFFIXES.get(content[:4], ".ttf"),
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )
    if Font.objects.filter(sha256=font.sha256).exists():
        raise Invalid.at("/file", "font_known", "This file has already been added.")
    with storage_errors():
        write_files([(font_file(font), content)])
    font.save(force_insert=True)
    return font


@transaction.atomic
def remove_font(*, font: Font) -> None:
    """Raises Conflict while a template uses a family that only this file has."""
    others = {name for other in Font.objects.exclude(pk=font.pk) for name in other.families}
    for family in set(font.families) - others:
        if products := _users_of(family):
            message = f"{family} is used by the templates of {', '.join(products)}; change these first."
            raise Conflict(message, code="font_in_use")
    font.delete()
    transaction.on_commit(lambda: remove_files([font_file(font)]))


def _users_of(family: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(USERS, [family])
        return [row[0] for row in cursor.fetchall()]
