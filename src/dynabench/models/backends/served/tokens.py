"""Secrets of endpoints: named in `model.yaml`, each for one host; an operator's are kept in the environment, those of
people who submit a model in files below the home folder that only the operator's account can read."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from dynabench.kit.errors import Invalid
from dynabench.kit.settings import get_settings

PREFIX = "DYNABENCH_TOKEN_"
SUBMITTED = re.compile(r"SUBMITTED_[0-9A-F]{32}")
"""What tokens are called that people sent with a model: no operator's token is, and nobody guesses one."""


def token(name: str, host: str, environ: Mapping[str, str] = os.environ) -> str:
    """The token `name` for `host`, from `DYNABENCH_TOKEN_<name>`, which reads `HOST TOKEN`; empty without a name.

    Whoever writes a `model.yaml` chooses its address, so the variable says which host may see the token. Raises
    `Invalid` when it is not set, malformed, or another host's.
    """
    if not name:
        return ""
    said = _submitted(name) if SUBMITTED.fullmatch(name) else environ.get(PREFIX + name, "")
    bound, _, secret = said.strip().partition(" ")
    secret = secret.strip()
    if not bound:
        raise Invalid({"options.token": f"There is no token {name}: the operator sets {PREFIX}{name}='HOST TOKEN'."})
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise Invalid({"options.token": f"{PREFIX}{name} must read 'HOST TOKEN', say 'api.example.org abc123'."})
    if bound.lower() != host:
        raise Invalid({"options.token": f"The token {name} is for another host than {host}; the operator can set one."})
    return secret


def keep(home: Path, name: str, host: str, secret: str) -> None:
    """Keep a token that somebody sent, for `host` alone."""
    folder = home / "tokens"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / name
    path.touch(mode=0o600, exist_ok=False)
    path.write_text(f"{host} {secret}", encoding="ascii")


def drop(home: Path, name: str) -> None:
    """Throw such a token away."""
    if SUBMITTED.fullmatch(name):
        (home / "tokens" / name).unlink(missing_ok=True)


def _submitted(name: str) -> str:
    try:
        return (get_settings().folder / "tokens" / name).read_text(encoding="ascii")
    except OSError:
        return ""
