import gzip
import io
import json

import pytest
from django.core.management import CommandError, call_command

from stores.catalog.models import Product, Store
from stores.management.commands.import_catalog import Progress
from tests.factories.stores import make_product, make_store

pytestmark = pytest.mark.django_db


@pytest.fixture
def exported(tmp_path):
    make_product(make_store(StoreID="a"))
    make_product(make_store(StoreID="b"))
    call_command("export_catalog", str(tmp_path / "catalog.json"))
    return tmp_path / "catalog.json"


@pytest.mark.parametrize("name", ["again.json", "again.json.gz"])
def test_round_trip_through_files(exported, tmp_path, name, capsys):
    Store.objects.all().delete()

    call_command("import_catalog", str(exported))
    call_command("export_catalog", str(tmp_path / name))
    call_command("import_catalog", str(tmp_path / name))

    content = (tmp_path / name).read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == exported.read_bytes()
    assert capsys.readouterr().out.splitlines() == [
        "Imported products: 2 new, 0 changed, 0 unchanged; stores: 2 new, 0 changed, 0 unchanged.",
        "Imported products: 0 new, 0 changed, 2 unchanged; stores: 0 new, 0 changed, 2 unchanged.",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["catalog.json", name])


def test_export_of_chosen_stores(exported, tmp_path):
    call_command("export_catalog", str(tmp_path / "b.json"), "--store", "b")

    assert [store["StoreID"] for store in json.loads((tmp_path / "b.json").read_text())["Stores"]] == ["b"]


def test_export_of_an_unknown_store_writes_no_file(tmp_path):
    with pytest.raises(CommandError, match="There is no store 'x'"):
        call_command("export_catalog", str(tmp_path / "x.json"), "--store", "x")

    assert list(tmp_path.iterdir()) == []


def test_standard_input_and_output(exported, monkeypatch, capsysbinary):
    call_command("export_catalog")
    assert capsysbinary.readouterr().out == exported.read_bytes()

    Store.objects.all().delete()
    stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(exported.read_bytes())))
    monkeypatch.setattr("sys.stdin", stdin)
    call_command("import_catalog", "-")
    assert Product.objects.count() == 2


def test_errors_are_listed_with_their_places(tmp_path):
    file = tmp_path / "wrong.json"
    products = [{"ID": "x y"}] * 30
    file.write_text(
        json.dumps(
            {
                "Format": "store-fulfillment-catalog",
                "Version": 1,
                "Stores": [{"StoreID": "a", "CompanyName": "A", "Products": products}],
            }
        )
    )

    with pytest.raises(CommandError) as raised:
        call_command("import_catalog", str(file))

    lines = str(raised.value).splitlines()
    assert '/Stores/0/Products/0/ID: ID: use 1 to 64 letters, digits and . _ - only; found "x y".' in lines
    assert len(lines) == 102
    assert lines[-2:] == ["... and 140 more.", "240 errors; nothing was imported."]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"\x1f\x8b\x08\x00broken", "not a complete gzip file")],
)
def test_unreadable_file_is_one_sentence(tmp_path, content, message):
    file = tmp_path / "catalog.json.gz"
    if content:
        file.write_bytes(content)

    with pytest.raises(CommandError, match=message):
        call_command("import_catalog", str(file))


class Output(io.StringIO):
    def __init__(self, *, is_terminal):
        super().__init__()
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal

    def write(self, text, ending="\n"):
        return super().write(text + ending)


def test_progress_is_a_line_for_every_tenth():
    out = Output(is_terminal=False)
    with Progress(out, 200) as progress:
        for position in range(0, 201, 5):
            progress.advance(position)

    assert out.getvalue().splitlines() == [f"{tenth * 10}% read" for tenth in range(1, 11)]


def test_progress_is_a_bar_on_a_terminal():
    out = Output(is_terminal=True)
    with Progress(out, 200) as progress:
        progress.advance(100)
        progress.advance(200)

    assert out.getvalue() == f"\r[{'#' * 20}{' ' * 20}]  50%\r[{'#' * 40}] 100%\n"
