"""Mail and webhooks from the page to the receiver, with a worker in between that dies once."""

import ssl
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from dynabench.people.notices import mailing
from tests.jobs.conftest import until, worker
from tests.notices.conftest import Inbox, free_port

__all__ = ["worker"]


@pytest.mark.slow
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_a_worker_sends_what_was_asked_for_before_it_was_killed(person, worker, settings, inbox, receiver):
    for name in ("smtp_host", "smtp_port", "smtp_security", "smtp_sender", "public_url", "webhook_hosts"):
        worker.env[f"DYNABENCH_{name.upper()}"] = str(getattr(settings, name))
    ada = person("ada")
    hook = ada.post("/api/v1/me/webhooks", json={"url": receiver.url}).json()["id"]
    receiver.answers = [(500, b"not now")]
    ada.post(f"/api/v1/me/webhooks/{hook}/test")
    ada.post("/api/v1/me/notifications/address", json={"address": "ada@example.org"})
    worker.start()
    until(lambda: receiver.got)
    until(lambda: inbox.mails)
    worker.end()
    [failed] = ada.get(f"/api/v1/me/webhooks/{hook}/deliveries").json()["items"]
    assert failed["event"] == "webhook.test"
    ada.post(f"/api/v1/me/webhooks/{hook}/deliveries/{failed['id']}/again")
    ada.post(f"/api/v1/me/webhooks/{hook}/test")
    worker.start()
    until(lambda: len({headers["webhook-id"] for headers, _ in receiver.got}) == 2)
    assert inbox.mails[0]["Subject"] == "Confirm your email address for Dynabench"


def certificate(folder):
    """A certificate for 127.0.0.1 that signs itself: its file and its key's."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    day = timedelta(days=1)
    created = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - day)
        .not_valid_after(datetime.now(UTC) + day)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "cert.pem", folder / "key.pem"
    files[0].write_bytes(created.public_bytes(serialization.Encoding.PEM))
    pem, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, pem, plain))
    return files


class Encrypting(Controller):
    """A mail server that takes mail after STARTTLS alone."""

    def factory(self):
        return SMTP(self.handler, tls_context=self.tls, require_starttls=True)


@pytest.mark.parametrize("way", ["starttls", "tls"])
@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_mail_goes_over_tls_to_a_server_whose_certificate_holds(settings, tmp_path, monkeypatch, way):
    cert, key = certificate(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(cert, key)
    inbox, port = Inbox(), free_port()
    monkeypatch.setenv("SSL_CERT_FILE", str(cert))  # what OpenSSL trusts in place of the machine's list
    kind = Encrypting if way == "starttls" else Controller
    server = kind(inbox, hostname="localhost", port=port, **({"ssl_context": tls} if way == "tls" else {}))
    server.tls = tls
    server.start()
    try:
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = "bench@example.org", "ada@example.org", "Hello"
        to = settings.model_copy(update={"smtp_host": "localhost", "smtp_port": port, "smtp_security": way})
        mailing.send_letter(to, message)
        assert (len(inbox.mails), inbox.encrypted) == (1, [True])
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(mailing.Later, match="CERTIFICATE_VERIFY_FAILED"):
            mailing.send_letter(to, message)
        assert len(inbox.mails) == 1
    finally:
        server.stop()
