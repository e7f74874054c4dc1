"""Addresses that the platform calls when users name them."""

import ipaddress
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.kit.errors import Invalid
from dynabench.kit.outgoing import AllowedHosts, OutgoingClient, RefusedAddress, Unreached, check_address
from dynabench.kit.outgoing.addresses import is_public

NONE = AllowedHosts()


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "fec0::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a9fe:a9fe::1"),
    ],
)
def test_addresses_that_are_not_public(address):
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_addresses_that_are_public(address):
    assert is_public(ipaddress.ip_address(address))


@given(st.integers(0, 2**32 - 1))
def test_a_private_address_stays_private_however_it_is_wrapped(number):
    plain = ipaddress.IPv4Address(number)
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        wrapped = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + number)
        assert is_public(wrapped) == is_public(plain)


def called(url, allowed=NONE, seconds=3):
    served = OutgoingClient(allowed)
    try:
        return served.call("GET", url, None, {}, seconds)
    finally:
        served.close()


@pytest.mark.parametrize("url", ["https://localhost/", "https://localhost.localdomain/"])
def test_a_name_that_leads_to_a_private_address_is_refused(url, monkeypatch):
    answer = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(RefusedAddress, match="not a public address"):
        called(url)


def test_one_private_address_among_public_ones_is_refused(monkeypatch):
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in ("8.8.8.8", "10.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)
    with pytest.raises(RefusedAddress, match="not a public address"):
        called("https://example.org/")


@pytest.mark.parametrize("host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
def test_odd_spellings_of_this_machine_are_refused(host):
    with pytest.raises((RefusedAddress, Invalid, Unreached)):
        called(f"https://{host}/")


def test_the_address_that_was_checked_is_the_one_that_is_called(monkeypatch):
    """A name server that answers otherwise the second time leads nowhere else, since there is no second time."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    request = []
    real = socket.getaddrinfo

    def answer(host, *rest, **more):
        if host != "models.example.org":
            return real(host, *rest, **more)
        request.append(host)
        address = "127.0.0.1" if len(request) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    def reply():
        connection, _ = server.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    thread = threading.Thread(target=reply, daemon=True)
    thread.start()
    monkeypatch.setattr(socket, "getaddrinfo", answer)
    try:
        assert called(f"http://models.example.org:{port}/", AllowedHosts.read("models.example.org")).json() == {}
    finally:
        thread.join(5)
        server.close()
    assert request == ["models.example.org"]


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate of models.example.org that nobody but itself vouches for."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed.")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out"]
    command += [certificate, "-subj", "/CN=models.example.org", "-addext", "subjectAltName=DNS:models.example.org"]
    subprocess.run(command, check=True, capture_output=True)
    return key, certificate


@pytest.mark.parametrize(
    ("host", "trusted", "fine"),
    [("models.example.org", True, True), ("models.example.org", False, False), ("other.example.org", True, False)],
)
def test_certificates_are_those_of_the_name_though_the_address_is_called(
    host, trusted, fine, certificate, monkeypatch, tmp_path
):
    key, own = certificate
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own, key)
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda name, *rest, **more: real("127.0.0.1" if name.endswith(".org") else name, *rest, **more),
    )

    def reply():
        connection, _ = server.accept()
        with suppress(OSError), context.wrap_socket(connection, server_side=True) as packed:
            packed.recv(65536)
            packed.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        connection.close()

    thread = threading.Thread(target=reply, daemon=True)
    thread.start()
    try:
        if fine:
            assert called(f"https://{host}:{port}/", AllowedHosts.read("127.0.0.0/8")).json() == {}
        else:
            with pytest.raises(Unreached, match="certificate verify failed"):
                called(f"https://{host}:{port}/", AllowedHosts.read("127.0.0.0/8"))
    finally:
        thread.join(5)
        server.close()


@pytest.mark.parametrize(
    ("allowed", "url", "fine"),
    [
        ("", "http://example.org", False),
        ("example.org", "http://example.org", True),
        ("example.org", "http://other.example.org", False),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/v2", True),
        ("127.0.0.1:8080", "http://127.0.0.1:5432/", False),
        ("10.0.0.0/8", "http://10.9.8.7/", True),
        ("10.0.0.0/8", "https://11.0.0.1/", True),
        ("10.0.0.0/8", "https://192.168.0.1/", False),
        ("[::1]:80, 10.0.0.1", "http://[::1]/", True),
    ],
)
def test_the_operator_says_what_else_may_be_called(allowed, url, fine):
    if fine:
        check_address(url, AllowedHosts.read(allowed))
    else:
        with pytest.raises(Invalid):
            check_address(url, AllowedHosts.read(allowed))


def test_a_network_holds_for_names_as_well(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, 1, 6, "", ("127.0.0.9", 1))])
    with pytest.raises(Unreached, match="cannot be reached"):
        called("https://models.lan:1/", AllowedHosts.read("127.0.0.0/8"))


def test_a_setting_that_names_nothing_is_told():
    with pytest.raises(Invalid, match="neither a host nor a network"):
        AllowedHosts.read("https://example.org")


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_is_refused(text):
    try:
        host, port = check_address(text)
    except Invalid:
        return
    assert host
    assert 0 < port < 65536
