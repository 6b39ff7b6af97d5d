"""Keys on the page of their application: shown without values, added, ended and replaced."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.utils import display_for_label

from applications.registration.models import Application, ApplicationKey
from applications.registration.selectors.applications import applications_with_ending_keys
from applications.registration.services.keys import add_key, end_key, regenerate_key
from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.admin.confirmation import confirmation_page
from fulfillment.core.admin.history import format_value
from fulfillment.core.admin.inlines import ConsoleInline
from fulfillment.core.http.dangerous import dangerous
from fulfillment.core.page_messages import errors_as_messages


def _show_badge(text: str, tone: str) -> str:
    return str(display_for_label(text, "", {text: tone}))


class KeysFilter(admin.SimpleListFilter):
    title = "keys"
    parameter_name = "keys"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("ending", _("None after two weeks"))]

    def queryset(self, request: HttpRequest, applications: QuerySet) -> QuerySet:
        if self.value() != "ending":
            return applications
        return applications.filter(pk__in=applications_with_ending_keys().order_by().values("pk"))


class KeyInline(ConsoleInline):
    """Never shows values; users who may change the application see them in the portal."""

    model = ApplicationKey
    fields = ["id", "state", "start_date", "end_date", "created", "means"]
    readonly_fields = fields
    max_num = 0
    can_delete = False

    @admin.display(description="state")
    def state(self, key: ApplicationKey) -> str:
        # Django also renders an empty row.
        now = timezone.now()
        if key.end_date is None:
            return ""
        if key.end_date <= now:
            return _show_badge(_("ended"), "default")
        return (
            _show_badge(_("valid"), "success") if key.start_date <= now else _show_badge(_("not yet"), "info")
        )

    @admin.display(description="")
    def means(self, key: ApplicationKey) -> str:
        """Buttons of the surrounding form, because forms cannot be nested."""
        if key.end_date is None or key.end_date <= timezone.now():
            return ""
        return format_html_join(
            " ",
            '<button class="console-button" formnovalidate formaction="{}">{}</button>',
            (
                (reverse(f"admin:applications_application_{name}", args=[key.application_id, key.pk]), title)
                for name, title in (("end_key", "End …"), ("regenerate_key", "Regenerate …"))
            ),
        )


class KeyPages(ConsoleAdmin):
    @dangerous(gettext_lazy("Add a key"))
    @admin.action(description="Add a one-year key", permissions=["change"])
    def add_key_for_a_year(self, request: HttpRequest, applications: QuerySet) -> None:
        for application in applications:
            with errors_as_messages(request, about=application):
                add_key(application=application)
                messages.success(
                    request,
                    _("%(application)s: key added; its owner sees the value on its page.")
                    % {"application": application},
                )

    def add_key_view(self, request: HttpRequest, application_id: UUID) -> HttpResponse:
        application = self.record_for(request, application_id)
        add = partial(add_key, application=application)
        return self._with_key(request, application, add, _("A key was added."))

    def end_key_view(self, request: HttpRequest, application_id: UUID, key_id: UUID) -> HttpResponse:
        application = self.record_for(request, application_id)
        question = _(
            "End this key of %(application)s? Clients that authenticate with it are refused immediately."
        ) % {"application": application}
        page = self._ask_confirmation(request, application, key_id, question, _("End the key"))
        end = partial(end_key, application=application, key_id=key_id)
        return page or self._with_key(request, application, end, _("The key is ended."))

    def regenerate_key_view(self, request: HttpRequest, application_id: UUID, key_id: UUID) -> HttpResponse:
        application = self.record_for(request, application_id)
        question = _(
            "Replace this key of %(application)s with a new one? The old key is refused immediately."
        ) % {"application": application}
        page = self._ask_confirmation(request, application, key_id, question, _("Regenerate"))
        regenerate = partial(regenerate_key, application=application, key_id=key_id)
        return page or self._with_key(request, application, regenerate, _("The key was regenerated."))

    def _ask_confirmation(
        self, request: HttpRequest, application: Application, key_id: UUID, question: str, button: str
    ) -> HttpResponse | None:
        keys = [
            _("%(key)s, valid from %(start)s to %(end)s")
            % {"key": key, "start": format_value(key.start_date), "end": format_value(key.end_date)}
            for key in application.keys.filter(pk=key_id)
        ]
        back = self.address_of(application)
        return confirmation_page(self, request, question=question, button=button, records=keys, back=back)

    def _with_key(
        self, request: HttpRequest, application: Application, service: Callable[[], object], success: str
    ) -> HttpResponse:
        message = _("%(done)s Its owners see the value on the Keys page.") % {"done": success}
        return self.call_service(request, application, service, message)
