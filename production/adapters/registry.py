"""The adapters by kind, each imported at its first use."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from production.interface import Adapter
from production.settings_schema import SettingField

KINDS = ("folder", "sftp", "siteflow")


def setting_fields(kind: str) -> Sequence[SettingField]:
    """The settings of this kind of adapter, including secret ones."""
    fields: Sequence[SettingField] = _module(kind).SETTINGS
    return fields


def build_adapter(kind: str, settings: Mapping[str, Any], secrets: Mapping[str, str]) -> Adapter:
    adapter: Adapter = _module(kind).build(settings, secrets)
    return adapter


def _module(kind: str) -> Any:
    if kind not in KINDS:
        raise ValueError(f"There is no adapter {kind!r}; there are {', '.join(KINDS)}.")
    return import_module(f"production.adapters.{kind}")
