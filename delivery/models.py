# ruff: noqa: F401 - Django finds models in this module alone
import delivery.datasets.models
import delivery.papers.models
import delivery.selection.models
