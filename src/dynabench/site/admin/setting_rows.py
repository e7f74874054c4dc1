"""The settings of a deployment as administrators see them: value, source and meaning. Secrets are never shown."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import make_url

from dynabench.kit.language import _
from dynabench.kit.settings import Settings

SECRETS = frozenset({"secret", "host_token", "smtp_password"})
PREFIX = "DYNABENCH_"


class SettingOrigin(StrEnum):
    """Places that a value comes from: the program, a file in the home folder, or the environment."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"


@dataclass(frozen=True)
class SettingRow:
    """One setting: the variable that sets it, its value as text, where that comes from, and what it is for."""

    variable: str
    value: str
    source: SettingOrigin
    description: str

    @property
    def is_set(self) -> bool:
        """True if the value is not the program's own."""
        return self.source is not SettingOrigin.DEFAULT


def setting_rows(settings: Settings, environment: Mapping[str, str] | None = None) -> list[SettingRow]:
    """Return all settings in the order of the documentation."""
    variables = {name.upper() for name in (os.environ if environment is None else environment)}
    return [_row(settings, name, variables) for name in Settings.model_fields]


def _row(settings: Settings, name: str, variables: set[str]) -> SettingRow:
    variable, field, value = f"{PREFIX}{name.upper()}", Settings.model_fields[name], getattr(settings, name)
    source = SettingOrigin.ENVIRONMENT if variable in variables else SettingOrigin.DEFAULT
    if name == "secret" and source is SettingOrigin.DEFAULT and settings.secret_file.exists():
        source = SettingOrigin.FILE
    return SettingRow(variable, _display_value(name, value, source), source, field.description or "")


def _display_value(name: str, value: Any, source: SettingOrigin) -> str:
    if name in SECRETS:
        return str(_("set, not shown")) if value or source is SettingOrigin.FILE else str(_("not set"))
    if name == "database_url" and value:
        return make_url(value).render_as_string(hide_password=True)
    if name in ("hub_url", "host_url", "ray") and isinstance(value, str) and "@" in value:
        return str(_("set, not shown"))  # an address with a name and a password in it
    if name == "oidc":
        return ", ".join(f"{provider.label} ({provider.issuer})" for provider in value) or str(_("not set"))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if str(value) else str(_("not set"))
