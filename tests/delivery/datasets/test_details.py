import shapely
from django.core.management import call_command

from delivery.datasets.csv_export import export_lines
from delivery.datasets.details import parse_facts
from delivery.datasets.models import Area
from delivery.datasets.packing import pack_routes
from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.datasets import rebuild_dataset
from delivery.datasets.services.demo import load_demo_population
from delivery.datasets.shapes import in_degrees, pack_area, read_areas
from tests.factories.delivery import gis_answer, load_dataset, write_csv

SQUARE = "POLYGON ((-111.9 40.7, -111.88 40.7, -111.88 40.72, -111.9 40.72, -111.9 40.7))"
HEADER = "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT,MED_INCOME,MED_AGE,AVG_HH_SIZ,FACILITY_NAME,GEOMETRY"
KINDS = (
    SQUARE,
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 1, 0 0), (0.2 0.2, 0.4 0.2, 0.4 0.4, 0.2 0.2)), ((2 2, 3 2, 3 3, 2 2)))",
    "MULTILINESTRING ((-100 40, -100.01 40, -100.02 40.03), (-101 40, -101.1 40))",
    "LINESTRING (-100 40, -100.01 40.2)",
    "MULTIPOINT ((-100 40), (-100.5 40.2))",
    "POINT (-100 40)",
)


def stored_rows(dataset):
    return list(
        Area.objects.filter(dataset=dataset)
        .order_by("postal_code")
        .values_list("postal_code", "box", "shapes", "shape_count", "facts")
    )


def test_shapes_of_every_kind_are_packed_and_come_back():
    given = [*shapely.from_wkt(list(KINDS)), None]

    packed, box = pack_area([route or b"" for route in pack_routes(given)])
    found = in_degrees(read_areas([packed, b""], [len(given), 2]).shapes())

    assert box == (-11190000, 0, 300000, 4072000)
    assert [None if shape is None else shape.normalize().wkt for shape in found] == [
        *(shape.normalize().wkt for shape in given[:-1]),
        None,
        None,
        None,
    ]


def test_shape_that_crosses_itself_is_repaired_and_one_off_the_earth_is_none():
    crossing, far = shapely.from_wkt(["POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))", "POINT (500 3)"])

    repaired, none = pack_routes([crossing, far])
    packed, _ = pack_area([repaired])

    assert none is None
    assert read_areas([packed], [1]).shapes()[0].is_valid


def test_demo_has_invented_places_that_survive_export_and_import(db, tmp_path, capsys):
    demo = load_demo_population()
    path = tmp_path / "demo.csv"
    path.write_text("".join(export_lines(demo)))

    call_command("import_eddm", str(path), "--force")

    imported = live_dataset()
    assert imported != demo
    assert imported.is_synthetic
    assert demo.shape_count == imported.shape_count == sum(t[0] for t in demo.totals_by_type.values())
    assert stored_rows(imported) == stored_rows(demo)
    assert "".join(export_lines(imported)) == path.read_text()


def test_shape_or_number_that_cannot_be_read_is_left_out_and_the_counts_are_kept(db, tmp_path, capsys):
    path = write_csv(
        tmp_path / "routes.csv",
        f'84101,C001,600,40,640,"$52,000",34.5,2.61,SALT LAKE CITY,"{SQUARE}"',
        '84101,C002,500,0,500,many,,,,"POLYGON ((1 1"',
        '84102,R001,300,5,305,,,,,"POINT (-12456789 4980000)"',
        "84102,R002,10,5,15",
        header=HEADER,
    )

    call_command("import_eddm", str(path), "--vintage", "2026-10", "--max-reject", "50")

    dataset = live_dataset()
    assert (dataset.route_count, dataset.shape_count) == (4, 1)
    assert dataset.import_run.problem_counts == {"W_GEOMETRY": 2, "W_DETAIL": 1}
    first = parse_facts(Area.objects.get(dataset=dataset, postal_code="84101").facts)[0]
    assert (first.income, first.age, first.household, first.facility) == (52000, 34.5, 2.61, "SALT LAKE CITY")


def test_saved_answer_of_the_map_service_gives_places_too(db, tmp_path, capsys):
    route = {"ZIP_CODE": "84101", "CRID_ID": "C001", "RES_CNT": 600, "BUS_CNT": 40, "MED_AGE": 33.4}
    routes = [{**route, "CRID_ID": name} for name in ("C001", "C002", "B001")]
    shapes = [
        {"paths": [[[-111.9, 40.7], [-111.88, 40.71, 5]], [[-111.9, 40.72], [-111.9, 40.73]]]},
        {"rings": [[[-111.9, 40.7], [-111.9, 40.72], [-111.88, 40.72], [-111.9, 40.7]]]},
        {"x": -111.9, "y": 40.7, "spatialReference": {"wkid": 4326}},
    ]
    path = tmp_path / "routes.json"
    path.write_text(gis_answer(*routes, shapes=shapes))

    call_command("import_eddm", str(path), "--vintage", "2026-10")

    area = Area.objects.get()
    shapes = read_areas([bytes(area.shapes)], [3]).shapes()
    assert [shape.geom_type for shape in shapes] == ["Point", "MultiLineString", "Polygon"]
    assert parse_facts(area.facts)[1].age == 33.4


def test_counting_other_types_and_merging_keep_the_places(db, tmp_path, capsys):
    demo = load_demo_population()
    rebuilt = rebuild_dataset(dataset_id=demo.pk, route_types="CRHB", by="tests")
    path = write_csv(tmp_path / "one.csv", "84101,C001,600,40,640")
    call_command("import_eddm", str(path), "--merge", "--force", "--vintage", "2026-10")

    merged = live_dataset()
    assert stored_rows(rebuilt) == stored_rows(demo)
    assert stored_rows(merged) == [row for row in stored_rows(demo) if row[0] != "84101"]
    assert 0 < merged.shape_count < demo.shape_count


def test_counts_alone_are_stored_without_places(db):
    dataset = load_dataset()

    assert not dataset.has_geometry
    assert stored_rows(dataset) == []
