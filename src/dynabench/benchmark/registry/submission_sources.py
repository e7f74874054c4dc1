"""The sources of submissions: uploaded files, tokens of endpoints, and the fields that each kind must have.

A file lies below `uploads/` under the uploader's number and is found by its random id, so that only the uploader can
submit it. Tokens are stored where `models.backends.served.tokens` looks for them, never in the database or in a model's
folder.
"""

import hashlib
import math
import re
import shutil
import uuid
from collections.abc import AsyncIterable
from pathlib import Path
from typing import Any
from uuid import UUID

from anyio import to_thread
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import endpoint_mapping, queries
from dynabench.datasets import library
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.intake import reader
from dynabench.kit import errors, outgoing
from dynabench.kit.distributions import PLATFORM, TORCHSERVE, install_command
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import archives, kinds
from dynabench.models.backends.served import endpoint
from dynabench.models.endpoint_protocols import protocols
from dynabench.models.protocol import ModelCard
from dynabench.models.references import HUB_ID
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import uploaded_files
from dynabench.tasks import TaskConfig

FOLDER = ".submissions"  # no task is called so
TOKEN = re.compile(r"[\x21-\x7e]{1,500}")


async def store_upload(settings: Settings, person: int, name: str, parts: AsyncIterable[bytes]) -> str:
    """Store a model's zip file, or a file of predictions or of rows to learn from, under a new id, which is returned.

    Raises `Invalid` under `file` for another kind of file, and for what is no whole zip file.
    """
    archive = name.lower().endswith(".zip")
    if not archive and not name.lower().endswith(".txt"):
        reader.kind_of_file(name)
    path = await uploaded_files.store_stream(uploaded_files.uploads_folder(settings, FOLDER, str(person)), name, parts)
    if archive:
        await to_thread.run_sync(_look, path)
    return path.name.partition("--")[0]


def _look(path: Path) -> None:
    try:
        with path.open("rb") as file:
            archives.check_zip_end(file)
    except ValueError as error:
        path.unlink(missing_ok=True)
        message = _("This archive cannot be read: %(error)s. Create one with `dynabench model pack`.", error=error)
        raise errors.Invalid({"file": message}) from None


def find_upload(settings: Settings, person: int, id: str, field: str = "file") -> Path:
    """The waiting file with this id; `Invalid` under `field` where it was thrown away or never was theirs."""
    try:
        place = settings.folder / "uploads" / FOLDER / str(person)
        matches = list(place.glob(f"{UUID(id)}--*"))
    except ValueError:
        matches = []
    if not matches:
        raise errors.Invalid({field: _("This file is no longer here. Upload it again.")})
    return matches[0]


def take_upload(settings: Settings, path: Path) -> str:
    """Move a waiting file to where it stays until its submission is ready or withdrawn; its new name there."""
    return uploaded_files.claim_upload(settings, path).name


def taken_path(settings: Settings, name: str) -> Path:
    """Return the path of a file that was taken."""
    return settings.folder / "uploads" / name


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def store_token(settings: Settings, host: str, secret: str) -> str:
    """Keep an endpoint's token for one host; the name by which a model finds it. Raises `Invalid` under `token`."""
    if not TOKEN.fullmatch(secret):
        raise errors.Invalid({"token": _("A token has up to 500 printable characters and no spaces.")})
    name = f"SUBMITTED_{uuid.uuid4().hex.upper()}"
    endpoint.keep_token(settings.folder, name, host, secret)
    return name


def file_names(source: dict[str, object]) -> set[str]:
    """The files that a submission was sent with, by their names where they were taken."""
    files = source.get("files")
    stored_names = [source.get("file"), *(files.values() if isinstance(files, dict) else [])]
    return {name for name in stored_names if isinstance(name, str) and name}


def delete_uploads(settings: Settings, person: int) -> None:
    """Throw away what a person sent and has not entered."""
    shutil.rmtree(settings.folder / "uploads" / FOLDER / str(person), ignore_errors=True)


def delete_files(settings: Settings, source: dict[str, object], token: bool = False) -> None:
    """Throw away what was sent, and the `token` too once nothing calls the endpoint any more."""
    for name in file_names(source):
        taken_path(settings, name).unlink(missing_ok=True)
    if token and isinstance(source.get("token"), str):
        endpoint.drop_token(settings.folder, str(source["token"]))


CARD_FIELDS = ("licence", "languages", "parameters", "paper", "link")
"""What a submitter may say of a model in a form or a request."""


def board_fields(card: ModelCard) -> dict[str, Any]:
    """Return the fields of a model's card that a board shows and filters by."""
    return {
        "kind": card.kind,
        "summary": card.summary,
        "licence": card.licence,
        "languages": list(card.languages),
        "size_bytes": card.size_bytes,
    } | ({"encoder": card.encoder} if card.encoder else {})


def training_fields(source: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """Of a training set how many `rows` the platform's learner learnt from, how many have each label (`balance`), and
    which version of the `pool` they were chosen from; of other submissions nothing."""
    step = next((step_entry for step_entry in report["steps"] if step_entry["name"] == "rows"), None)
    if step is None or "pool" not in source:
        return {}
    details = {name: step["details"][name] for name in ("rows", "balance")}
    return details | {"pool": source["pool"], "baseline": source.get("baseline", "")}


def card_from_form(form_values: dict[str, str]) -> dict[str, Any]:
    """A card of what a person wrote into a form or a request; raises `Invalid` by field."""
    card: dict[str, Any] = {"licence": form_values.get("licence", "").strip()[:100]}
    card["languages"] = [
        language.strip() for language in form_values.get("languages", "").split(",") if language.strip()
    ][:50]
    wrong = {}
    if any(not re.fullmatch(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}", language) for language in card["languages"]):
        wrong["languages"] = _("Give BCP 47 tags separated by commas, such as en, de-CH.")
    parameters = form_values.get("parameters", "").strip().replace(",", "").replace("_", "")
    if parameters and not re.fullmatch(r"[0-9]{1,15}", parameters):
        wrong["parameters"] = _("Give a whole number such as 22000000.")
    for name in ("paper", "link"):
        card[name] = form_values.get(name, "").strip()
        if card[name] and not re.fullmatch(r"https?://[\x21-\x7e]{3,500}", card[name]):
            wrong[name] = _("Give an address that starts with https://.")
    if wrong:
        raise errors.Invalid(wrong)
    card["parameters"] = int(parameters) if parameters else None
    return {name: value for name, value in card.items() if value not in ("", [], None)}


REVISION = re.compile(r"[\w.-][\w./-]{0,99}")
PRICES = ("price_in", "price_out", "price_per_call", "spend_per_day")
PIPELINES = ("text-classification", "question-answering", "text-generation", "zero-shot-classification")


def source_of(
    session: Session, settings: Settings, person: int, config: TaskConfig, kind: str, fields: dict[str, Any]
) -> dict[str, Any]:
    """The `source` of a submission made of what was said; files that it names are taken, a token is put away.

    Raises `Invalid` by field. To be called last, when all else is known to be right.
    """
    builders = {
        "hub": _hub,
        "endpoint": _endpoint,
        "archive": _archive,
        "adapter": _archive,
        "predictions": _predictions,
    }
    builders["training_set"] = _training_set
    if kind not in builders:
        raise errors.Invalid({"kind": _("Choose one of %(made)s.", made=", ".join(builders))})
    source: dict[str, Any] = builders[kind](session, settings, person, config, fields)
    return source


def _hub(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    name, revision = str(fields.get("hub", "")).strip(), str(fields.get("revision", "")).strip() or "main"
    wrong = {}
    if not HUB_ID.fullmatch(name) or ".." in name or len(name) > 200:
        wrong["hub"] = _("Give the model's id on the hub, owner/name.")
    elif not settings.hub_url:
        wrong["hub"] = _("This deployment does not use a hub. Upload the model's folder as a zip file.")
    if not REVISION.fullmatch(revision) or ".." in revision:
        wrong["revision"] = _("Give a branch, tag or commit.")
    if wrong:
        raise errors.Invalid(wrong)
    return {"hub": name, "revision": revision}


def _endpoint(
    session: Session, settings: Settings, person: int, config: TaskConfig, request_fields: dict[str, Any]
) -> Any:
    source, host = endpoint_source(settings, config, request_fields)
    if secret := clean_token(request_fields):
        source["token"] = store_token(settings, host, secret)
    return source


def clean_token(fields: dict[str, Any]) -> str:
    """Return the token of an endpoint that was sent; raises `Invalid` under `token`."""
    secret = str(fields.get("token", "")).strip()
    if secret and not TOKEN.fullmatch(secret):
        raise errors.Invalid({"token": _("A token has up to 500 printable characters and no spaces.")})
    if fields.get("token_tested") and not secret:
        raise errors.Invalid({"token": _("Enter the token again.")})
    return secret


def endpoint_source(
    settings: Settings, config: TaskConfig, request_fields: dict[str, Any]
) -> tuple[dict[str, Any], str]:
    """Return the `source` of an endpoint without its token, and the host that is called; raises `Invalid` by field."""
    protocol, url = str(request_fields.get("protocol", "")), str(request_fields.get("url", "")).strip().rstrip("/")
    wrong: dict[str, str] = {}
    host, options = "", dict[str, Any]()
    if protocol == TORCHSERVE and protocol not in protocols():
        wrong["protocol"] = _(
            "TorchServe needs a plug-in that is not installed: %(command)s",
            command=install_command(PLATFORM, TORCHSERVE),
        )
    elif protocol not in protocols():
        wrong["protocol"] = _("Choose the server's protocol: %(protocols)s.", protocols=", ".join(protocols()))
    try:
        host, _address = outgoing.check_address(url, outgoing.AllowedHosts.read(settings.private_endpoints))
    except errors.Invalid as problem:
        wrong |= problem.fields
    spoken = protocols().get(protocol)
    if (spoken is None or "model" in spoken.needs) and not str(request_fields.get("model", "")).strip():
        wrong["model"] = _("Give the model's name on that server.")
    for name, most in (("model", 200), ("prompt", 8000), ("pipeline", 40)):
        if text := str(request_fields.get(name, "")).strip():
            options[name] = text[:most]
    options |= _prices(protocol, request_fields, wrong)
    if options.get("pipeline") and options["pipeline"] not in PIPELINES:
        wrong["pipeline"] = _("Choose one of %(pipelines)s.", pipelines=", ".join(PIPELINES))
    if spoken is not None:
        options |= endpoint_mapping.mapping_options(protocol, config, request_fields, wrong)
    if wrong:
        raise errors.Invalid(wrong)
    try:
        kinds.kind(protocol).read({"url": url, **_fitting(protocol, options)})
    except errors.Invalid as problem:
        fields = {name.removeprefix("options."): message for name, message in problem.fields.items()}
        raise errors.Invalid(fields) from None
    return {"protocol": protocol, "url": url, **_fitting(protocol, options)}, host


def _prices(protocol: str, fields: dict[str, Any], wrong: dict[str, str]) -> dict[str, float]:
    """The prices of calls and tokens, as numbers; an invalid price, or one that this protocol does not charge, goes
    to `wrong`."""
    prices = {}
    for name in PRICES:
        text = str(fields.get(name) if fields.get(name) is not None else "").strip()
        if not text:
            continue
        try:
            prices[name] = float(text)
        except ValueError:
            prices[name] = math.nan
        if not 0 <= prices[name] <= 1e6:
            wrong[name] = _("Give an amount of money, such as 0.15.")
        elif protocol in protocols() and name not in kinds.kind(protocol).schema().model_fields:
            wrong[name] = _("Only chat models charge by token; give the price of a call.")
    if prices.get("spend_per_day") is not None and not any(prices.get(name) for name in PRICES[:3]):
        wrong.setdefault("spend_per_day", _("Without a price there is no daily spending: give the price of a call."))
    return prices


def _fitting(protocol: str, options: dict[str, Any]) -> dict[str, Any]:
    """Those options that a protocol has."""
    return {name: value for name, value in options.items() if name in kinds.kind(protocol).schema().model_fields}


def _archive(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    path = find_upload(settings, person, str(fields.get("file", "")))
    if path.suffix.lower() != ".zip":
        raise errors.Invalid({"file": _("Upload the model as a zip file; `dynabench model pack` creates one.")})
    name = path.name.partition("--")[2]
    return {"file": take_upload(settings, path), "name": name}


def _predictions(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    files = fields.get("files") or {}
    dataset_names = {dataset.name for dataset, _ in session.execute(queries.evaluated_datasets(config.id))}
    if not dataset_names:
        raise errors.Invalid(
            {"files": _("This task has no datasets with visible rows, so there is nothing to predict.")}
        )
    field = "files.{}".format
    wrong = {
        field(name): _("Upload predictions for this dataset too.") for name in sorted(dataset_names - files.keys())
    }
    wrong |= {field(name): _("The task has no such dataset.") for name in sorted(files.keys() - dataset_names)}
    if wrong:
        raise errors.Invalid(wrong)
    paths = {name: find_upload(settings, person, str(id), field(name)) for name, id in files.items()}
    if zips := [name for name, path in paths.items() if path.suffix.lower() == ".zip"]:
        raise errors.Invalid({field(zips[0]): _("Upload JSONL, CSV or Parquet, not a zip file.")})
    return {"files": {name: take_upload(settings, path) for name, path in paths.items()}}


def visible_pool(session: Session, config: TaskConfig) -> tuple[Dataset, DatasetVersion] | None:
    """The public dataset that training sets are chosen from, and its newest version; None where there is none."""
    if config.training is None:
        return None
    dataset = session.scalar(library.dataset_named(config.id, config.training.pool))
    if dataset is None or dataset.version_id is None or not Disclosure.of(None, dataset).rows or dataset.retired_at:
        return None
    return dataset, session.get_one(DatasetVersion, dataset.version_id)


def training_pool(session: Session, config: TaskConfig) -> dict[str, Any]:
    """The `pool` that a new training set is chosen from, by its name, and the id of its newest `version`.

    Raises `Conflict` where it is not there yet, or where not everybody may have its rows.
    """
    pool_version = visible_pool(session, config)
    if pool_version is None:
        raise errors.Conflict(_("There is no pool of rows to choose from yet. The task's owners add it as a dataset."))
    return {"pool": pool_version[0].name, "version": pool_version[1].id}


def _training_set(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    source = training_pool(session, config)
    path = find_upload(settings, person, str(fields.get("file", "")))
    if path.suffix.lower() == ".zip":
        raise errors.Invalid({"file": _("Upload a list of rows, not a zip file.")})
    name = path.name.partition("--")[2]
    return source | {"file": take_upload(settings, path), "name": name}
