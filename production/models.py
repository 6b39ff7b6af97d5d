# ruff: noqa: F401 - Django finds models in this module alone
import production.gang_sheets.models
import production.jobs.models
import production.providers.models
import production.routing.models
