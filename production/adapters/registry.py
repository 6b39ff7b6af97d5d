"""The adapters by the name of their kind; each is imported when it is first needed."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from production.adapters.interface import Adapter
from production.adapters.settings_schema import SettingField

KINDS = ("folder", "sftp", "siteflow")


def setting_fields(kind: str) -> Sequence[SettingField]:
    """What this kind of adapter wants to know; secret ones are among them."""
    fields: Sequence[SettingField] = _module(kind).SETTINGS
    return fields


def build_adapter(kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> Adapter:
    adapter: Adapter = _module(kind).build(settings, secrets)
    return adapter


def _module(kind: str) -> Any:
    if kind not in KINDS:
        raise ValueError(f"There is no adapter {kind!r}; there are {', '.join(KINDS)}.")
    return import_module(f"production.adapters.{kind}")
