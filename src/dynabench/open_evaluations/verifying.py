"""Checks of results for any reader: of a card, of a token, or of an evaluation's page by its link."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import records as signing
from dynabench.benchmark.evaluations import service as evaluations
from dynabench.evaluate.cards import CardError
from dynabench.evaluate.cards.files import read_card
from dynabench.evaluate.cards.tokens import ResultToken, TokenCheck, check_results, decode_token, is_signed
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.open_evaluations import queries, records
from dynabench.open_evaluations.service import find_evaluation
from dynabench.people.accounts.tables import Person

MOST_CHARACTERS = 200_000
MOST_RESULTS = 500
LINK = re.compile(r"(?:https?://[^\s/]{1,255})?/open-evaluations/(\d{1,9})(?:[/?#]\S*)?")
TOKEN = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+")


class ResultState(StrEnum):
    """Findings of a check."""

    RECORDED = "recorded"
    CHANGED = "changed"
    REPLACED = "replaced"
    HIDDEN = "hidden"
    UNKNOWN_KEY = "unknown_key"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class VerifiedResult:
    """A result and what the check says of it; `detail` is what differs, `path` the page of its evaluation."""

    model: str
    title: str
    value: Any
    state: ResultState
    detail: str = ""
    path: str = ""


def verify_text(
    session: Session, settings: Settings, viewer: Person | None, site: str, text: str
) -> list[VerifiedResult]:
    """Check the results in a card, of a token, or of an evaluation by its link, against this platform's records.

    Raises `Invalid` under `text` for what is none of these, and for an evaluation that is not public.
    """
    text = text.strip()
    if not text or len(text) > MOST_CHARACTERS:
        message = _("Paste a card, a token or a link, of at most %(most)s characters.", most=f"{MOST_CHARACTERS:,}")
        raise errors.Invalid({"text": message})
    if link := LINK.fullmatch(text):
        return _verify_evaluation(session, settings, viewer, int(link[1]))
    keys = signing.public_keys(settings)
    try:
        if TOKEN.fullmatch(text):
            token = decode_token(text)
            claims = token.claims
            title = f"{claims.get('dataset_type', '')}, {claims.get('metric_type', '')}".strip(", ")
            state, detail = ResultState.RECORDED, ""
            if not is_signed(token, keys):
                state, detail = _unknown_signer(token, site)
            checked = VerifiedResult(
                str(claims.get("model", ""))[:200], title[:200], claims.get("metric_value"), state, detail
            )
            return [_with_record(session, settings, viewer, checked, token)]
        models = read_card(text).models
    except CardError as error:
        raise errors.Invalid({"text": str(error)}) from None
    checks = check_results(models, keys)
    if not checks:
        raise errors.Invalid(
            {"text": _("There are no results in this text. Paste the whole card, from its first line on.")}
        )
    return [_verify_check(session, settings, viewer, site, check) for check in checks[:MOST_RESULTS]]


def _verify_check(
    session: Session, settings: Settings, viewer: Person | None, site: str, check: TokenCheck
) -> VerifiedResult:
    state, detail = ResultState.RECORDED, ""
    if check.state in ("unsigned", "unreadable"):
        state, detail = ResultState.UNKNOWN, check.reason if check.state == "unreadable" else ""
    elif check.state == "forged" and check.token:
        state, detail = _unknown_signer(check.token, site)
    elif check.state == "differs":
        state, detail = ResultState.CHANGED, check.reason
    result = check.result
    title = f"{result.dataset_name}, {result.metric_name or result.metric_type}"
    checked = VerifiedResult(check.model, title, result.metric_value, state, detail)
    return _with_record(session, settings, viewer, checked, check.token) if check.token else checked


def _unknown_signer(token: ResultToken, site: str) -> tuple[ResultState, str]:
    if token.issuer and token.issuer.rstrip("/") != site:
        return ResultState.FOREIGN, token.issuer[:200]
    return ResultState.UNKNOWN_KEY, ""


def _with_record(
    session: Session, settings: Settings, viewer: Person | None, checked: VerifiedResult, token: ResultToken
) -> VerifiedResult:
    """Compare a result whose token is this platform's with the record that the token names."""
    if checked.state not in (ResultState.RECORDED, ResultState.CHANGED) or token.evaluation is None:
        return checked
    openly = "evaluation" not in token.claims
    path = f"/open-evaluations/{token.evaluation}" if openly else f"/evaluations/{token.evaluation}"
    try:
        if openly:
            find_evaluation(session, viewer, token.evaluation)
        record: Any = (
            records.read_record(session, token.evaluation)
            if openly
            else evaluations.visible_record(session, viewer, token.evaluation)
        )
    except errors.Problem:
        hidden = ResultState.CHANGED if checked.state == ResultState.CHANGED else ResultState.HIDDEN
        return VerifiedResult(checked.model, checked.title, checked.value, hidden, checked.detail)
    state: ResultState = checked.state
    if state == ResultState.RECORDED and not _is_genuine(settings, record.document, record.signature):
        state = ResultState.CHANGED
    elif state == ResultState.RECORDED and record.signature != token.claims.get("record"):
        state = ResultState.REPLACED
    return VerifiedResult(checked.model, checked.title, checked.value, state, checked.detail, path)


def _is_genuine(settings: Settings, document: dict[str, Any], signature: str) -> bool:
    key = str(document.get("key", ""))
    return key in signing.public_keys(settings) and signing.is_signature_valid(document, signature, key)


def _verify_evaluation(session: Session, settings: Settings, viewer: Person | None, id: int) -> list[VerifiedResult]:
    """Compare the scores on the board of an evaluation with its signed record."""
    try:
        seen = find_evaluation(session, viewer, id)
        record = records.read_record(session, id)
    except errors.Problem:
        message = _("Evaluation %(id)s is not public, or is not done. Ask its author to show the scores.", id=id)
        raise errors.Invalid({"text": message}) from None
    genuine = _is_genuine(settings, record.document, record.signature)
    numbers = {model.number: model.reference for model in seen.models}
    signed = {
        (model["reference"], score["metric"], score["key"]): score["value"]
        for model in record.document["models"]
        for score in model["scores"]
    }
    results = []
    for score in session.scalars(queries.scores_of(id)):
        reference = numbers.get(score.model, "")
        value = signed.get((reference, score.metric, score.key))
        same = genuine and value == score.value
        detail = "" if same or value is None else _("signed is %(value)s", value=f"{value:.6g}")
        state = ResultState.RECORDED if same else ResultState.CHANGED
        title = f"{seen.evaluation.title}, {score.metric}" + (f" {score.key}" if score.key not in score.metric else "")
        results.append(VerifiedResult(reference, title, score.value, state, detail, f"/open-evaluations/{id}"))
    return results


def summarize_states(results: Sequence[VerifiedResult]) -> str:
    """Return one sentence about all results."""
    recorded = sum(result.state == ResultState.RECORDED for result in results)
    if recorded == len(results):
        return _("Every number is what this platform recorded.")
    return _(
        "%(recorded)s of %(all)s numbers are what this platform recorded. Look at the others below.",
        recorded=recorded,
        all=len(results),
    )
