# ruff: noqa: F401 - Django finds models in this module alone
import applications.oauth.models
import applications.registration.models
import applications.webhooks.models
