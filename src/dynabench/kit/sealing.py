"""Secrets that are stored encrypted under the deployment's key, such as an owner's token at a crowd platform."""

from base64 import urlsafe_b64encode

from cryptography.fernet import Fernet, InvalidToken

from dynabench.kit.security import keyed


def seal(key: bytes, purpose: str, secret: bytes) -> str:
    """Return `secret` encrypted and authenticated (Fernet: AES-128-CBC with HMAC-SHA-256), for one purpose."""
    return _fernet(key, purpose).encrypt(secret).decode()


def unseal(key: bytes, purpose: str, sealed: str) -> bytes | None:
    """Return the secret that `seal` encrypted; None where the deployment has another key now."""
    try:
        return _fernet(key, purpose).decrypt(sealed.encode())
    except InvalidToken:
        return None


def _fernet(key: bytes, purpose: str) -> Fernet:
    return Fernet(urlsafe_b64encode(keyed(key, purpose, "")))
