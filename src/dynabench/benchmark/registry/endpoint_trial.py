"""A test call of an endpoint before it is submitted: recognised, mapped to the task's fields, asked once; nothing is
kept."""

import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.registry import endpoint_mapping, submission_sources, submissions
from dynabench.benchmark.registry.trial import build_model_folder, rewrite
from dynabench.kit import errors, outgoing
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models import catalog, references, samples, spec
from dynabench.models.backends.served.endpoint import lend_token
from dynabench.models.endpoint_protocols import protocols
from dynabench.models.protocol import as_text
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries
from dynabench.tasks import TaskConfig

SECONDS = 10.0
"""Of one call of the model."""
FORGOTTEN = ("mapped", "inputs", "labels", "output", "holds", "columns")
_running_tests = threading.BoundedSemaphore(6)
"""Tests wait for servers of other people in threads; more at a time are refused at once."""


@dataclass(frozen=True)
class TrialRow:
    """The row that a model is asked: its inputs by field, and whether they begin with a context of the task."""

    inputs: dict[str, str]
    from_context: bool


@dataclass(frozen=True)
class EndpointTrial:
    """The outcome of a test call.

    `fields` are those of the form with what was recognised and guessed. Either `answer` and `seconds` are known, or
    `reason` says what went wrong.
    """

    fields: dict[str, Any]
    row: TrialRow
    answer: Any = None
    probabilities: dict[str, float] | None = None
    seconds: float | None = None
    reason: str = ""
    has_token: bool = field(default=False)

    @property
    def passed(self) -> bool:
        """True where the model gave a valid answer."""
        return not self.reason


def trial_row(session: Session, person: Person, task_id: str) -> tuple[TaskConfig, TrialRow]:
    """The task's config and the row of a test by a person who may submit models.

    People who manage the task's contexts see a real one, others a sample: contexts may be unpublished. Raises
    `Forbidden`, `NotFound`.
    """
    config = submissions.may_submit(session, person, task_id)
    inputs = dict(samples.sample_inputs(config)[0].inputs)
    context = session.scalar(queries.any_context(task_id)) if config.context and not config.media else None
    shows_context = context is not None and bool(may.may_in(session, person, Action.MANAGE_CONTEXTS, task_id))
    if context is not None and shows_context:
        values = config.model_inputs(context.values, {})
        inputs |= {name: as_text(value) for name, value in values.items() if name in context.values}
    return config, TrialRow(inputs, shows_context)


def try_endpoint(settings: Settings, config: TaskConfig, row: TrialRow, fields: dict[str, Any]) -> EndpointTrial:
    """Ask the model that `fields` describe for the row; it takes half a minute at most and keeps nothing.

    Raises `Invalid` by field, and `TooMany` where many tests run at this moment.
    """
    if not _running_tests.acquire(blocking=False):
        raise errors.TooMany(_("Other models are being tested right now. Try again in a moment."), retry_after=5)
    try:
        return _try_endpoint(settings, config, row, fields)
    finally:
        _running_tests.release()


def _try_endpoint(settings: Settings, config: TaskConfig, row: TrialRow, fields: dict[str, Any]) -> EndpointTrial:
    secret = submission_sources.clean_token(fields | {"token_tested": ""})
    known_fields = _forget_mapping(_recognise(settings, fields, secret))
    source, host = submission_sources.endpoint_source(settings, config, known_fields)
    shown_fields = known_fields | endpoint_mapping.form_values(config, source)
    with tempfile.TemporaryDirectory(prefix="dynabench-test-") as scratch, lend_token(host, secret) as token_name:
        request = {"kind": "endpoint", "name": "model", "source": source | {"token": token_name}, "readme": ""}
        try:
            folder = build_model_folder(request, config, Path(scratch))
            options = _guess(folder, source, secret, known_fields)
            rewrite(folder, options=options | {"cache": False, "retries": 0}, seconds=SECONDS)
            shown_fields |= _form_values(config, folder) | {"mapped": _identity(known_fields)}
            answer, probabilities, seconds = _ask(folder, row)
        except errors.Invalid as problem:
            names = {name.removeprefix("options."): message for name, message in problem.fields.items()}
            raise errors.Invalid(names) from None
        except errors.Problem as problem:
            reason = (
                problem.detail.replace("tested ", "", 1) if problem.detail.startswith("tested ") else problem.detail
            )
            return EndpointTrial(shown_fields, row, reason=reason, has_token=bool(secret))
    return EndpointTrial(shown_fields, row, answer, probabilities, seconds, has_token=bool(secret))


def _recognise(settings: Settings, fields: dict[str, Any], secret: str) -> dict[str, Any]:
    """The fields with protocol, address and model name, as far as the server tells those that are not given."""
    protocol, url, model = (str(fields.get(name) or "").strip() for name in ("protocol", "url", "model"))
    spoken = protocols().get(protocol)
    if protocol and (spoken is None or spoken.list_models is None or model):
        return fields
    outgoing.check_address(url.partition("#")[0], outgoing.AllowedHosts.read(settings.private_endpoints))
    address = url if "#" in url or not model else f"{url}#{model}"
    recognised = references.recognise_endpoint(address, secret, protocol)
    if recognised is None and protocol:
        return fields | {"model": model}
    if recognised is None:
        raise errors.Invalid({"protocol": _("The server was not recognised. Choose its protocol.")})
    return fields | dict(zip(("protocol", "url", "model"), recognised, strict=True))


def _identity(fields: dict[str, Any]) -> str:
    """The model that a mapping is for, as `mapped` of the form names it."""
    return " ".join(str(fields.get(name) or "") for name in ("protocol", "url", "model"))


def _forget_mapping(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without the mapping that an earlier test guessed for another model."""
    if fields.get("mapped") in (None, "", _identity(fields)):
        return fields
    return {name: value for name, value in fields.items() if name not in FORGOTTEN}


def _guess(folder: Path, source: dict[str, Any], secret: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The options that the server's metadata tells and that the form, before its first test, does not say."""
    guess_options = protocols()[source["protocol"]].guess_options
    if guess_options is None or fields.get("mapped"):
        return {}
    with references.asking(source["url"], secret) as ask:
        options = guess_options(ask, source["model"], spec.card(folder))
    return {name: value for name, value in options.items() if value and name not in source}


def _form_values(config: TaskConfig, folder: Path) -> dict[str, Any]:
    options = spec.read(folder).options
    texts = {name: options[name] for name in ("prompt", "pipeline") if name in options}
    return endpoint_mapping.form_values(config, options) | texts


def _ask(folder: Path, row: TrialRow) -> tuple[Any, dict[str, float] | None, float]:
    model = catalog.open_model(folder)
    try:
        inputs = {name: row.inputs[name] for name in model.card.inputs}
        began = time.perf_counter()
        [output] = model.predict([inputs])
        seconds = time.perf_counter() - began
        return output.answer[model.card.answer], output.probabilities, round(seconds, 3)
    finally:
        if close := getattr(model, "close", None):
            close()
