from datetime import date

import pytest
import time_machine

from delivery.datasets.models import Dataset
from delivery.datasets.selectors import live_dataset
from fulfillment.core.concurrency_limits import FILES
from tests.factories.delivery import SMALL, load_dataset
from tests.support.pages import text

LIST = "/admin/delivery/dataset/"


def test_list_without_data(operator):
    assert "No data set is active: the API answers 503" in text(operator.get(LIST))


@time_machine.travel(date(2026, 11, 20))
@pytest.mark.parametrize(
    ("vintage", "is_synthetic", "warning"),
    [
        (date(2026, 4, 1), False, "The counts of the active data set are 7 months old."),
        (date(2026, 4, 1), True, "The active data set is synthetic"),
        (date(2026, 5, 1), False, None),
    ],
)
def test_list_warns_of_age(operator, vintage, is_synthetic, warning):
    load_dataset(vintage=vintage, is_synthetic=is_synthetic)

    shown = text(operator.get(LIST))

    assert "<strong>2026-0" in shown
    if warning:
        assert warning in shown
    else:
        assert "months old" not in shown


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_the_same_queries(operator, count, django_assert_max_num_queries):
    for _ in range(count):
        load_dataset(active=False)
    load_dataset()

    with django_assert_max_num_queries(9):
        shown = operator.get(LIST)

    assert text(shown).count("+0.00%") == count


def test_data_set_is_compared_with_the_active_one(operator):
    load_dataset()
    other = load_dataset(
        {"84101": SMALL["84101"], "84109": {}}, active=False, concerns=("Routes go missing.",)
    )

    shown = text(operator.get(f"{LIST}{other.pk}/change/"))

    assert "Routes go missing." in shown
    assert "Activate despite warnings" in shown
    assert "1 ZIP codes added: 84109" in shown
    assert "2 ZIP codes removed: 00501 84102" in shown
    assert "-21.27%" in shown


def test_activate_and_discard(operator):
    first, second = load_dataset(), load_dataset(active=False)

    activated = operator.post(f"{LIST}{second.pk}/activate/", follow=True)
    requested = operator.post(f"{LIST}{first.pk}/discard/")
    assert "Its counts are deleted; only its record stays." in text(requested)
    assert Dataset.objects.get(pk=first.pk).status == "retired"
    discarded = operator.post(f"{LIST}{first.pk}/discard/", {"confirmed": "1"}, follow=True)
    refused = operator.post(f"{LIST}{second.pk}/discard/", {"confirmed": "1"}, follow=True)

    assert live_dataset() == second
    assert live_dataset().activated_by == "operator"
    assert "The API answers from data set 2026-10" in text(activated)
    assert "was discarded" in text(discarded)
    assert "The active data set cannot be discarded." in text(refused)
    assert "only its record is left" in text(operator.get(f"{LIST}{first.pk}/change/"))


def test_concerns_need_the_other_button(operator):
    dataset = load_dataset(active=False, concerns=("Odd.",))

    refused = operator.post(f"{LIST}{dataset.pk}/activate/", follow=True)
    assert "There are concerns about this data set: Odd." in text(refused)
    operator.post(f"{LIST}{dataset.pk}/activate/", {"despite_concerns": "1"})

    assert live_dataset() == dataset


def test_export(operator):
    dataset = load_dataset()

    response = operator.get(f"{LIST}{dataset.pk}/export/")

    assert response.headers["Content-Disposition"] == f'attachment; filename="eddm-2026-10-{dataset.pk}.csv"'
    assert b"".join(response.streaming_content).decode().splitlines()[:2] == [
        "ZIP_CODE,CRID_ID,RES_CNT,BUS_CNT,TOT_CNT",
        "00501,H001,1,2,3",
    ]


def test_one_operator_holds_one_thread_with_exports(operator, settings):
    settings.CONCURRENCY_WAIT_SECONDS = 0.05
    dataset = load_dataset()

    with FILES.slot(f"user:{operator.session['_auth_user_id']}"):
        refused = operator.get(f"{LIST}{dataset.pk}/export/")
    assert (refused.status_code, refused["Retry-After"]) == (429, "2")


@pytest.mark.parametrize(
    ("requested", "says"),
    [
        ("84101", ["1,100 residential, 40 business, 1,140 in all", "C001", "not counted"]),
        ("501", ["Routes of 00501", "highway contract", "under 200"]),
        ("84199", ["has no counts for this ZIP code"]),
        ("x<b>", ["Enter a ZIP code of five digits.", "x&lt;b&gt;"]),
        ("", ["Look up a ZIP code"]),
    ],
)
def test_look_up(operator, requested, says):
    load_dataset()

    shown = text(operator.get(f"{LIST}look-up/", {"postal_code": requested}))

    assert [phrase for phrase in says if phrase not in shown] == []


def test_look_up_without_data(operator):
    assert "No data set is active." in text(operator.get(f"{LIST}look-up/", {"postal_code": "84101"}))


def test_only_operators_and_only_posts_change_anything(operator, world):
    load_dataset()
    dataset = load_dataset(active=False)

    assert operator.get(f"{LIST}{dataset.pk}/activate/").status_code == 405
    assert operator.get(f"{LIST}{dataset.pk}/discard/").status_code == 405
    operator.force_login(world.user)
    for path in (f"{dataset.pk}/activate/", f"{dataset.pk}/discard/"):
        assert operator.post(LIST + path).status_code == 403
    assert Dataset.objects.get(pk=dataset.pk).status == "ready"
    assert operator.get(f"{LIST}look-up/").status_code == 403


def test_nothing_is_edited_by_hand(operator):
    dataset = load_dataset()

    assert operator.get(f"{LIST}add/").status_code == 403
    assert operator.post(f"{LIST}{dataset.pk}/change/", {"vintage": "2020-01-01"}).status_code == 403
    assert operator.post(f"{LIST}{dataset.pk}/delete/", {"post": "yes"}).status_code == 403
