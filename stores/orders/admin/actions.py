"""Actions on several orders: the service changes each order separately, and each refusal is reported."""

from collections.abc import Callable, Sequence
from typing import Any, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from accounts.admin.staff import StaffAdmin
from accounts.callers import Caller
from fulfillment.core.admin.confirmation import requires_confirmation
from fulfillment.core.errors import DomainError, Forbidden
from fulfillment.core.files.downloads import pdf_response, streamed_file
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.recorded_texts import translated
from stores.orders.admin.actors import actor_on
from stores.orders.admin.downloads import csv_response, zip_print_files
from stores.orders.admin.steps import OF_ACTIONS, REFUSE
from stores.orders.models import ApprovalState, Order, OrderItem, OrderStatus
from stores.orders.models.status import WITH_SHIPMENTS
from stores.orders.representations import order_etag
from stores.orders.services.cancellation import refuse_cancellation
from stores.orders.services.packing_slips import render_packing_slips
from stores.orders.services.transitions import Parcel, StatusNotAllowed, next_statuses, transition_order

MAX_FILES_PER_ZIP = 1000
# One document, laid out within one request.
MAX_SLIPS = 200
REASONS_SHOWN = 20


def statuses_to_choose(order: Order) -> list[int]:
    cannot_be_accepted = order.approval == ApprovalState.PENDING or order.recipient_erased
    allowed = sorted(next_statuses(order))
    return [code for code in allowed if code != OrderStatus.ACCEPTED or not cannot_be_accepted]


def _parcel_field(label: Any, longest: int) -> forms.CharField:
    return forms.CharField(label=label, required=False, max_length=longest, widget=UnfoldAdminTextInputWidget)


def _with_whole_parcel(values: dict[str, Any]) -> dict[str, Any]:
    if bool(values.get("carrier")) != bool(values.get("tracking_number")):
        raise forms.ValidationError(_("A parcel needs both a carrier and a tracking number."))
    return values


class OrderTransitionForm(forms.ModelForm):
    """One transition. It is refused if the order has changed since the page was loaded."""

    move_to = forms.ChoiceField(required=False, label=gettext_lazy("Move to"), widget=UnfoldAdminSelectWidget)
    note = forms.CharField(
        required=False, max_length=1000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2})
    )
    carrier = _parcel_field(gettext_lazy("Carrier"), 60)
    tracking_number = _parcel_field(gettext_lazy("Tracking number"), 100)
    seen = forms.CharField(widget=forms.HiddenInput)

    class Meta:
        model = Order
        fields: Sequence[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        order = self.instance
        codes = statuses_to_choose(order)
        if order.status in WITH_SHIPMENTS:
            codes.insert(0, order.status)
        choices = [("", "—"), *((str(int(code)), _move_label(order, code)) for code in codes)]
        if order.cancellation == "Requested":
            choices.append((REFUSE, _("Refuse to cancel")))
        cast("forms.ChoiceField", self.fields["move_to"]).choices = choices
        self.fields["seen"].initial = order_etag(order) if order.pk else ""

    def clean(self) -> dict[str, Any]:
        values = _with_whole_parcel(super().clean() or self.cleaned_data)
        if (
            not values.get("move_to")
            and "move_to" not in self.errors
            and (values.get("note") or values.get("carrier"))
        ):
            self.add_error("move_to", _("Choose the next step: a note or a parcel is saved only with it."))
        return values


class ParcelForm(forms.Form):
    """The parcel of one of several orders to ship; if both fields are empty, the order has no parcel."""

    carrier = _parcel_field(gettext_lazy("Carrier"), 60)
    tracking_number = _parcel_field(gettext_lazy("Tracking number"), 100)
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, order: Order) -> None:
        super().__init__(data, prefix=str(order.pk), initial={"seen": order_etag(order)})
        self.order = order

    def clean(self) -> dict[str, Any]:
        return _with_whole_parcel(super().clean() or self.cleaned_data)

    @property
    def status(self) -> str:
        return OrderStatus(self.order.status).shown

    @property
    def parcels(self) -> list[Parcel]:
        values = self.cleaned_data
        return [Parcel(values["carrier"], values["tracking_number"])] if values["carrier"] else []


def _move_label(order: Order, code: int) -> str:
    return _("Another parcel, same status") if code == order.status else OrderStatus(code).shown


def shown_reason(error: DomainError) -> str:
    """The reason of a refusal as pages show it: statuses by their words, without the numbers of the API."""
    return error.shown if isinstance(error, StatusNotAllowed) else translated(error.message)


def _step(name: str) -> Any:
    def take(self: "OrderActions", request: HttpRequest, queryset: QuerySet) -> None:
        self._move(request, queryset, int(OF_ACTIONS[name].value))

    return harmless(admin.action(take, description=OF_ACTIONS[name].verb, permissions=["change"]))


class OrderActions(StaffAdmin):
    accept, hold, produce, deliver = map(_step, ("accept", "hold", "produce", "deliver"))

    @harmless
    @admin.action(description=gettext_lazy("Ship …"), permissions=["change"])
    def ship(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        ids = self._keys(request, queryset, self.list_per_page)
        if not ids:
            return None
        query = urlencode([("id", str(pk)) for pk in ids])
        return HttpResponseRedirect(f"{reverse('admin:stores_order_ship')}?{query}")

    @harmless
    @admin.action(description=OF_ACTIONS["cancel"].verb, permissions=["change"])
    @requires_confirmation(
        gettext_lazy("Cancel these orders? This cannot be undone."), gettext_lazy("Cancel the orders")
    )
    def cancel(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._move(request, queryset, OrderStatus.CANCELLED)

    @harmless
    @admin.action(description=OF_ACTIONS["refuse"].verb, permissions=["change"])
    @requires_confirmation(
        gettext_lazy(
            "Refuse to cancel these orders? After a refusal, cancellation cannot be requested again."
        ),
        gettext_lazy("Refuse"),
    )
    def refuse(self, request: HttpRequest, queryset: QuerySet) -> None:
        self._move(request, queryset, None)

    @harmless
    @admin.action(description=gettext_lazy("Print files"))
    def download_print_files(self, request: HttpRequest, queryset: QuerySet) -> HttpResponseBase | None:
        orders = self._keys(request, queryset, MAX_FILES_PER_ZIP)
        if not orders:
            return None
        items = OrderItem.objects.filter(order__in=orders).exclude(print_file="").select_related("order")
        items = items.defer(*OrderItem.LARGE, "order__rendering", "order__metadata")
        if not items.exists():
            messages.info(
                request, _("None of these orders has a print file: their products have no template.")
            )
            return None
        pieces = zip_print_files(items.order_by("order__number", "position").iterator())
        return streamed_file(pieces, "print-files.zip", Caller.on_pages(request.user).key)

    @harmless
    @admin.action(description=gettext_lazy("Packing slips"))
    def download_packing_slips(self, request: HttpRequest, queryset: QuerySet) -> HttpResponse | None:
        keys = self._keys(request, queryset, MAX_SLIPS)
        if not keys:
            return None
        orders = Order.objects.filter(pk__in=keys).select_related("store").order_by("number")
        try:
            slips = render_packing_slips(orders=orders, caller=Caller.on_pages(request.user))
        except DomainError as error:
            messages.error(request, translated(error.message))
            return None
        self._say_refused(request, slips.refused)
        return pdf_response(slips.pdf, "packing-slips.pdf") if slips.pdf else None

    @harmless
    @admin.action(description=gettext_lazy("CSV"))
    def export_csv(self, request: HttpRequest, queryset: QuerySet) -> HttpResponseBase:
        return csv_response(queryset, Caller.on_pages(request.user))

    def _keys(self, request: HttpRequest, queryset: QuerySet, most: int) -> list[UUID]:
        """The keys of the chosen orders; none if there are too many, because a silent cut would go unnoticed."""
        keys = list(queryset.values_list("pk", flat=True)[: most + 1])
        if len(keys) > most:
            messages.error(
                request,
                _("At most %(max_orders)s orders at once. Filter the list, or select fewer.")
                % {"max_orders": number_format(most, force_grouping=True)},
            )
            return []
        return keys

    def _move(self, request: HttpRequest, queryset: QuerySet, status: int | None) -> None:
        def move(order: Order) -> None:
            if status is None:
                refuse_cancellation(order=order, actor=actor_on(request))
            else:
                transition_order(order=order, status=status, actor=actor_on(request))

        orders = queryset.order_by("store", "created", "id")
        self._say(request, [self._try(request, order, move) for order in orders])

    def _ship(self, request: HttpRequest, form: ParcelForm) -> str:
        def ship(order: Order) -> None:
            etags = [form.cleaned_data["seen"]]
            status = OrderStatus.SHIPPED
            transition_order(
                order=order, status=status, actor=actor_on(request), parcels=form.parcels, if_match=etags
            )

        return self._try(request, form.order, ship)

    def _try(self, request: HttpRequest, order: Order, change: Callable[[Order], None]) -> str:
        """Returns "" on success, else the reason of the refusal with the order's number."""
        try:
            if not self.has_change_permission(request, order):
                raise Forbidden(_("Your grants on its store do not include Order.All.Write."))
            change(order)
        except DomainError as error:
            return f"{order.number}: {shown_reason(error)}"
        return ""

    def _say(self, request: HttpRequest, reasons: Sequence[str]) -> None:
        """Reports what was done and what was refused, the first refusals by order number."""
        refused = [reason for reason in reasons if reason]
        self._say_refused(request, refused)
        if count := len(reasons) - len(refused):
            messages.success(
                request,
                _("%(count)s orders moved.") % {"count": number_format(count, force_grouping=True)}
                if count > 1
                else _("1 order moved."),
            )

    def _say_refused(self, request: HttpRequest, refused: Sequence[str]) -> None:
        for reason in refused[:REASONS_SHOWN]:
            messages.error(request, reason)
        if more := len(refused[REASONS_SHOWN:]):
            messages.error(
                request, _("%(more)s more were refused.") % {"more": number_format(more, force_grouping=True)}
            )
