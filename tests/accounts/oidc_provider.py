"""A provider of log-ins that speaks OpenID Connect over HTTP: code flow with PKCE, discovery, keys, log-out.

It approves every log-in of `user` at once. `lies` are what a hostile or broken provider does instead of what is right.
"""

import json
import secrets
import threading
import time
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "bench", "a secret: with + signs"


@dataclass
class OpenIdProvider:
    """The provider; `claims` are put into each ID token in place of the right ones, None leaves a claim out."""

    user: dict[str, Any]
    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    lies: set[str] = field(default_factory=set)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one"}, private=True))
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    def authorize(self, query: dict[str, str]) -> str:
        """Return the address that the browser is led back to, with a code."""
        assert query["client_id"] == CLIENT
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        assert "openid" in query["scope"].split()
        code = secrets.token_urlsafe(16)
        self.codes[code] = query
        answer = {"state": query["state"], "code": code, "iss": self.issuer}
        if "denies" in self.lies:
            answer = {"state": query["state"], "error": "access_denied"}
        if "mixes up" in self.lies:
            answer["iss"] = "https://evil.example.org"
        return f"{query['redirect_uri']}?{urlencode(answer)}"

    def exchange(self, form: dict[str, str], authorization: str) -> tuple[int, dict[str, Any]]:
        """Return the answer to a code: status and body."""
        name, _, secret = b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if (unquote(name), unquote(secret)) != (CLIENT, SECRET) and (name, secret) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        pending = self.codes.pop(form.get("code", ""), None)
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        wrong = (
            pending is None or pending["code_challenge"] != challenge or pending["redirect_uri"] != form["redirect_uri"]
        )
        if pending is None or wrong:
            return 400, {"error": "invalid_grant"}
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": int(time.time()), "exp": int(time.time()) + 300}
        claims |= {"nonce": pending["nonce"]} | self.user | self.claims
        claims = {name: value for name, value in claims.items() if value is not None}
        return 200, {"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": self._signed(claims)}

    def _signed(self, claims: dict[str, Any]) -> str:
        if "unsigned" in self.lies:
            parts = [urlsafe_b64encode(json.dumps(part).encode()).decode() for part in ({"alg": "none"}, claims)]
            return ".".join(part.rstrip("=") for part in parts) + "."
        if "signs with the public key" in self.lies:
            public = OctKey.import_key(self.key.as_pem(private=False))
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, public, algorithms=["HS256"])
        key = RSAKey.generate_key(2048, {"kid": "one"}) if "signs with another key" in self.lies else self.key
        return jwt.encode({"alg": "RS256", "kid": str(key.kid)}, claims, key)

    def document(self, path: str) -> dict[str, Any] | None:
        """Return what is published at a path."""
        if path == "/keys":
            return {"keys": [self.key.as_dict(private=False)]}
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            names["end_session_endpoint"] = "logout"
            issuer = "https://evil.example.org" if "is another" in self.lies else self.issuer
            return {"issuer": issuer} | {name: f"{self.issuer}/{path}" for name, path in names.items()}
        return None


class Handler(BaseHTTPRequestHandler):
    """HTTP in front of the provider, which the server has as `provider`."""

    def _send(self, status: int, body: Any, **headers: str) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        provider: OpenIdProvider = self.server.provider  # type: ignore[attr-defined]
        parts = urlsplit(self.path)
        provider.calls.append(parts.path)
        if parts.path == "/authorize":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self._send(302, None, Location=provider.authorize(query))
        elif (document := provider.document(parts.path)) is not None:
            self._send(200, document)
        else:
            self._send(404, {})

    def do_POST(self) -> None:
        provider: OpenIdProvider = self.server.provider  # type: ignore[attr-defined]
        provider.calls.append(self.path)
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        if "breaks down" in provider.lies:
            self._send(500, {})
        else:
            self._send(*provider.exchange(form, self.headers.get("authorization", "")))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def start(provider: OpenIdProvider) -> ThreadingHTTPServer:
    """Serve the provider on a free port of this machine; its `issuer` is the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.provider = provider  # type: ignore[attr-defined]
    provider.issuer = provider.issuer or f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server
