"""Signatures of webhooks as Standard Webhooks 1.0 has them (standardwebhooks.com)."""

import hmac
from base64 import b64decode, b64encode

from dynabench.kit.security import keyed

PREFIX = "whsec_"


def secret(key: bytes, salt: str) -> str:
    """The secret of the webhook with this salt: `whsec_` and 32 bytes in base64."""
    return PREFIX + b64encode(keyed(key, "webhook", salt)).decode()


def signature(secret: str, message: str, timestamp: int, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA-256 over `message.timestamp.body` under the bytes that the secret spells."""
    signed = f"{message}.{timestamp}.".encode() + body
    return "v1," + b64encode(hmac.digest(b64decode(secret.removeprefix(PREFIX)), signed, "sha256")).decode()
