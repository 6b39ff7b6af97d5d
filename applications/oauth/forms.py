from typing import Any

from django import forms

from applications.oauth.authorization import PARAMETERS, AuthorizationRequest


class ConsentForm(forms.Form):
    """The authorization request as hidden fields of the consent page; `allow` is the pressed button."""

    allow = forms.BooleanField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in (*PARAMETERS, "resource"):
            self.fields[name] = forms.CharField(required=False, strip=False, widget=forms.HiddenInput())

    @classmethod
    def for_request(cls, authorization_request: AuthorizationRequest) -> "ConsentForm":
        return cls(
            initial={
                **authorization_request.parameters,
                "scope": " ".join(authorization_request.scopes),
                "resource": " ".join(authorization_request.resources),
            },
            auto_id=False,
        )
