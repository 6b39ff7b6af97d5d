from typing import Any

from django import forms

from applications.oauth.authorization import PARAMETERS, AuthorizationRequest


class ConsentForm(forms.Form):
    """Carries the authorization request through the consent page; `allow` is the button that was pressed."""

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
