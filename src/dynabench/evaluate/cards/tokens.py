"""Signed tokens of results: a reader of a card learns whether a number is the one that a platform measured.

A token is a JSON Web Signature (RFC 7515, compact; Ed25519, RFC 9864). Its claims repeat the result, and name the
evaluation and the signature of its record. It is a `verifyToken` of this platform's, and no token of the
hub's own evaluation service.
"""

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dynabench.evaluate.cards.model_index import CardModel, CardResult
from dynabench.evaluate.cards.yaml_text import CardError, plain_values

KIND = "dynabench-result-1"
MAX_CHARACTERS = 16 * 1024
TokenState = Literal["holds", "differs", "forged", "unsigned", "unreadable"]


@dataclass(frozen=True)
class ResultToken:
    """A decoded token; `key` is the public key that it says it was signed with, `signed` the bytes of the signature."""

    key: str
    claims: dict[str, Any]
    signed: bytes
    signature: bytes

    @property
    def evaluation(self) -> int | None:
        """The number of the evaluation at the platform `issuer`."""
        number = self.claims.get("evaluation", self.claims.get("open_evaluation"))
        return number if isinstance(number, int) else None

    @property
    def record_path(self) -> str:
        """The path of the evaluation's record in the platform's JSON API."""
        kind = "evaluations" if "evaluation" in self.claims else "open-evaluations"
        return f"/{kind}/{self.evaluation}/record"

    @property
    def issuer(self) -> str:
        """The address of the platform."""
        return str(self.claims.get("iss", ""))


@dataclass(frozen=True)
class TokenCheck:
    """The outcome for one result of a card; `reason` says what is wrong, empty where the token holds."""

    model: str
    result: CardResult
    state: TokenState
    reason: str = ""
    token: ResultToken | None = None


def result_claims(model: str, result: CardResult) -> dict[str, Any]:
    """Return what a token repeats of a result of this model."""
    names = ("task_type", "dataset_type", "dataset_config", "dataset_split", "dataset_revision", "dataset_args",
             "metric_type", "metric_config", "metric_args", "metric_value")  # fmt: skip
    values = {name: plain_values(getattr(result, name)) for name in names}
    return {"model": model} | {name: value for name, value in values.items() if value is not None}


def encode_token(claims: dict[str, Any], key: str, sign: Callable[[bytes], bytes]) -> str:
    """Return the token of these claims; `sign` returns the Ed25519 signature of bytes under the public key `key`."""
    header = {"alg": "Ed25519", "typ": KIND, "kid": key}
    content = f"{_encoded(header)}.{_encoded(claims)}"
    return f"{content}.{_base64(sign(content.encode()))}"


def decode_token(token: Any) -> ResultToken:
    """Return the parts of a token, unchecked. Raises `CardError` for any other text."""
    if not isinstance(token, str) or len(token) > MAX_CHARACTERS:
        raise CardError("The token is not a text of this platform's tokens.")
    parts = token.split(".")
    try:
        header_text, claims_text, signature = map(_decoded, parts)
        header, claims = json.loads(header_text), json.loads(claims_text)
    except (ValueError, RecursionError):
        raise CardError("The token is not a text of this platform's tokens.") from None
    if not isinstance(header, dict) or not isinstance(claims, dict) or header.get("typ") != KIND:
        raise CardError("The token is of another service.")
    if header.get("alg") != "Ed25519" or not isinstance(header.get("kid"), str):
        raise CardError("The token is signed in a way that is not known here.")
    return ResultToken(header["kid"], claims, ".".join(parts[:2]).encode(), signature)


def is_signed(token: ResultToken, keys: Sequence[str]) -> bool:
    """Return True if the token's signature is one of these public keys' (32 bytes in base64 each).

    Raises `CardError` where the library for signatures is not installed.
    """
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise CardError("Checking signatures needs a library: pip install cryptography.") from None
    for key in keys:
        try:
            public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
            public.verify(token.signature, token.signed)
        except (InvalidSignature, ValueError):
            continue
        return True
    return False


def check_results(models: Iterable[CardModel], keys: Sequence[str] = (), model_name: str = "") -> list[TokenCheck]:
    """Return the state of every result of a card; without `keys` each token is checked with the key that it names.

    `model_name` is the model that the card is of, by default the name that stands in it.
    """
    return [_check(model_name or model.name, model.name, result, keys) for model in models for result in model.results]


def _check(name: str, card_name: str, result: CardResult, keys: Sequence[str]) -> TokenCheck:
    if result.verify_token is None:
        return TokenCheck(card_name, result, "unsigned", "it has no token")
    try:
        token = decode_token(result.verify_token)
    except CardError as error:
        return TokenCheck(card_name, result, "unreadable", str(error))
    if not is_signed(token, keys or [token.key]):
        return TokenCheck(card_name, result, "forged", "the signature is not that of the key", token)
    claims = result_claims(name, result)
    different = [key for key in sorted({*claims, *token.claims} - _ISSUE) if not _equal(claims, token.claims, key)]
    if different:
        parts = (f"{key} is {claims.get(key)!r}, signed is {token.claims.get(key)!r}" for key in different)
        return TokenCheck(card_name, result, "differs", "; ".join(parts), token)
    return TokenCheck(card_name, result, "holds", "", token)


_ISSUE = {"iss", "evaluation", "open_evaluation", "record"}
"""Claims that do not repeat the card."""


def _equal(claims: dict[str, Any], signed: dict[str, Any], key: str) -> bool:
    value, other = claims.get(key), signed.get(key)
    if isinstance(value, bool) is not isinstance(other, bool):
        return False
    return bool(value == other)


def _encoded(value: dict[str, Any]) -> str:
    return _base64(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
