"""From what a request costs to what machines carry: the arithmetic of docs/scaling.md."""

import math
from collections.abc import Mapping

LOAD, CORES, WANTED = 0.7, 8, 10_000
DAY = 86_400
# Shares of a day of many stores: most catalog reads find nothing new, one in fifty requests is an order.
MIX = {
    "GET /store/{id}": 0.20,
    "GET /store/{id}/product, 100 products": 0.15,
    "the same with If-None-Match": 0.40,
    "GET /delivery/eddm, 100 codes": 0.05,
    "GET export view, take 100": 0.05,
    "POST order, no template": 0.02,
    "POST proof, known": 0.10,
    "POST /oauth/token, client_credentials": 0.03,
}
HEAD = f"""
| request | worker ms | database ms | a web core /s | a database core /s | one machine of {CORES} cores /s | share |
|---|---|---|---|---|---|---|
"""


def arithmetic(costs: Mapping[str, tuple[float, float]]) -> str:
    """A table for each kind of request and for a mixture of them, and what a large service would need."""
    lines = [_line(title, *cost, f"{MIX.get(title, 0):.0%}") for title, cost in costs.items()]
    worker, database = (sum(share * costs[title][part] for title, share in MIX.items()) for part in (0, 1))
    machine = LOAD * CORES * 1000 / (worker + database)
    orders = machine * MIX["POST order, no template"]
    web, primary = (WANTED * cost / 1000 / LOAD for cost in (worker, database))
    summary = (
        f"So one machine of {CORES} cores with everything on it carries about {_rounded(machine):,} requests a second "
        f"of this mixture, {_rounded(orders):,} of them orders: {_rounded(machine * DAY / 1e6):,} million requests and "
        f"{_rounded(orders * DAY / 1e6, 1):,} million orders a day. For {WANTED:,} a second it takes {web:.0f} web "
        f"cores ({WANTED:,} × {worker:.2f} ms / {LOAD}), of {math.ceil(web / CORES)} machines of {CORES}, and "
        f"{primary:.0f} cores of PostgreSQL ({WANTED:,} × {database:.2f} ms / {LOAD}): one primary."
    )
    table = "\n".join([*lines, _line("**the mixture**", worker, database, "")])
    return f"{HEAD}{table}\n\n{summary}\n\n"


def _line(title: str, worker: float, database: float, share: str) -> str:
    web, primary = (_rounded(LOAD * 1000 / max(cost, 0.001)) for cost in (worker, database))
    machine = _rounded(LOAD * CORES * 1000 / (worker + database))
    return f"| {title} | {worker:.2f} | {database:.2f} | {web:,} | {primary:,} | {machine:,} | {share} |"


def _rounded(value: float, digits: int = 0) -> float:
    """To two significant figures: more would be made up."""
    if value < 10:
        return round(value, 1) if digits else round(value)
    size = len(str(int(value))) - 2
    return int(round(value, -size))
