"""The PDF in a request for a proof or an order."""

from fulfillment.core.api.serializers import StrictInteger, StrictSerializer, StrictText
from printing.documents import MAX_PAGES


class ArtworkSerializer(StrictSerializer):
    """A print-ready PDF in place of a template's data."""

    ignored_nulls = True

    AssetID = StrictText(max_length=64, help_text="The AssetID of a PDF that you uploaded to this store.")
    FirstPage = StrictInteger(
        min_value=1,
        max_value=MAX_PAGES,
        required=False,
        help_text="The page of the PDF to print as the product's first page. Default: 1.",
    )
