"""The directory of stores, and the request for access from it to the answer by mail."""

from io import BytesIO

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from PIL import Image

from accounts.callers import Caller
from accounts.models import AssociationRequest
from accounts.services.associations import approve_association, deny_association, request_association
from accounts.services.notifications import NOTIFICATION_TASK
from applications.registration.services.applications import create_application
from stores.catalog.models import Store, StoreProfile
from tests.factories.orders import make_product
from tests.support.servers.queued_jobs import work_off


def listed(store, **values):
    return StoreProfile.objects.create(store=store, is_listed=True, **values)


def test_only_listed_stores_are_found_by_name_country_and_what_they_print(world, browser):
    listed(world.unassociated, country="Canada")
    listed(world.associated, country="United States")
    make_product(world.unassociated, "mug", Name="Ceramic mug", Category="Mugs")

    def found(query: str) -> tuple[bool, bool, bool]:
        page = browser.get(f"/stores?{query}").content.decode()
        return "Unassociated Print" in page, "Associated Print</a>" in page, "Demo Print" in page

    assert found("") == (True, True, False)
    assert found("q=mug") == (True, False, False)
    assert found("q=UNASSOC") == (True, False, False)
    assert found("country=united+states") == (False, True, False)
    assert "No stores match" in browser.get("/stores?q=zebra").content.decode()
    assert browser.get("/stores/demo").status_code == 200
    StoreProfile.objects.filter(store=world.unassociated).update(is_listed=False)
    assert browser.get("/stores/unassociated").status_code == 404


def test_access_is_requested_with_chosen_permissions_and_shown(world, browser):
    listed(world.unassociated)
    page = browser.get("/stores/unassociated").content.decode()
    assert page.count('checked id="id_grants') + page.count("checked") >= 3
    assert "Every application needs it." in page

    values = {"application": str(world.application.pk), "grants": ["Store.Self.Read"], "message": "Cards"}
    response = browser.post("/stores/unassociated", values, follow=True).content.decode()
    again = browser.post("/stores/unassociated", values, follow=True).content.decode()

    requested = AssociationRequest.objects.get()
    assert (requested.application, requested.grants, requested.state) == (
        world.application,
        ["Store.Self.Read"],
        "Pending",
    )
    assert "Access to Unassociated Print requested" in response
    assert "Read stores, their products and your own roles" in response
    assert "still pending" in again
    assert "Requested</span>" in browser.get("/stores").content.decode()


def test_test_application_is_admitted_at_once(world, browser):
    listed(world.unassociated)
    Store.objects.filter(pk=world.unassociated.pk).update(admits_test_applications=True)
    trial = create_application(
        caller=Caller.on_pages(world.user), values={"Name": "Trial", "Description": "", "IsTest": True}
    )

    page = browser.post("/stores/unassociated", {"application": str(trial.pk)}, follow=True)

    assert "admits test applications: you can use it now" in page.content.decode()
    assert AssociationRequest.objects.get().state == "Approved"


def test_user_cannot_request_for_an_application_of_others(world, browser):
    listed(world.unassociated)

    response = browser.post("/stores/unassociated", {"application": str(world.other_application.pk)})

    assert "application" in response.context["form"].errors
    assert not AssociationRequest.objects.exists()


@pytest.mark.parametrize("decide", [approve_association, deny_association])
def test_owners_are_mailed_the_answer(world, decide):
    requested, _ = request_association(
        caller=Caller.on_pages(world.user),
        application=world.application,
        store=world.unassociated,
        grants=["Order.Self.Write"],
    )

    decide(caller=Caller.on_pages(world.operator), request_id=requested.pk, note="Welcome\nto us")
    work_off(NOTIFICATION_TASK)

    [letter] = mail.outbox
    assert letter.to == ["user@print.example"]
    word = "approved" if decide is approve_association else "declined"
    assert letter.subject == f"Mail Studio: the request for Unassociated Print was {word}"
    assert "Welcome\nto us" in letter.body
    assert ("Submit orders" in letter.body) == (word == "approved")
    assert f"/applications/{world.application.pk}" in letter.body


def test_who_requested_to_join_is_mailed_the_answer(world):
    requested, _ = request_association(
        caller=Caller.on_pages(world.outsider), application=world.application, user_id=world.outsider.pk
    )
    approve_association(caller=Caller.on_pages(world.operator), request_id=requested.pk)
    work_off(NOTIFICATION_TASK)

    assert (["outsider@print.example"], "Mail Studio: the request for an owner's place was approved") in [
        (letter.to, letter.subject) for letter in mail.outbox
    ]


def test_operators_edit_the_profile_in_the_console(world, signed_in):
    operator = signed_in(world.operator)
    address = reverse("admin:stores_store_change", args=[world.unassociated.pk])
    out = BytesIO()
    Image.new("RGB", (600, 300), "#aa0000").save(out, "PNG")
    values = {
        "external_id": "unassociated",
        "company_name": "Unassociated Print",
        "currency": "USD",
        "time_zone": "UTC",
        "hold_window_minutes": 60,
        "approval_hours": 72,
        "is_listed": "on",
        "country": "Canada",
        "website": "https://print.example",
        "logo": SimpleUploadedFile("logo.png", out.getvalue(), "image/png"),
    }
    version = operator.get(address).context["adminform"].form.loaded_version

    bad = operator.post(
        address, {**values, "logo": SimpleUploadedFile("a.png", b"x"), "website": "javascript:1"}
    )
    saved = operator.post(address, {**values, "loaded_version": version})

    assert {"logo", "website"} <= set(bad.context["adminform"].form.errors)
    assert saved.status_code == 302, saved.context["adminform"].form.errors
    profile = StoreProfile.objects.get()
    assert (profile.is_listed, profile.country) == (True, "Canada")
    logo = operator.get(f"/logos/{profile.logo_sha256}.png")
    assert Image.open(BytesIO(logo.content)).size == (192, 96)
    assert f"/logos/{profile.logo_sha256}.png" in operator.get("/stores").content.decode()
