"""Requests to a provider of log-ins: discovery, the address to log in at, the exchange of a code, its keys.

Providers are named by the operator, so their addresses are called as they are; time and size are limited.
"""

import hmac
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from dynabench.kit.errors import Problem, Unavailable
from dynabench.kit.language import _
from dynabench.kit.security import keyed
from dynabench.kit.settings import OidcProvider

SECONDS = 10.0
KEPT_SECONDS = 600.0
"""How long discovery and keys are used before they are read again."""
MOST_BYTES = 512 * 1024
LEEWAY = 60  # seconds by which clocks may differ
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that are taken: none that a public key or no key at all could make."""


class LoginRefused(Problem):
    """The provider, or what it sent, does not let the person in."""

    status, title = 403, _("Log-in refused")


@dataclass(frozen=True)
class Claims:
    """Facts that a provider states about a person; `email` is theirs for sure only where it is `verified`."""

    issuer: str
    subject: str
    email: str
    verified: bool
    name: str


@dataclass
class PublishedDocument:
    """Something that a provider publishes, and when it was read."""

    content: dict[str, Any]
    read_at: float


@dataclass
class LoginProvider:
    """One provider as this process knows it; what it publishes is kept for a while."""

    config: OidcProvider
    _documents: dict[str, PublishedDocument] = field(default_factory=dict)

    async def login_address(self, key: bytes, state: str, redirect_uri: str) -> str:
        """Return the page of the provider at which people log in."""
        metadata = await self._metadata()
        async with self._client(redirect_uri) as client:
            address, _state = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=state,
                code_verifier=_derived(key, "oidc verifier", state),
                nonce=_derived(key, "oidc nonce", state),
            )
        return str(address)

    async def claims(self, key: bytes, state: str, code: str, redirect_uri: str, issuer: str) -> Claims:
        """Return what the provider says of a person who came back with a code; raises `LoginRefused` or `Unavailable`.

        `issuer` is what came back with the code (RFC 9207), which providers may leave out.
        """
        metadata = await self._metadata()
        if issuer and not hmac.compare_digest(issuer.encode(), metadata["issuer"].encode()):
            raise self.refusal("the answer is another provider's")
        verifier = _derived(key, "oidc verifier", state)
        try:
            async with self._client(redirect_uri) as client:
                token = await client.fetch_token(metadata["token_endpoint"], code=code, code_verifier=verifier)
        except (httpx2.HTTPError, OSError) as error:
            raise self._away(error) from error
        except (AuthlibBaseError, ValueError, TypeError, KeyError) as error:
            raise self.refusal(f"the code was not taken ({error})") from error
        id_token = token.get("id_token")
        if not isinstance(id_token, str):
            raise self.refusal("it sent no ID token")
        return self._checked(await self._decoded(id_token), metadata, token, _derived(key, "oidc nonce", state))

    async def logout_address(self, back: str) -> str:
        """Return the page of the provider at which people log out there too; "" where it has none or is away."""
        try:
            address = (await self._metadata()).get("end_session_endpoint", "")
        except Problem:
            return ""
        if not address:
            return ""
        query = urlencode({"client_id": self.config.client_id, "post_logout_redirect_uri": back})
        return f"{address}{'&' if urlsplit(address).query else '?'}{query}"

    def _checked(self, decoded: jwt.Token, metadata: Mapping[str, Any], token: Mapping[str, Any], nonce: str) -> Claims:
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": metadata["issuer"]},
                "aud": {"essential": True, "value": self.config.client_id},
                "nonce": {"essential": True, "value": nonce},
            },
            {"nonce": nonce, "client_id": self.config.client_id, "access_token": token.get("access_token")},
        )
        try:
            claims.validate(leeway=LEEWAY)
        except (JoseError, AuthlibBaseError, ValueError, TypeError) as error:
            raise self.refusal(f"its ID token is not for this log-in ({error})") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= 255:
            raise self.refusal("its ID token names nobody")
        email, verified = claims.get("email"), claims.get("email_verified")
        name = claims.get("preferred_username") or claims.get("nickname") or claims.get("name") or ""
        return Claims(
            issuer=metadata["issuer"],
            subject=subject,
            email=email[:254] if isinstance(email, str) else "",
            verified=isinstance(email, str) and verified is True,
            name=name[:100] if isinstance(name, str) else "",
        )

    async def _decoded(self, id_token: str) -> jwt.Token:
        registry = JWSRegistry(algorithms=list(ALGORITHMS), strict_check_header=False)
        try:
            try:
                return jwt.decode(id_token, KeySet.import_key_set(await self._keys()), registry=registry)
            except InvalidKeyIdError:  # the provider has new keys
                return jwt.decode(id_token, KeySet.import_key_set(await self._keys(30)), registry=registry)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise self.refusal(f"the signature of its ID token is wrong ({error})") from error

    async def _metadata(self) -> dict[str, Any]:
        metadata = await self._read(f"{self.config.issuer.rstrip('/')}/.well-known/openid-configuration")
        needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        addresses = [metadata.get(name) for name in (*needed, "end_session_endpoint")]
        if metadata.get("issuer") != self.config.issuer:
            raise self.refusal("it publishes another issuer than the one that is set")
        if not all(addresses[: len(needed)]) or not all(self._encrypted(address) for address in addresses if address):
            raise self.refusal("it publishes no safe addresses")
        return metadata

    def _encrypted(self, address: object) -> bool:
        scheme = urlsplit(address).scheme if isinstance(address, str) else ""
        return scheme == "https" or (scheme == "http" and self.config.issuer.startswith("http:"))

    async def _keys(self, kept_seconds: float = KEPT_SECONDS) -> Any:
        return await self._read((await self._metadata())["jwks_uri"], kept_seconds)

    async def _read(self, address: str, kept_seconds: float = KEPT_SECONDS) -> dict[str, Any]:
        stored = self._documents.get(address)
        if stored is not None and time.monotonic() - stored.read_at < kept_seconds:
            return stored.content
        try:
            async with httpx2.AsyncClient(timeout=SECONDS) as client:
                response = await client.get(address, headers={"Accept": "application/json"})
                response.raise_for_status()
            content = response.json() if len(response.content) <= MOST_BYTES else None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError) as error:
            raise self._away(error) from error
        if not isinstance(content, dict):
            raise self.refusal("it publishes something that is no description of a provider")
        self._documents[address] = PublishedDocument(content, time.monotonic())
        return content

    def _client(self, redirect_uri: str) -> AsyncOAuth2Client:
        config = self.config
        return AsyncOAuth2Client(
            client_id=config.client_id,
            client_secret=config.client_secret or None,
            token_endpoint_auth_method="client_secret_basic" if config.client_secret else "none",
            scope=config.scope,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=SECONDS,
            follow_redirects=False,
        )

    def _away(self, error: Exception) -> Unavailable:
        text = _("%(label)s cannot be reached. Try again in a minute, or log in another way.", label=self.config.label)
        return Unavailable(text, retry_after=30, reason=f"{type(error).__name__}: {error}")

    def refusal(self, reason: str) -> LoginRefused:
        """Return the problem of a log-in that the provider, or what it sent, does not allow."""
        text = _("%(label)s did not log you in. Start again, or log in another way.", label=self.config.label)
        return LoginRefused(text, reason=reason)


def _derived(key: bytes, purpose: str, state: str) -> str:
    """A value that belongs to a state and that no table holds."""
    return urlsafe_b64encode(keyed(key, purpose, state)).decode().rstrip("=")
