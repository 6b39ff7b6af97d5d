"""What the demo store sells, as preflight compares it with a template."""

from printing.preflight import ProductFacts
from stores.demo import demo_catalog

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
