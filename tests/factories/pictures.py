"""Pictures of customers, and a product that prints one."""

from io import BytesIO
from typing import Any

from PIL import Image

from stores.catalog.models import Product, Store
from stores.catalog.services.products import save_product
from tests.factories.orders import product_values
from tests.factories.templates import field, page

PHOTO = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 15, "Width": 20, "Height": 20}


def encode_picture(color: str = "teal") -> bytes:
    content = BytesIO()
    Image.new("RGB", (40, 30), color).save(content, "PNG")
    return content.getvalue()


def upload(client: Any, color: str = "teal") -> str:
    """The AssetID of a picture sent to the associated store."""
    content = BytesIO()
    Image.new("RGB", (40, 30), color).save(content, "PNG")
    response = client.post("/api/v1/store/associated/asset", content.getvalue(), content_type="image/png")
    return str(response.json()["AssetID"])


def make_photo_card(store: Store) -> Product:
    values = product_values(
        ID="photo-card",
        APIKey="PHOTO-CARD",
        TemplateFields=[field("Photo", Type="Image", SubType="Upload")],
        Template={"Pages": [page(PHOTO)]},
    )
    return save_product(store=store, values=values)
