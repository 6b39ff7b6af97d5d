from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.http import QueryDict
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from stores.orders.models import Order, OrderStatus
from stores.orders.models.status import ALLOWED_TRANSITIONS, WITH_SHIPMENTS
from stores.orders.representations import order_etag
from stores.orders.services.transitions import Parcel

REFUSE = "refuse"


class OrderTransitionForm(forms.ModelForm):
    """One transition. It is refused if the order has changed since the page was loaded."""

    move_to = forms.ChoiceField(required=False, label="Move to", widget=UnfoldAdminSelectWidget)
    note = forms.CharField(
        required=False, max_length=1000, widget=UnfoldAdminTextareaWidget(attrs={"rows": 2})
    )
    carrier = forms.CharField(required=False, max_length=60, widget=UnfoldAdminTextInputWidget)
    tracking_number = forms.CharField(required=False, max_length=100, widget=UnfoldAdminTextInputWidget)
    seen = forms.CharField(widget=forms.HiddenInput)

    class Meta:
        model = Order
        fields: Sequence[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        order = self.instance
        codes = [*sorted(ALLOWED_TRANSITIONS.get(order.status, ()))]
        if order.status in WITH_SHIPMENTS:
            codes.insert(0, order.status)
        choices = [("", "—"), *((str(int(code)), _move_label(order, code)) for code in codes)]
        if order.cancellation == "Requested":
            choices.append((REFUSE, "Refuse to cancel"))
        cast("forms.ChoiceField", self.fields["move_to"]).choices = choices
        self.fields["seen"].initial = order_etag(order) if order.pk else ""

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if bool(values.get("carrier")) != bool(values.get("tracking_number")):
            raise forms.ValidationError("A parcel needs its carrier and its tracking number.")
        if (
            not values.get("move_to")
            and "move_to" not in self.errors
            and (values.get("note") or values.get("carrier"))
        ):
            self.add_error("move_to", "Choose the next step: a note or a parcel is saved only with it.")
        return values


class ParcelForm(forms.Form):
    """The parcel of one of several orders to ship; if both fields are empty, the order has no parcel."""

    carrier = forms.CharField(required=False, max_length=60, widget=UnfoldAdminTextInputWidget)
    tracking_number = forms.CharField(required=False, max_length=100, widget=UnfoldAdminTextInputWidget)
    seen = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None = None, *, order: Order) -> None:
        super().__init__(data, prefix=str(order.pk), initial={"seen": order_etag(order)})
        self.order = order

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if bool(values.get("carrier")) != bool(values.get("tracking_number")):
            raise forms.ValidationError("A parcel needs its carrier and its tracking number.")
        return values

    @property
    def status(self) -> str:
        return OrderStatus(self.order.status).words

    @property
    def parcels(self) -> list[Parcel]:
        values = self.cleaned_data
        return [Parcel(values["carrier"], values["tracking_number"])] if values["carrier"] else []


def _move_label(order: Order, code: int) -> str:
    return "Another parcel, same status" if code == order.status else OrderStatus(code).words
