"""The upload form of a file that a service checks and saves."""

from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminFileFieldWidget

from fulfillment.core.errors import DomainError


class ServiceUploadForm(forms.ModelForm):
    """`help_text` has a place for `max_megabytes`. What the service refuses is shown at the file."""

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
            raise forms.ValidationError(error.message) from error
        return file
