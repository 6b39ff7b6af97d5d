"""What the demo store sells, as preflight compares it with a template."""

from printing.preflight import PreflightInput, ProductFacts
from printing.typesetting import (
    FontSet,
    load_fields,
    load_sample,
    load_template_folder,
    parse_template,
    render_proof,
    resolve_values,
)
from stores.demo import demo_catalog
from tests.support.printing.made_templates import DEMO

PRODUCTS = {
    product["ID"]: product
    for store in demo_catalog()["Stores"]
    if store["StoreID"] == "demo"
    for product in store["Products"]
}


def facts_of_demo(name: str) -> ProductFacts:
    product = PRODUCTS[name]
    size = product["WidthMM"], product["HeightMM"]
    return ProductFacts(*size, product["PageCount"], product.get("IsEddm", False))


def demo_job(name: str) -> PreflightInput:
    """Preflight of the product with its sample data."""
    folder = DEMO / name
    fields = load_fields(folder)
    template = parse_template(load_template_folder(folder), fields)
    values = resolve_values(fields, load_sample(folder), template.gallery)
    sent = [field.field_name for field in fields if field.sub_type == "Upload" and values[field.field_name]]
    images = {field: (folder / "pictures" / values[field]).read_bytes() for field in sent}
    texts = render_proof(template, values, images).texts
    return PreflightInput(template, values, images, FontSet.shipped(), texts, facts_of_demo(name))
