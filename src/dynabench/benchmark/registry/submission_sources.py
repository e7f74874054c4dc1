"""The sources of each kind of submission: the fields that a request must have, and those that are stored."""

import math
import re
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import submission_files, submission_queries
from dynabench.datasets import library_queries
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit import errors, outgoing
from dynabench.kit.distributions import PLATFORM, TORCHSERVE, install_command
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import kinds
from dynabench.models.endpoint_protocols import protocols
from dynabench.models.references import HUB_ID
from dynabench.people.disclosure import Disclosure
from dynabench.tasks import TaskConfig

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
        wrong["hub"] = _("This deployment calls no hub. Send the model's folder as a zip file.")
    if not REVISION.fullmatch(revision) or ".." in revision:
        wrong["revision"] = _("Give a branch, tag or commit.")
    if wrong:
        raise errors.Invalid(wrong)
    return {"hub": name, "revision": revision}


def _endpoint(
    session: Session, settings: Settings, person: int, config: TaskConfig, request_fields: dict[str, Any]
) -> Any:
    protocol, url = str(request_fields.get("protocol", "")), str(request_fields.get("url", "")).strip().rstrip("/")
    wrong: dict[str, str] = {}
    host, options = "", dict[str, Any]()
    if protocol == TORCHSERVE and protocol not in protocols():
        wrong["protocol"] = _(
            "TorchServe needs a plug-in that is not installed: %(command)s",
            command=install_command(PLATFORM, TORCHSERVE),
        )
    elif protocol not in protocols():
        wrong["protocol"] = _("Choose what the server speaks: %(protocols)s.", protocols=", ".join(protocols()))
    try:
        host, _address = outgoing.check_address(url, outgoing.AllowedHosts.read(settings.private_endpoints))
    except errors.Invalid as problem:
        wrong |= problem.fields
    spoken = protocols().get(protocol)
    if (spoken is None or "model" in spoken.needs) and not str(request_fields.get("model", "")).strip():
        wrong["model"] = _("Say the model's name on that server.")
    for name, most in (("model", 200), ("prompt", 8000), ("pipeline", 40)):
        if text := str(request_fields.get(name, "")).strip():
            options[name] = text[:most]
    options |= _prices(protocol, request_fields, wrong)
    if options.get("pipeline") and options["pipeline"] not in PIPELINES:
        wrong["pipeline"] = _("Choose one of %(pipelines)s.", pipelines=", ".join(PIPELINES))
    if wrong:
        raise errors.Invalid(wrong)
    try:
        kinds.kind(protocol).read({"url": url, **_fitting(protocol, options)})
    except errors.Invalid as problem:
        fields = {name.removeprefix("options."): message for name, message in problem.fields.items()}
        raise errors.Invalid(fields) from None
    source = {"protocol": protocol, "url": url, **_fitting(protocol, options)}
    if secret := str(request_fields.get("token", "")).strip():
        source["token"] = submission_files.store_token(settings, host, secret)
    return source


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
            wrong[name] = _("Only a chat model charges by tokens; say what a call costs.")
    if prices.get("spend_per_day") is not None and not any(prices.get(name) for name in PRICES[:3]):
        wrong.setdefault("spend_per_day", _("Without a price nothing is ever spent: say what calls cost."))
    return prices


def _fitting(protocol: str, options: dict[str, Any]) -> dict[str, Any]:
    """Those options that a protocol has."""
    return {name: value for name, value in options.items() if name in kinds.kind(protocol).schema().model_fields}


def _archive(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    path = submission_files.find_upload(settings, person, str(fields.get("file", "")))
    if path.suffix.lower() != ".zip":
        raise errors.Invalid({"file": _("A model is sent as a zip file; `dynabench model pack` makes one.")})
    name = path.name.partition("--")[2]
    return {"file": submission_files.take_upload(settings, path), "name": name}


def _predictions(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    files = fields.get("files") or {}
    dataset_names = {dataset.name for dataset, _ in session.execute(submission_queries.evaluated_datasets(config.id))}
    if not dataset_names:
        raise errors.Invalid(
            {"files": _("This task has no datasets whose rows may be seen, so nothing can be predicted.")}
        )
    field = "files.{}".format
    wrong = {
        field(name): _("Send the predictions for this dataset too.") for name in sorted(dataset_names - files.keys())
    }
    wrong |= {field(name): _("The task has no such dataset.") for name in sorted(files.keys() - dataset_names)}
    if wrong:
        raise errors.Invalid(wrong)
    paths = {name: submission_files.find_upload(settings, person, str(id), field(name)) for name, id in files.items()}
    if zips := [name for name, path in paths.items() if path.suffix.lower() == ".zip"]:
        raise errors.Invalid({field(zips[0]): _("Give JSONL, CSV or Parquet, not a zip file.")})
    return {"files": {name: submission_files.take_upload(settings, path) for name, path in paths.items()}}


def visible_pool(session: Session, config: TaskConfig) -> tuple[Dataset, DatasetVersion] | None:
    """The public dataset that training sets are chosen from, and its newest version; None where there is none."""
    if config.training is None:
        return None
    dataset = session.scalar(library_queries.named(config.id, config.training.pool))
    if dataset is None or dataset.version_id is None or not Disclosure.of(None, dataset).rows or dataset.retired_at:
        return None
    return dataset, session.get_one(DatasetVersion, dataset.version_id)


def training_pool(session: Session, config: TaskConfig) -> dict[str, Any]:
    """The `pool` that a new training set is chosen from, by its name, and the id of its newest `version`.

    Raises `Conflict` where it is not there yet, or where not everybody may have its rows.
    """
    pool_version = visible_pool(session, config)
    if pool_version is None:
        raise errors.Conflict(_("The rows to choose from are not there yet. The task's owners add them as a dataset."))
    return {"pool": pool_version[0].name, "version": pool_version[1].id}


def _training_set(session: Session, settings: Settings, person: int, config: TaskConfig, fields: dict[str, Any]) -> Any:
    source = training_pool(session, config)
    path = submission_files.find_upload(settings, person, str(fields.get("file", "")))
    if path.suffix.lower() == ".zip":
        raise errors.Invalid({"file": _("Give a list of rows, not a zip file.")})
    name = path.name.partition("--")[2]
    return source | {"file": submission_files.take_upload(settings, path), "name": name}
