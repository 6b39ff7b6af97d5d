import pytest
from django.db import IntegrityError

from delivery.datasets.csv_export import export_lines
from delivery.datasets.models import Dataset, LiveDataset, Population
from delivery.datasets.populations import pack
from delivery.datasets.selectors import (
    compare_datasets,
    live_dataset,
    loaded_datasets,
    look_up,
    routes_in,
    stored_populations,
)
from delivery.datasets.services.datasets import activate_dataset, discard_dataset, rebuild_dataset
from fulfillment.core.errors import Conflict, NotFound
from tests.factories.delivery import SMALL, load_dataset

pytestmark = pytest.mark.django_db


def statuses() -> dict[int, str]:
    return dict(Dataset.objects.values_list("pk", "status"))


def test_stored_populations_read_back():
    dataset = load_dataset()

    assert stored_populations(dataset) == SMALL
    assert routes_in(dataset, "84102") == [("R001", 300, 5)]
    assert routes_in(dataset, "84103") is None
    assert (dataset.postal_code_count, dataset.route_count) == (3, 4)
    assert (dataset.residential, dataset.business) == (1401, 47)
    assert dataset.totals_by_type == {
        "C": [2, 1100, 40],
        "B": [1, 80, 9],
        "G": [1, 0, 0],
        "R": [1, 300, 5],
        "H": [1, 1, 2],
    }


def test_activating_moves_the_pointer_and_records_who():
    first, second = load_dataset(), load_dataset(active=False)

    activate_dataset(dataset_id=second.pk, by="Ada")

    assert live_dataset() == second
    assert statuses() == {first.pk: "retired", second.pk: "active"}
    assert (live_dataset().activated_by, live_dataset().activated is not None) == ("Ada", True)


def test_way_back():
    first, second = load_dataset(), load_dataset()

    activate_dataset(dataset_id=first.pk, by="Ada")

    assert look_up(["84101"]).dataset_id == first.pk
    assert statuses() == {first.pk: "active", second.pk: "retired"}


def test_last_two_are_kept_and_waiting_ones_too():
    first, waiting, second, third = (
        load_dataset(),
        load_dataset(active=False),
        load_dataset(),
        load_dataset(),
    )

    assert statuses() == {
        first.pk: "discarded",
        waiting.pk: "ready",
        second.pk: "retired",
        third.pk: "active",
    }
    assert set(Population.objects.values_list("dataset_id", flat=True)) == {waiting.pk, second.pk, third.pk}
    assert list(loaded_datasets()) == [third, second, waiting]


def test_activating_the_active_one_changes_nothing():
    dataset = load_dataset()

    assert activate_dataset(dataset_id=dataset.pk, by="other").activated_by == "tests"


def test_concerns_stop_an_activation_unless_overridden():
    dataset = load_dataset(active=False, concerns=("Something is odd.",))

    with pytest.raises(Conflict, match="Something is odd"):
        activate_dataset(dataset_id=dataset.pk, by="Ada")
    activate_dataset(dataset_id=dataset.pk, by="Ada", despite_concerns=True)
    load_dataset()

    assert activate_dataset(dataset_id=dataset.pk, by="Ada").status == "active"


def test_discarding():
    live, other = load_dataset(), load_dataset(active=False)

    discard_dataset(dataset_id=other.pk)

    assert not Population.objects.filter(dataset=other).exists()
    with pytest.raises(Conflict, match="was discarded"):
        activate_dataset(dataset_id=other.pk, by="Ada")
    with pytest.raises(Conflict, match="active data set cannot"):
        discard_dataset(dataset_id=live.pk)
    with pytest.raises(NotFound):
        discard_dataset(dataset_id=0)


def test_rebuilding_counts_other_types():
    dataset = load_dataset()

    rebuilt = rebuild_dataset(dataset_id=dataset.pk, route_types="CRHB", by="Ada")

    assert stored_populations(rebuilt) == SMALL
    assert (rebuilt.residential, rebuilt.business, rebuilt.status) == (1481, 56, "ready")
    assert (rebuilt.vintage, rebuilt.sha256, rebuilt.created_by) == (dataset.vintage, dataset.sha256, "Ada")


def test_export_lines():
    assert "".join(export_lines(load_dataset())) == (
        "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT\n"
        "00501,H001,1,2,3\n"
        "84101,B001,80,9,89\n84101,C001,600,40,640\n84101,C002,500,0,500\n84101,G001,0,0,0\n"
        "84102,R001,300,5,305\n"
    )


def test_export_of_invented_counts_says_so_first():
    lines = list(export_lines(load_dataset(is_synthetic=True)))

    assert lines[:2] == [
        "# SYNTHETIC: the counts in this file are invented\n",
        "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT\n",
    ]


def test_comparison():
    before = load_dataset()
    after = load_dataset(
        {"84101": {"C001": pack(1, 1)}, "84102": SMALL["84102"], "84103": {}, "84104": {}}, active=False
    )

    comparison = compare_datasets(before, after)

    assert (comparison.added, comparison.removed, comparison.changed) == (2, 1, 1)
    assert (comparison.first_added, comparison.first_removed) == (["84103", "84104"], ["00501"])
    assert [(c.name, c.before, c.after) for c in comparison.changes] == [
        ("ZIP codes", 3, 4),
        ("routes", 4, 2),
        ("residential", 1401, 301),
        ("business", 47, 6),
        ("deliveries", 1448, 307),
    ]


def test_pointer_is_one_row():
    load_dataset()

    with pytest.raises(IntegrityError):
        LiveDataset.objects.create(id=2)


def test_history_of_a_data_set_is_kept():
    dataset = load_dataset()

    assert list(dataset.events.values_list("status", flat=True)) == ["ready", "active"]
