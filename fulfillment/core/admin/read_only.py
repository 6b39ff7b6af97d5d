"""Admins of records that cannot be changed, or that a service adds and removes."""

from functools import partial
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.admin.base import ConsoleAdmin
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import DomainError
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated


class ReadOnlyAdmin(ConsoleAdmin):
    """Shows records that only services write."""

    forbidden = ("add", "change", "delete")


class ServiceDeleteAdmin(ConsoleAdmin):
    """Deletes records by a service, which may refuse, for example because a record is in use."""

    def remove(self, record: Any) -> None:
        """Calls the service; raises DomainError."""
        raise NotImplementedError

    def delete_model(self, request: HttpRequest, instance: Any) -> None:
        with errors_as_messages(request):
            self.remove(instance)

    def delete_queryset(self, request: HttpRequest, records: QuerySet) -> None:
        for record in records:
            self.delete_model(request, record)

    def response_delete(self, request: HttpRequest, display: str, object_id: Any) -> HttpResponse:
        """Reports no deletion if the service refused it."""
        if self.model._base_manager.filter(pk=object_id).exists():  # noqa: SLF001 - every row
            return HttpResponseRedirect(
                reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")
            )
        return super().response_delete(request, display, object_id)


class LimitedUploadAdmin(ConsoleAdmin):
    """Limits how many files of a `ServiceUploadForm` are added at once. The wait is outside of the transaction."""

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        change_form = partial(super().changeform_view, request, object_id, *args, **kwargs)
        if request.method != "POST" or object_id is not None:
            return change_form()
        with errors_as_messages(request), FILES.slot(f"user:{request.user.pk}"):
            return change_form()
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, instance: Any, form: forms.ModelForm, change: bool) -> None:
        """The form's service call has saved it."""


class ServiceUploadForm(forms.ModelForm):
    """Adds the file by a service, whose refusal is shown at the field. `help_text` may contain `{max_megabytes}`."""

    file = forms.FileField(widget=UnfoldAdminFileFieldWidget)
    help_text: Any
    max_bytes: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].help_text = format_lazy(self.help_text, max_megabytes=self.max_bytes // 1_000_000)

    def add_file(self, file_name: str, content: bytes) -> Any:
        """The saved record; raises DomainError."""
        raise NotImplementedError

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > self.max_bytes:
            raise forms.ValidationError(
                _("The file is larger than %(max_megabytes)s MB.")
                % {"max_megabytes": self.max_bytes // 1_000_000}
            )
        try:
            self.instance = self.add_file(file.name, file.read())
        except DomainError as error:
            raise forms.ValidationError(translated(error.message)) from error
        return file
