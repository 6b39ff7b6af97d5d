"""The console's forms of a budget. The services check the rules."""

from typing import Any
from uuid import uuid4

from django import forms
from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from accounts.models import User
from fulfillment.core.errors import DomainError, Fault, Invalid
from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import MAX_INTEGER
from stores.budgets.models import Budget, EntryKind, OverBudget, ScopeKind
from stores.budgets.selectors.budgets import scope_id, scope_names
from stores.budgets.services.budgets import COLUMNS, change_budget, create_budget
from stores.budgets.standings import Standing
from stores.catalog.admin.scoping import ValidatedByService

SCOPE_HELP = (
    "The person's full name or e-mail address, the application's name or ID, or the cost center's code. "
    "Leave it empty for a budget for everyone."
)
FURTHER_ORDERS = {
    OverBudget.REFUSE: _("further orders are refused"),
    OverBudget.APPROVE: _("further orders need approval"),
    OverBudget.WARN: _("further orders are accepted with a warning"),
}


class BudgetForm(ValidatedByService):
    """`viewer` is set by the admin. Saving is tried and taken back, so that each rule is written once."""

    viewer: User
    scope_name = forms.CharField(
        label=_("Which"),
        max_length=320,
        required=False,
        help_text=SCOPE_HELP,
        widget=UnfoldAdminTextInputWidget,
    )

    class Meta:
        model = Budget
        fields = ["store", "scope_kind", *COLUMNS.values()]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.is_new:
            self.fields["store"].help_text = _("Only stores with budgets turned on.")
            self.fields["start_date"].required = False
            self.fields["start_date"].help_text = _(
                "Periods begin on this day, in the time zone of the store. Empty: today."
            )
        elif self.instance.scope_key and "scope_name" in self.fields:
            names = scope_names([self.instance])
            self.fields["scope_name"].initial = names.get(self.instance.scope_key, ("",))[0]

    @property
    def is_new(self) -> bool:
        return "store" in self.fields

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        try:
            with transaction.atomic():
                self.save_by_service()
                transaction.set_rollback(True)
        except Invalid as error:
            for fault in error.faults:
                self._show(fault)
        except DomainError as error:
            self.add_error(None, translated(error.message))
        return cleaned

    def save_by_service(self) -> Standing:
        if self.is_new:
            return create_budget(store=self.cleaned_data["store"], values=self.values())
        return change_budget(budget=self.instance, values=self.values())

    def values(self) -> dict[str, Any]:
        """The values under the names of the API, without fields that stay as they are."""
        cleaned = self.cleaned_data
        values = {name: cleaned[column] for name, column in COLUMNS.items() if column in cleaned}
        if values.get("StartDate", "") is None:
            del values["StartDate"]
        if "scope_kind" in cleaned:
            kind = ScopeKind(cleaned["scope_kind"])
            store = cleaned.get("store") or self.instance.store
            scope = scope_id(kind, cleaned.get("scope_name", ""), store=store, viewer=self.viewer)
            values["Scope"] = {"Kind": kind.value, "ID": scope}
        return values

    def consequences(self, standing: Standing) -> list[str]:
        """What the change does to orders, in sentences to confirm."""
        new, budget, period = self.cleaned_data, standing.budget, standing.period
        sentences = []
        limit = new["limit"] + period.added
        if new["limit"] < budget.limit and limit < period.used:
            further = FURTHER_ORDERS[OverBudget(new["over_budget"])]
            sentences.append(
                _(
                    "%(used)s are already used, more than %(limit)s. Earlier orders do not change. Until "
                    "%(ends)s, %(orders)s."
                )
                % {
                    "used": standing.text(period.used),
                    "limit": standing.text(limit),
                    "orders": further,
                    "ends": date_format(standing.last_day),
                }
            )
        if budget.is_enabled and not new["is_enabled"]:
            sentences.append(str(_("From now on it limits no order. Its entries stay.")))
        last, before = new["end_date"], budget.end_date
        if last and (before is None or last < before):
            is_over = last < budget.store.local_date(timezone.now())
            words = (
                _("%(day)s was its last day: it does not limit later orders. Its entries stay.")
                if is_over
                else _("%(day)s is its last day: it does not limit later orders. Its entries stay.")
            )
            sentences.append(words % {"day": date_format(last)})
        return sentences

    def _show(self, fault: Fault) -> None:
        name = fault.pointer.split("/")[1]
        column = "scope_name" if name == "Scope" else COLUMNS.get(name)
        self.add_error(column if column in self.fields else None, translated(fault.message))


class AdjustmentForm(forms.Form):
    """`key` makes a form that is sent twice count once."""

    amount = forms.DecimalField(max_digits=14, decimal_places=2)
    note = forms.CharField(max_length=1000)
    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)


class StatementForm(forms.Form):
    """The filters of a statement; what is wrong filters nothing."""

    kind = forms.ChoiceField(choices=[("", "Any"), *EntryKind.choices], required=False)
    period = forms.IntegerField(min_value=0, max_value=MAX_INTEGER, required=False)
    person = forms.CharField(max_length=200, required=False)
    order = forms.CharField(max_length=40, required=False)
    before = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
