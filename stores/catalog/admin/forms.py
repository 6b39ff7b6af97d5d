from django import forms


class ValidatedByService(forms.ModelForm):
    """Checks types only. The service checks the rules, because it sees all rows together."""

    def _get_validation_exclusions(self) -> set[str]:
        return {field.name for field in self._meta.model._meta.fields}

    def validate_unique(self) -> None:
        pass
