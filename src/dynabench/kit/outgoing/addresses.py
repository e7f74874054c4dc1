"""Addresses that the platform calls when users name them: public ones over https, others if the operator allows it."""

import ipaddress
import re
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from dataclasses import field as member
from urllib.parse import urlsplit

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.kit.language import _

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv4 addresses as IPv6 ones, RFC 6052; the last 32 bits are what is reached."""
SETTING = "DYNABENCH_PRIVATE_ENDPOINTS"


class RefusedAddress(Unavailable):
    """The platform does not call this address, or does not accept this answer; another attempt changes nothing."""


@dataclass(frozen=True)
class AllowedHosts:
    """Hosts and networks that the operator allows beyond public addresses; hosts with a port or without.

    `setting` is the name of the setting that lists them.
    """

    names: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = member(default=())
    setting: str = SETTING

    @classmethod
    def read(cls, text: str, setting: str = SETTING) -> "AllowedHosts":
        """From `name, name:port, 10.0.0.0/8`; raises `Invalid` for what is neither a host nor a network."""
        names, networks = set(), []
        for part in filter(None, (part.strip().lower() for part in text.split(","))):
            try:
                networks.append(ipaddress.ip_network(part))
            except ValueError:
                if not re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?", part):
                    raise Invalid(
                        {setting: _("%(part)s is neither a host nor a network such as 10.1.0.0/16.", part=repr(part))}
                    ) from None
                names.add(part)
        return cls(frozenset(names), tuple(networks), setting)

    def names_host(self, host: str, port: int) -> bool:
        """Return whether the host is allowed by its name, or by the literal address that it is."""
        if {host, f"{host}:{port}", f"[{host}]:{port}"} & self.names:
            return True
        try:
            return self.holds(ipaddress.ip_address(host))
        except ValueError:
            return False

    def holds(self, address: IP) -> bool:
        """Return whether the address lies in an allowed network."""
        return any(address in network for network in self.networks)


def check_address(
    url: str, allowed: AllowedHosts | None = None, name: str = "url", query: bool = False
) -> tuple[str, int]:
    """Return host and port of an address that a user named. Raises `Invalid` under `name`.

    With `allowed`, plain http and private literal addresses are refused unless they are in it. Without `query` an
    address has no query, because paths are added to it.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise Invalid({name: _("This is not a valid address: %(error)s.", error=error)}) from error
    if parts.scheme not in ("https", "http") or not host or re.search(r"[^\x21-\x7e]|\\", url):
        raise Invalid({name: _("Give an address such as https://models.example.org/v1.")})
    if parts.username is not None or parts.password is not None:
        raise Invalid({name: _("An address must not contain a name or password: use `token` for the token.")})
    if parts.fragment or (parts.query and not query):
        raise Invalid({name: _("An address must not contain `?` or `#` here.")})
    port = port or (443 if parts.scheme == "https" else 80)
    if allowed is not None and not allowed.names_host(host, port):
        if parts.scheme == "http":
            raise Invalid(
                {
                    name: _(
                        "Plain http is only for hosts that the operator lists in %(setting)s; use https.",
                        setting=allowed.setting,
                    )
                }
            )
        if (address := _literal(host)) is not None and not is_public(address):
            raise Invalid({name: _private(host, allowed.setting)})
    return host, port


def resolve_host(host: str, port: int, allowed: AllowedHosts, seconds: float) -> list[str]:
    """Return the host's addresses that may be called. Raises `RefusedAddress` when one may not, `OSError` without any.

    One private address among public ones is refused as well: the name server could choose it.
    """
    addresses = _look_up(host, port, seconds)
    if not allowed.names_host(host, port):
        for text in addresses:
            address = ipaddress.ip_address(text.partition("%")[0])
            if not is_public(address) and not allowed.holds(address):
                raise RefusedAddress(_private(host, allowed.setting))
    return addresses


def is_public(address: IP) -> bool:
    """Return whether an address is one of the public internet, also where it wraps an IPv4 address."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


_resolvers = ThreadPoolExecutor(8, thread_name_prefix="resolve")
"""Looking up a name cannot be interrupted, only left behind."""


def _look_up(host: str, port: int, seconds: float) -> list[str]:
    try:
        entries: Sequence[tuple[object, ...]] = _resolvers.submit(
            socket.getaddrinfo, host, port, type=socket.SOCK_STREAM
        ).result(timeout=max(seconds, 0))
    except UnicodeError as error:
        raise OSError("this is no host name") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))  # type: ignore[index]


def _literal(host: str) -> IP | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _private(host: str, setting: str) -> str:
    return _(
        "%(host)s is not a public address, and the platform calls no private ones. If this is "
        "intended, the operator lists it in %(setting)s.",
        host=host,
        setting=setting,
    )
