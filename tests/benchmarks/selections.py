"""EDDM selections at national scale: `python -m tests.benchmarks.selections`, on an empty database (DATABASE_URL).

Real ZIP codes at their real places (package `zipcodes`), invented counts, people and shapes: an area for each street
route, a point for each section of PO Boxes. With `--write FILE` it only writes the file of it.
"""

import argparse
import json
import math
import random
import statistics
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import shapely
import zipcodes

from tests.benchmarks.delivery import _prepare, _show, demo_headers, time_import, write_national_file

SEED = 20250102
CORNERS, MILES, ROUNDS, AREAS = 200, 10, 300, 1000
LIMIT_MS, LIMIT_SECONDS, LIMIT_MEGABYTES = 50, 60, 500
# From one route of a postal code to the next around its middle, as seeds of a sunflower.
TURN = math.pi * (3 - math.sqrt(5))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path)
    parser.add_argument("--keep", action="store_true", help="Measure with the set that is loaded.")
    options = parser.parse_args()
    if options.write:
        sys.stdout.write(f"{write_national_file(options.write, details):,} routes\n")
        return 0
    _prepare()
    missed: list[str] = []
    if not options.keep:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "national-2026-01.csv"
            routes = write_national_file(path, details)
            seconds, megabytes = time_import(path)
        _show(missed, f"import of {routes:,} routes with places", seconds, "s", LIMIT_SECONDS)
        _show(missed, "peak memory of the import", megabytes, "MB", LIMIT_MEGABYTES)
        _show_size()
    post = poster()
    for name, bodies in (("circle of 10 miles", circles()), ("polygon of 200 corners", polygons())):
        median, p95, largest = time_requests(post, bodies)
        title = f"p95 of a {name} (median {median:.1f}; up to {largest:,} routes)"
        _show(missed, title, p95, "ms", LIMIT_MS)
    _show(missed, f"areas of {AREAS:,} that differ from the plain way", wrong_areas(), "", 0)
    return bool(missed)


@cache
def places() -> dict[str, tuple[float, float]]:
    return {place["zip_code"]: (float(place["lat"]), float(place["long"])) for place in zipcodes.list_all()}


def details(code: str, letter: str, number: int) -> str:
    """The last columns of a line, the same for ever."""
    chance = random.Random(f"{SEED}{code}{letter}{number}")
    latitude, longitude = places()[code]
    people = f",{chance.randint(28, 160) * 1000},{chance.uniform(24, 60):.1f},{chance.uniform(1.4, 4):.2f}"
    office = f",POST OFFICE {code[:4]}"
    if letter in "BG":
        return f'{people}{office},"POINT ({longitude:.5f} {latitude:.5f})"'
    reach = {"C": 0.006, "R": 0.02, "H": 0.04}[letter]
    away, angle = reach * 1.7 * math.sqrt(number), number * TURN
    latitude, longitude = latitude + away * math.sin(angle), longitude + away * math.cos(angle) * 1.3
    corners = [
        (
            longitude + 1.3 * reach * chance.uniform(0.6, 1.1) * math.cos(step * math.tau / 20),
            latitude + reach * chance.uniform(0.6, 1.1) * math.sin(step * math.tau / 20),
        )
        for step in range(20)
    ]
    text = ", ".join(f"{x:.6f} {y:.6f}" for x, y in [*corners, corners[0]])
    return f'{people}{office},"POLYGON (({text}))"'


def _show_size() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size('delivery_area') / 1e6, sum(octet_length(shapes)) / sum(shape_count)"
            " FROM delivery_area"
        )
        megabytes, each = cursor.fetchone()
    sys.stdout.write(f"       places on disk: {megabytes:.0f} MB, {each:.0f} bytes a route\n")


def spots(number: int) -> list[tuple[float, float]]:
    """At ZIP codes drawn by chance, so where people are."""
    chance = random.Random(SEED)
    standard = sorted(
        place["zip_code"]
        for place in zipcodes.list_all()
        if place["active"] and place["zip_code_type"] == "STANDARD"
    )
    chosen = [places()[chance.choice(standard)] for _ in range(number)]
    return [
        (latitude + chance.gauss(0, 0.02), longitude + chance.gauss(0, 0.02))
        for latitude, longitude in chosen
    ]


def circles() -> list[dict]:
    return [
        {"Center": {"Latitude": latitude, "Longitude": longitude}, "RadiusMiles": MILES}
        for latitude, longitude in spots(ROUNDS)
    ]


def polygons() -> list[dict]:
    """Stars of up to about ten miles."""
    chance = random.Random(SEED)
    return [
        {"Polygon": {"type": "Polygon", "coordinates": [star(chance, spot, 0.145, CORNERS)]}}
        for spot in spots(ROUNDS)
    ]


def star(chance: random.Random, spot: tuple[float, float], size: float, corners: int) -> list[list[float]]:
    latitude, longitude = spot
    wide = size / math.cos(math.radians(latitude))
    ring = []
    for step in range(corners - 1):
        out, angle = chance.uniform(0.5, 1), step * math.tau / (corners - 1)
        ring.append([longitude + wide * out * math.cos(angle), latitude + size * out * math.sin(angle)])
    return [*ring, ring[0]]


def poster():
    """Sends whole requests of an application, without a network."""
    from django.core.wsgi import get_wsgi_application
    from django.test import RequestFactory

    factory, application = RequestFactory(headers=demo_headers()), get_wsgi_application()

    def post(body: dict) -> tuple[int, bytes]:
        request = factory.post(
            "/api/v1/delivery/eddm/selection", json.dumps(body), content_type="application/json"
        )
        response = application({**request.environ, "HTTP_HOST": "127.0.0.1"}, lambda *parts: None)
        answer = b"".join(response)
        response.close()
        return response.status_code, answer

    return post


def time_requests(post, bodies: list[dict]) -> tuple[float, float, int]:
    times, largest = [], 0
    for body in bodies[:20]:
        post(body)
    for body in bodies:
        started = time.perf_counter()
        status, answer = post(body)
        times.append((time.perf_counter() - started) * 1000)
        if status == 201:
            largest = max(largest, len(json.loads(answer)["Routes"]))
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)], largest


def wrong_areas() -> int:
    from accounts.callers import Caller
    from delivery.datasets.selectors.datasets import active_dataset
    from delivery.selection.criteria import Centre, Criteria
    from delivery.selection.services.choosing import choose_routes
    from fulfillment.core.errors import Invalid
    from tests.support.brute_force import EveryRoute

    every, chance, wrong = EveryRoute(active_dataset()), random.Random(SEED), 0

    def chosen(**criteria) -> set[str]:
        try:
            choice = choose_routes(caller=Caller(), criteria=Criteria(**criteria))
        except Invalid:
            return set()
        return {route.code for route in choice.routes}

    for number, (latitude, longitude) in enumerate(spots(AREAS)):
        size = 10 ** chance.uniform(-2.5, -0.7)
        if number % 2:
            ring = star(chance, (latitude, longitude), size, 40)
            wrong += chosen(polygon=shapely.Polygon(ring)) != every.in_polygon(ring)
        else:
            found = chosen(centre=Centre(latitude, longitude), radius=size * 69)
            wrong += found != set(every.in_circle(latitude, longitude, size * 69))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
