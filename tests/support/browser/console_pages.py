"""Every page of the console, read off the registry of its site: what is registered later is among them by itself.

What no registry knows (the pages of our own, what answers with no page, what acts without asking) is named here, and
`tests/fulfillment/site/test_console_pages.py` fails where something is neither known nor named.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse

from accounts.models import AssociationRequest
from applications.webhooks.models import Delivery, Webhook
from delivery.datasets.models import Dataset, ImportRun
from delivery.selection.models import EddmSelection
from production.jobs.models import Job
from production.providers.models import Provider
from stores.batches.models import Batch
from stores.budgets.models import Budget
from stores.catalog.models import CatalogUpload, Product
from stores.orders.models import Order, OrderItem
from stores.orders.representations import order_etag
from tests.support.scenario import World

STANDARD = ("changelist", "add", "change", "delete", "history")
# The page of these is another one, in `extra_pages`.
SHOWN_ELSEWHERE: dict[Any, dict[str, str]] = {ImportRun: {"state": "uploaded"}}
# Of these a record in each state looks different.
STATES: dict[Any, str] = {
    AssociationRequest: "state",
    Batch: "status",
    CatalogUpload: "state",
    Dataset: "status",
    Delivery: "state",
    ImportRun: "state",
    Job: "state",
    Order: "status",
    Webhook: "is_enabled",
}
# By the name of the address. They end, delete and replace nothing, or what they do is undone by the same means.
ACTS_AT_ONCE = {
    "applications_application_add_key": "adds a key",
    "applications_webhook_test": "sends a test",
    "applications_webhook_enable": "switches on",
    "applications_delivery_resend": "receivers know an event by its ID",
    "stores_catalogupload_import": "the page it is sent from shows every change first",
    "stores_catalogupload_check": "changes nothing",
    "stores_approvalrequest_decide": "the page it is sent from shows what is decided; a denial needs a reason",
    "stores_batch_rows": "leads to the columns of the file",
    "stores_batch_check": "checks the rows again",
    "stores_batch_decide": "the page it is sent from shows what is decided; a denial needs a reason",
    "stores_budget_adjust": "adds an entry, which an opposite one takes back",
    "stores_order_comment": "adds a comment",
    "stores_order_save_view": "saves the filters of a list",
    "stores_order_delete_view": "forgets the filters of a list, which are saved again by the same means",
    "stores_product_template_restore": "saves a version; the one before is restored by the same button",
    "stores_product_artwork_asset": "keeps a PDF for a while, and shows what preflight finds in it",
    "stores_product_duplicate": "the copy is outside of the catalog",
    "production_provider_test": "reaches the provider, and changes nothing there",
    "production_gangsheet_send": "ends a wait that ends by itself",
    "production_job_resend": "what was sent before is known by its number",
    "production_job_hold": "released by the same means",
    "production_job_release": "held by the same means",
    "delivery_dataset_activate": "the one before is kept, and activated by the same button",
}
NO_PAGE = {
    "stores_catalogupload_progress": "JSON",
    "stores_font_specimen": "a picture",
    "stores_batch_file": "CSV or XLSX",
    "stores_batch_sheet": "PDF",
    "stores_batch_template": "CSV or XLSX",
    "stores_budget_statement_csv": "CSV",
    "stores_costcenter_export": "CSV",
    "stores_order_export": "CSV",
    "stores_order_print_file": "PDF",
    "stores_order_print_picture": "PNG",
    "stores_product_thumbnail": "PNG",
    "stores_approvalrequest_picture": "PNG",
    "stores_order_packing_slip": "PDF",
    "stores_order_eddm_papers": "PDF",
    "stores_order_eddm_shapes": "JSON",
    "stores_product_template_color": "JSON",
    "stores_product_template_font": "PNG",
    "stores_product_template_picture": "PNG",
    "stores_product_template_preview": "JSON",
    "stores_product_template_proof": "PDF",
    "stores_product_template_print": "PDF",
    "stores_store_catalog": "JSON",
    "stores_store_catalog_of": "JSON",
    "delivery_dataset_export": "CSV",
    "production_gangsheet_files": "a ZIP",
    "production_job_file": "PDF, XML or JSON",
    "delivery_importrun_progress": "JSON",
    "delivery_importrun_problems": "CSV",
    "delivery_officialform_sample": "PDF",
}
# Of the site itself.
NO_PAGE_OF_SITE = {
    "autocomplete": "JSON",
    "jsi18n": "a script",
    "login": "the portal's",
    "logout": "the portal's",
    "password_change": "the portal's",
    "password_change_done": "the portal's",
}
# Actions of lists; the others show what was chosen and ask.
ACTIONS_AT_ONCE = {
    "decide": "leads to the page that decides",
    "approve": "grants what was requested; its role is taken away again by its own page",
    "add_key_for_a_year": "adds a key",
    "accept": "moves on, the hold is left",
    "hold": "moves on, the hold is left",
    "produce": "moves on, an order in production is cancelled still",
    "ship": "leads to the page that ships",
    "deliver": "records what the carrier did",
    "download_print_files": "a ZIP",
    "download_gang_sheets": "a ZIP",
    "release": "held again by the same means",
    "reassign": "leads to the page that reassigns",
    "mark_seen": "marks what a person has read",
    "duplicate": "the copies are outside of the catalog",
    "download_packing_slips": "a PDF",
    "export_csv": "CSV",
}


# The form to add one depends on a choice that a page before it offers.
CHOSEN_FIRST = {"production_provider": "?adapter=folder"}


@dataclass(frozen=True)
class ConsolePage:
    """An address, and what is sent to it; None is a plain visit."""

    name: str
    path: str
    sent: dict[str, str] | None = None
    # Pages of one kind have nothing of their own but the record they show, or what is said of it.
    kind: str = ""
    # Whether it is the question before something is ended, deleted or replaced.
    asks: bool = False


def apps_of_console() -> list[str]:
    return sorted({model._meta.app_label for model in admin.site._registry})


def admins_of(app: str) -> list[tuple[str, Any]]:
    """With the start of the names of their addresses."""
    return [
        (f"{app}_{model._meta.model_name}", model_admin)
        for model, model_admin in admin.site._registry.items()
        if model._meta.app_label == app
    ]


def own_addresses(name: str, model_admin: Any) -> list[str]:
    """What an admin adds to Django's five."""
    known = {f"{name}_{suffix}" for suffix in STANDARD} | {None}
    return [pattern.name for pattern in model_admin.get_urls() if pattern.name not in known]


def request_of(user: Any) -> HttpRequest:
    request = HttpRequest()
    request.user = user
    return request


def pages_of(app: str, world: World, user: Any) -> Iterator[ConsolePage]:
    """What this person may open, of one app."""
    request = request_of(user)
    own = extra_pages(world) if user.is_operator else {}
    if user.is_operator:
        yield ConsolePage(f"{app} itself", reverse("admin:app_list", args=[app]), kind="app")
    for name, model_admin in admins_of(app):
        if model_admin.has_module_permission(request):
            yield from _standard_pages(name, model_admin, request)
            for address in own_addresses(name, model_admin):
                yield from own.get(address, ())
            yield from _asking_actions(name, model_admin, request)


def _standard_pages(name: str, model_admin: Any, request: HttpRequest) -> Iterator[ConsolePage]:
    changelist = reverse(f"admin:{name}_changelist")
    yield ConsolePage(f"{name} list", changelist)
    if model_admin.has_add_permission(request):
        add = reverse(f"admin:{name}_add")
        if chosen := CHOSEN_FIRST.get(name):
            yield ConsolePage(f"{name} choice", add)
            add += chosen
        yield ConsolePage(f"{name} add", add)
        # Empty: what is missing is listed above the form.
        yield ConsolePage(f"{name} add refused", add, {"loaded_version": ""}, kind="refused")
    for number, record in enumerate(examples_of(model_admin, request)):
        address = reverse(f"admin:{name}_change", args=[record.pk])
        yield ConsolePage(f"{name} record {number}", address, kind="in another state" * (number > 0))
        if number == 0:
            if model_admin.has_audit_history:
                trail = reverse(f"admin:{name}_history", args=[record.pk])
                kind = "" if model_admin.tracked_parts else "history"
                yield ConsolePage(f"{name} history", trail, kind=kind)
            if model_admin.has_delete_permission(request, record):
                address = reverse(f"admin:{name}_delete", args=[record.pk])
                yield ConsolePage(f"{name} delete", address, asks=True)


def examples_of(model_admin: Any, request: HttpRequest) -> list[Any]:
    """One record, or one in each of its states."""
    elsewhere = SHOWN_ELSEWHERE.get(model_admin.model, {"pk": None})
    records = model_admin.get_queryset(request).exclude(**elsewhere).order_by("-pk")
    if not (state := STATES.get(model_admin.model)):
        return list(records[:1])
    example_by_state = {getattr(record, state): record for record in records}
    return list(example_by_state.values())


def _asking_actions(name: str, model_admin: Any, request: HttpRequest) -> Iterator[ConsolePage]:
    request.GET = {}
    records = examples_of(model_admin, request)
    for action in model_admin.get_actions(request):
        if action not in ACTIONS_AT_ONCE:
            values = {"action": action, "_selected_action": str(records[0].pk), "index": "0"}
            address = reverse(f"admin:{name}_changelist")
            yield ConsolePage(f"{name} {action}", address, values, kind="question", asks=True)


def extra_pages(world: World) -> dict[str, list[ConsolePage]]:
    """By the name of their address."""
    key = world.application.keys.order_by("-end_date").first()
    pending = AssociationRequest.objects.filter(state="Pending").first()
    shipped, order = Order.objects.order_by("-number")[:2]
    mailed = OrderItem.objects.filter(eddm__isnull=False).get()
    product = Product.objects.get(external_id="card-two-sided")
    mailer = Product.objects.get(external_id="mailer")
    chosen = EddmSelection.objects.filter(user=world.operator).latest("created")
    mailing = reverse("admin:stores_product_mailing", args=[mailer.pk])
    mailing_order = reverse("admin:stores_product_mailing_order", args=[mailer.pk, chosen.pk])
    webhook = Webhook.objects.filter(is_enabled=True).first()
    run = ImportRun.objects.get(state="uploaded")
    checked = CatalogUpload.objects.get(state="checked")
    ready = Dataset.objects.filter(status="ready").latest("pk")
    decide, ship = reverse("admin:accounts_associationrequest_decide"), reverse("admin:stores_order_ship")
    look_up = reverse("admin:delivery_dataset_look_up")
    job, provider = Job.objects.order_by("pk").first(), Provider.objects.order_by("pk").first()
    tester, reassign = (
        reverse("admin:production_routingrule_tester"),
        reverse("admin:production_job_reassign"),
    )
    dry_run = reverse("admin:production_job_dry_run", args=[provider.pk])
    batch = Batch.objects.get(name="Cards to correct")
    order_batch = reverse("admin:stores_batch_order", args=[batch.pk])
    budget = Budget.objects.order_by("pk").first()
    statement = reverse("admin:stores_budget_statement", args=[budget.pk])
    people = reverse("admin:stores_costcenter_import")
    of_key = [world.application.pk, key.pk]
    parcel = {"id": str(order.pk), f"{order.pk}-seen": order_etag(order), f"{order.pk}-carrier": "UPS"}

    def page(name: str, *args: Any) -> list[ConsolePage]:
        return [ConsolePage(name, reverse(f"admin:{name}", args=args))]

    def question(name: str, *args: Any) -> list[ConsolePage]:
        place = reverse(f"admin:{name}", args=args)
        return [ConsolePage(name, place, sent={}, kind="question", asks=True)]

    return {
        "accounts_associationrequest_decide": [
            ConsolePage("decide", f"{decide}?id={pending.pk}"),
            ConsolePage(
                "decline without a reason",
                decide,
                {"id": str(pending.pk), "deny": "1", "note": ""},
                "refused",
            ),
        ],
        "applications_application_end_key": question("applications_application_end_key", *of_key),
        "applications_application_regenerate_key": question(
            "applications_application_regenerate_key", *of_key
        ),
        "auth_user_password_change": page("auth_user_password_change", world.user.pk),
        "applications_webhook_disable": question("applications_webhook_disable", webhook.pk),
        "stores_catalogupload_discard": question("stores_catalogupload_discard", checked.pk),
        "stores_order_ship": [
            ConsolePage("ship", f"{ship}?id={order.pk}"),
            ConsolePage("ship refused", ship, parcel, kind="refused"),
            *(
                ConsolePage(
                    f"order to {move}",
                    reverse("admin:stores_order_change", args=[record.pk]),
                    sent,
                    "question",
                    asks=True,
                )
                for record, move in ((order, "90"), (order, "95"), (shipped, "refuse"))
                for sent in [{"move_to": move, "seen": order_etag(record), "note": ""}]
            ),
        ],
        "stores_batch_make": page("stores_batch_make", product.pk),
        "stores_batch_mapping": page("stores_batch_mapping", batch.pk),
        "stores_batch_order": [ConsolePage("stores_batch_order", f"{order_batch}?rows=ready")],
        "stores_batch_cancel": page("stores_batch_cancel", batch.pk),
        "stores_batch_row": page("stores_batch_row", batch.pk, batch.rows.get(state="Error").key),
        "stores_budget_end": question("stores_budget_end", budget.pk),
        "stores_budget_statement": [
            *page("stores_budget_statement", budget.pk),
            ConsolePage("statement of nothing", f"{statement}?kind=Release&person=x&order=x", kind="empty"),
        ],
        "stores_costcenter_import": [
            *page("stores_costcenter_import"),
            *(
                ConsolePage(
                    f"import people {name}",
                    people,
                    {"store": "associated", "text": f"Code,Name,Person\n{row}"},
                    f"people {name}",
                )
                for name, row in (("shown", "4300,Sales,"), ("refused", "4300,,nobody"))
            ),
        ],
        "production_job_cancel": question("production_job_cancel", job.pk),
        "production_job_reassign": [ConsolePage("reassign", f"{reassign}?id={job.pk}")],
        "production_job_days": [ConsolePage("production by day", reverse("admin:production_job_days"))],
        "production_job_scan": [ConsolePage("scan", reverse("admin:production_job_scan"))],
        "production_job_dry_run": [
            ConsolePage("dry run", f"{dry_run}?order={job.order.number}"),
            ConsolePage("dry run of nothing", f"{dry_run}?order=x", kind="empty"),
        ],
        "production_provider_rotate": question("production_provider_rotate", provider.pk),
        "production_routingrule_tester": [
            ConsolePage("rule tester", f"{tester}?order={job.order.number}"),
            ConsolePage("rule tester of nothing", f"{tester}?order=x", kind="empty"),
        ],
        "stores_order_print_view": page("stores_order_print_view", order.pk, 0),
        "stores_order_eddm_map": page("stores_order_eddm_map", mailed.order_id, mailed.position),
        "stores_order_reprint": page("stores_order_reprint", order.pk),
        "stores_product_artwork": page("stores_product_artwork", product.pk),
        "stores_product_mailing": [
            ConsolePage("mailing", mailing),
            ConsolePage("mailing chosen", mailing, {"postal_codes": "84101", "do": "show"}, "chosen"),
        ],
        "stores_product_mailing_order": [
            ConsolePage("mailing order", mailing_order),
            ConsolePage("mailing order refused", mailing_order, {"do": "order"}, kind="refused"),
        ],
        "stores_product_template": page("stores_product_template", product.pk),
        "stores_product_template_versions": page("stores_product_template_versions", product.pk),
        "delivery_dataset_look_up": [
            ConsolePage("look up", look_up),
            ConsolePage("look up found", f"{look_up}?postal_code=84101"),
            ConsolePage("look up malformed", f"{look_up}?postal_code=x", kind="refused"),
        ],
        "delivery_dataset_discard": question("delivery_dataset_discard", ready.pk),
        "delivery_importrun_prepare": page("delivery_importrun_prepare", run.pk),
        "delivery_importrun_throw_away": question("delivery_importrun_throw_away", run.pk),
    }


def pages_of_site(user: Any) -> list[ConsolePage]:
    """What belongs to no app; only operators read the audit log and the state of the system."""
    audit_log = reverse("admin:audit_log")
    of_operators = [
        ConsolePage("audit log", audit_log),
        ConsolePage("audit log refused", f"{audit_log}?from=x&person=no-one", kind="refused"),
        ConsolePage("system", reverse("admin:system")),
        ConsolePage("components", reverse("admin:components")),
    ]
    return [
        ConsolePage("index", reverse("admin:index")),
        *(of_operators if user.is_operator else []),
        ConsolePage("search", f"{reverse('admin:search')}?s=card"),
        ConsolePage("search without results", f"{reverse('admin:search')}?s=nothing-like-it", kind="empty"),
        ConsolePage("empty list", f"{reverse('admin:stores_product_changelist')}?q=nothing-like-it"),
    ]
