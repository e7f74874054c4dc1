"""Everything an operator can set, read from `DYNABENCH_*` environment variables."""

import hashlib
import os
import secrets
import tempfile
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from dynabench.kit.errors import Conflict


class OidcProvider(BaseModel):
    """A provider of log-ins that speaks OpenID Connect, as an operator registered this site there."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,29}$", description="Name in addresses of this site.")
    label: str = Field(min_length=1, max_length=40, description="Name on the button.")
    issuer: str = Field(max_length=255, description="Address of the provider, as in its `issuer`.")
    client_id: str = Field(min_length=1, description="Name of this site at the provider.")
    client_secret: str = Field("", repr=False, description="Secret of this site; empty for a client without one.")
    scope: str = Field("openid email profile", description="Scopes that are asked for.")

    @field_validator("issuer")
    @classmethod
    def _encrypted(cls, value: str) -> str:
        parts = urlsplit(value)
        local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost")
        if not (parts.scheme == "https" or local) or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the issuer is an https address")
        return value


class Settings(BaseSettings):
    """Settings of one deployment; every field is documented in `docs/reference/settings.md`."""

    model_config = SettingsConfigDict(env_prefix="DYNABENCH_", extra="ignore", hide_input_in_errors=True)

    home: Path = Field(Path("~/.dynabench"), description="Folder that holds all state.")
    database_url: str = Field("", description="SQLAlchemy URL; empty means SQLite under the home folder.")
    secret: str = Field("", description="Key for pseudonyms and form tokens; empty means one made at first use.")
    host: str = Field("127.0.0.1", description="Address the web process listens on.")
    port: int = Field(8000, description="Port the web process listens on.")
    host_url: str = Field(
        "", description="Where model hosts answer, separated by commas; empty means one on a local socket."
    )
    host_token: str = Field("", description="Secret that model hosts demand over TCP and that is sent to them.")
    host_workers: int = Field(1, ge=1, le=64, description="Processes of the model host, each at its own address.")
    host_memory: str = Field("", description="What a model host may use: 4GiB, none; empty: 3/4 of the machine's.")
    models: str = Field("", description="More folders that hold models, separated by colons.")
    encoder: str = Field(
        "", description="Folder of the shared encoder; empty means the installed package, then the hub."
    )
    precision: Literal["", "fp32", "bf16", "int8"] = Field(
        "", description="What the shared encoder computes in; empty means what this processor is best at."
    )
    demo: bool = Field(False, description="Create the demo tasks, as `serve --demo` does, and say how far that is.")
    spbleu_model: str = Field(
        "", description="SentencePiece model of the metric spbleu; empty means FLORES-200's where sacrebleu keeps it."
    )
    ray: str = Field(
        "",
        description="Ray cluster that models run on: its address, or `local` for one here; empty means none.",
    )
    ray_replicas: str = Field("1", description="Replicas of each model on Ray: a number, or a range such as `1-8`.")
    ray_processors: float = Field(1.0, gt=0, description="Processors that each replica on Ray takes.")
    hub_url: str = Field(
        "https://huggingface.co", description="Hub that datasets and models come from; empty means that none is called."
    )
    hub_hosts: str = Field(
        "", description="Hosts and networks that the hub may keep its files at though they are not public, by commas."
    )
    private_endpoints: str = Field(
        "", description="Hosts and networks that models may be served from though they are not public, by commas."
    )
    webhook_hosts: str = Field(
        "", description="Hosts and networks that webhooks may be at though they are not public, by commas."
    )
    crowd_urls: dict[str, str] = Field(
        {}, description="Addresses of crowd platforms' APIs by provider, as JSON, where they are not the usual ones."
    )
    crowd_hosts: str = Field(
        "", description="Hosts and networks that crowd platforms may be at though they are not public, by commas."
    )
    new_tasks: Literal["proposed", "free", "admins"] = Field(
        "proposed", description="Who makes tasks: an admin accepts what people propose; everybody; admins alone."
    )
    new_classes: Literal["members", "admins"] = Field(
        "members", description="Who makes classes, which students join without a mail address."
    )
    public_url: str = Field("", description="Address at which people reach the pages; mail needs it for its links.")
    smtp_host: str = Field("", description="Mail server that notices go out through; empty means no mail.")
    smtp_port: int = Field(587, ge=1, le=65535, description="Port of the mail server.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="How the connection to the mail server is encrypted."
    )
    smtp_user: str = Field("", description="Name at the mail server; empty means no log-in.")
    smtp_password: str = Field("", description="Password at the mail server.")
    smtp_sender: str = Field("", description="Sender of mails: an address, or a name and one in angle brackets.")
    oidc: list[OidcProvider] = Field([], description="Providers that people can log in with, as JSON.")
    admin_second_factor: bool = Field(
        False, description="Admins with a password may administer only once they log in with codes as well."
    )
    spending_per_day: float = Field(0.0, ge=0, description="What served models may cost a day in all; 0 for no limit.")
    answer_seconds: float = Field(2.0, description="How long an annotator waits for a model before being told.")
    reservation_seconds: int = Field(600, description="How long a validator keeps the place of an item handed out.")
    handler_memory_mb: int = Field(4096, description="MiB of memory that a handler may ask for.")
    handler_disk_mb: int = Field(512, description="MiB of scratch files that a handler may ask for.")
    handler_processors: int = Field(2, description="Processor cores that a handler may ask for.")
    handler_processes: int = Field(256, description="Processes and threads that a handler may ask for.")
    handler_predict_seconds: float = Field(60.0, description="Seconds that a handler may take for a batch.")
    handler_load_seconds: float = Field(300.0, description="Seconds that a handler may take to load.")
    check_seconds: int = Field(900, ge=10, description="Seconds that the check of a submitted model may take.")
    check_memory_mb: int = Field(
        12288, ge=256, description="MiB of memory that the check of a submitted model may take."
    )
    evaluations_at_once: int = Field(2, ge=1, le=64, description="Evaluations that a worker runs side by side.")
    evaluation_memory_mb: int = Field(8192, ge=64, description="MiB of memory that a model may take in an evaluation.")
    evaluation_answer_seconds: float = Field(
        10.0, gt=0, description="Seconds that an evaluated model may take for each of the rows it is given."
    )
    evaluation_hours: float = Field(24.0, gt=0, description="Hours that an evaluation may run from its last start.")
    media_mb: float = Field(10.0, gt=0, le=100, description="MiB of a picture or file that people send.")
    media_audio_mb: float = Field(20.0, gt=0, le=100, description="MiB of a sound that people send.")
    media_pixels: int = Field(25_000_000, ge=64, description="Pixels of a picture that people send.")
    media_seconds: float = Field(300.0, gt=0, description="Seconds of a sound that people send.")
    media_files_per_day: int = Field(500, ge=1, description="Files that one person may send within 24 hours.")
    media_mb_per_day: int = Field(500, ge=1, description="MiB that one person may send within 24 hours.")
    upload_mb_per_day: int = Field(
        8192, ge=1, description="MiB of all large files that one person may send within 24 hours."
    )
    hub_mb_per_person: int = Field(
        20_480, ge=0, description="MiB that the repositories of one person on the hub may take; 0 closes the hub."
    )
    hub_file_mb: int = Field(5120, ge=1, description="MiB of one file in a repository of the hub.")
    disk_reserve_mb: int = Field(
        512, ge=0, description="MiB of the disk that uploads leave free; below that they are refused."
    )
    secure_cookies: bool = Field(False, description="Send cookies over HTTPS only; set it behind a TLS proxy.")
    rate_limit: bool = Field(True, description="Limit log-ins, registrations and model calls per person.")
    password_cost: int = Field(3, description="Argon2id passes over memory.")
    log_format: str = Field("text", description="`text` for people, `json` for machines.")

    @cached_property
    def folder(self) -> Path:
        """The home folder, made if absent and closed to other users."""
        folder = self.home.expanduser().resolve()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder

    @cached_property
    def host_address(self) -> str:
        """The addresses of the model hosts: `unix:/path/to/socket` or http URLs, separated by commas."""
        return self.host_url or ",".join(process_addresses(f"unix:{self.socket('host')}", self.host_processes))

    @property
    def host_processes(self) -> int:
        """The number of processes of a host that is started here; on Ray the models run in others."""
        return 1 if self.ray else self.host_workers

    @property
    def own_host_address(self) -> str:
        """The address of a host that is started here: the first of the addresses."""
        return self.host_address.split(",")[0].strip()

    def socket(self, name: str) -> Path:
        """Return the socket path on this machine of this deployment's process called `name`; make its folder."""
        path = self.folder / "run" / f"{name}.sock"
        if len(str(path)) > 100:  # the kernel's limit for a socket's name is 107 bytes
            digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
            path = Path(tempfile.gettempdir()) / f"dynabench-{os.getuid()}" / f"{digest}.sock"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    @property
    def site(self) -> str:
        """The address of the pages, without a slash at its end."""
        return self.public_url.rstrip("/")

    @property
    def mails(self) -> bool:
        """The ability to send mail: true where a server, a sender and an address for links are set."""
        return bool(self.smtp_host and self.smtp_sender and self.public_url)

    @cached_property
    def url(self) -> str:
        """The database's SQLAlchemy URL."""
        if not self.database_url:
            return f"sqlite:///{self.folder / 'dynabench.sqlite'}"
        return self.database_url.replace("postgresql://", "postgresql+psycopg://", 1)

    @cached_property
    def key(self) -> bytes:
        """The deployment's secret; written once under the home folder when none is configured."""
        if self.secret:
            return self.secret.encode()
        return read_secret(self.secret_file)

    @property
    def secret_file(self) -> Path:
        """The file that keeps the secret when none is configured."""
        return self.folder / "secret"

    @field_validator("secret")
    @classmethod
    def _long_enough(cls, value: str) -> str:
        if value and len(value.encode()) < LEAST_BYTES:
            raise ValueError(
                f"the secret has {len(value.encode())} bytes and needs at least {LEAST_BYTES}; "
                "`openssl rand -hex 32` prints a good one"
            )
        return value


def process_addresses(url: str, count: int) -> list[str]:
    """The addresses of a host's processes: `url`, then sockets beside it with a number in their names, or the next
    ports."""
    if url.startswith("unix:"):
        path = Path(url.removeprefix("unix:"))
        return [url, *(f"unix:{path.with_stem(f'{path.stem}-{number}')}" for number in range(1, count))]
    parts = urlsplit(url)
    port, name = parts.port or 80, parts.netloc.removesuffix(f":{parts.port}")
    return [url, *(parts._replace(netloc=f"{name}:{port + number}").geturl() for number in range(1, count))]


@lru_cache
def get_settings() -> Settings:
    """The settings of this process."""
    return Settings()


LEAST_BYTES = 32
"""Shorter secrets can be guessed, and a file that was cut short would key pseudonyms that nobody can make again."""


def read_secret(path: Path) -> bytes:
    """Return the secret in the file, made at the first call; raises `Conflict` where the file holds too little."""
    if not path.exists():
        write_new(path, secrets.token_hex(32).encode())
    content = path.read_bytes()
    if len(content) < LEAST_BYTES:
        raise Conflict(
            f"{path} holds {len(content)} bytes, and a secret needs at least {LEAST_BYTES}. Put the file of a backup "
            "in its place (`dynabench restore` does). Delete it only if this platform has never been used: a new "
            "secret changes all pseudonyms and logs everybody out."
        )
    return content


def write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, unless it exists; readers see all of it or no file at all.

    Of several processes that write it at the same time, the first wins.
    """
    waiting = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        waiting.touch(mode=0o600, exist_ok=False)
        with waiting.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(waiting, path)  # unlike a rename, it never replaces what another process has written
    finally:
        waiting.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make names that were given or taken in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
