"""Secrets of endpoints: named in `model.yaml`, kept in the environment, each for one host."""

import os
from collections.abc import Mapping

from dynabench.errors import Invalid

PREFIX = "DYNABENCH_TOKEN_"


def token(name: str, host: str, environ: Mapping[str, str] = os.environ) -> str:
    """The token `name` for `host`, from `DYNABENCH_TOKEN_<name>`, which reads `HOST TOKEN`; empty without a name.

    Whoever writes a `model.yaml` chooses its address, so the variable says which host may see the token. Raises
    `Invalid` when it is not set, malformed, or another host's.
    """
    if not name:
        return ""
    bound, _, secret = environ.get(PREFIX + name, "").strip().partition(" ")
    secret = secret.strip()
    if not bound:
        raise Invalid({"options.token": f"There is no token {name}: the operator sets {PREFIX}{name}='HOST TOKEN'."})
    if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
        raise Invalid({"options.token": f"{PREFIX}{name} must read 'HOST TOKEN', say 'api.example.org abc123'."})
    if bound.lower() != host:
        raise Invalid({"options.token": f"The token {name} is for another host than {host}; the operator can set one."})
    return secret
