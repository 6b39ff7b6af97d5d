"""What is measured. A later row is one more entry here, an answer in `limit` and one in `peer_urls`."""

from dataclasses import dataclass, field


@dataclass(frozen=True, eq=False)
class Row:
    """`marks` are the least ratios of our rate to that of the limit and of the peer."""

    title: str
    path: str
    marks: dict[str, float]
    headers: dict[str, str] = field(default_factory=dict)
    conditional: bool = False


ROWS = [
    Row("GET /store/{id}", "/api/v1/store/bench", {"limit": 0.35, "peer": 3}),
    Row("GET /store/{id}/product, 100 products", "/api/v1/store/bench/product", {"limit": 0.5, "peer": 10}),
    Row(
        "the same with If-None-Match",
        "/api/v1/store/bench/product",
        {"limit": 0.4, "peer": 30},
        conditional=True,
    ),
]
