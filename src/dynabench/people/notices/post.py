"""Handing a mail to the operator's server (RFC 5321), and what its answers mean."""

import smtplib
import ssl
from email.message import EmailMessage

from dynabench.kit.settings import Settings

SECONDS = 30.0


class Later(Exception):
    """It was not taken, and may be if it is sent again: 4xx answers, broken connections, a server set up wrongly."""


class Refused(Exception):
    """It was not taken and never will be: the server does not know the recipient or does not want the mail."""


def send(settings: Settings, message: EmailMessage) -> None:
    """Send to the one recipient of `message`; raises `Later` or `Refused` with what the server said."""
    try:
        with _connected(settings) as server:
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        [(code, said)] = error.recipients.values()
        raise _meaning(code, said) from error
    except smtplib.SMTPDataError as error:
        raise _meaning(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        raise (Refused if "SMTPUTF8" in str(error) else Later)(str(error)) from error
    except smtplib.SMTPResponseException as error:  # before any recipient was named: log-in, sender
        raise Later(_said(error.smtp_code, error.smtp_error)) from error
    except (smtplib.SMTPException, OSError, EOFError) as error:
        raise Later(f"{type(error).__name__}: {error}") from error


def _connected(settings: Settings) -> smtplib.SMTP:
    """A connection to the server, encrypted and logged in as the settings say; an unencrypted one is never fallen
    back to."""
    host, port, way = settings.smtp_host, settings.smtp_port, settings.smtp_security
    if way == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SECONDS, context=ssl.create_default_context())
    else:
        server = smtplib.SMTP(host, port, timeout=SECONDS)
    try:
        if way == "starttls":
            server.starttls(context=ssl.create_default_context())
        if settings.smtp_user:
            server.login(settings.smtp_user, settings.smtp_password)
    except BaseException:
        server.close()
        raise
    return server


def _meaning(code: int, said: bytes | str) -> Later | Refused:
    return (Refused if code >= 500 else Later)(_said(code, said))


def _said(code: int, said: bytes | str) -> str:
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    return f"{code} {text}"
