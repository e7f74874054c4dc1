"""The generic panel: ids from the address, signed addresses, codes of a worker's own, and redirects."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dynabench.crowd.provider import Arrival, StudyFacts, StudyOutcome, all_providers
from dynabench.crowd.providers.generic import CODE_LENGTH, GenericPanel, GenericPanelSettings
from dynabench.kit.errors import Forbidden, Invalid

PANEL = GenericPanel()
WORKERS = st.text(min_size=1, max_size=40).filter(lambda text: text.strip() and text.isprintable() and "{" not in text)


def study(key: bytes = b"one study", **settings: object) -> StudyFacts:
    checked = GenericPanelSettings.model_validate(settings)
    return StudyFacts(7, "Premises", checked.model_dump(mode="json"), key)


def test_the_panel_is_known_by_its_name() -> None:
    assert all_providers()["generic"].title == PANEL.title


def test_the_ids_are_read_from_the_parameters_that_the_owner_named() -> None:
    facts = study(worker_parameter="pid", session_parameter="visit")
    arrival = PANEL.read_arrival(facts, {"pid": " a1 ", "visit": "v9", "participantId": "other"})
    assert (arrival.worker, arrival.session, arrival.preview) == ("a1", "v9", False)


@pytest.mark.parametrize("value", ["", "  ", "x" * 201, "a\x00b", "{worker}"])
def test_an_address_without_a_usable_id_is_refused_under_the_parameters_name(value: str) -> None:
    with pytest.raises(Invalid) as refused:
        PANEL.read_arrival(study(), {"participantId": value})
    assert list(refused.value.fields) == ["participantId"]


@given(WORKERS, WORKERS)
def test_a_signature_holds_for_one_worker_of_one_study(worker: str, other: str) -> None:
    facts = study(signed=True)
    sig = PANEL.signature(facts, worker.strip())
    PANEL.confirm(None, facts, PANEL.read_arrival(facts, {"participantId": worker, "sig": sig}))
    forged = [(study(b"another study", signed=True), worker, sig), (facts, worker, ""), (facts, worker, sig[:-1] + "é")]
    if other.strip() != worker.strip():
        forged.append((facts, other, sig))
    for at, name, text in forged:
        with pytest.raises(Forbidden):
            PANEL.confirm(None, at, PANEL.read_arrival(at, {"participantId": name, "sig": text}))


@given(st.lists(WORKERS, min_size=2, max_size=30, unique=True))
def test_each_worker_and_outcome_has_a_stable_code_that_another_study_does_not_give(workers: list[str]) -> None:
    facts, elsewhere = study(), study(b"another study")
    codes = {
        PANEL.completion(at, Arrival(worker, worker), outcome).code
        for at in (facts, elsewhere)
        for worker in workers
        for outcome in StudyOutcome
    }
    assert len(codes) == 2 * len(workers) * len(StudyOutcome)
    assert {len(code) for code in codes} == {CODE_LENGTH}
    again = PANEL.completion(facts, Arrival(workers[0], "a later visit"), StudyOutcome.COMPLETED)
    assert again == PANEL.completion(facts, Arrival(workers[0], "x"), StudyOutcome.COMPLETED)


@given(WORKERS, WORKERS)
def test_a_redirect_carries_any_id_without_changing_the_address(worker: str, session: str) -> None:
    address = "https://panel.example/end?who={worker}&visit={session}&cc={code}&how={outcome}"
    facts = study(codes={"completed": "DONE42"}, redirects={"completed": address})
    completion = PANEL.completion(facts, Arrival(worker, session), StudyOutcome.COMPLETED)
    parts = urlsplit(completion.address)
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "panel.example", "/end")
    expected = {"who": [worker], "visit": [session], "cc": ["DONE42"], "how": ["completed"]}
    assert parse_qs(parts.query, keep_blank_values=True) == expected
    assert PANEL.completion(facts, Arrival(worker, session), StudyOutcome.NO_CONSENT).address == ""


@pytest.mark.parametrize(
    "settings",
    [
        {"worker_parameter": "a b"},
        {"worker_parameter": "id", "session_parameter": "id"},
        {"redirects": {"completed": "javascript:alert(1)"}},
        {"redirects": {"completed": "https://{worker}.example/"}},
        {"redirects": {"completed": "https://panel.example/{token}"}},
        {"redirects": {"elsewhere": "https://panel.example/"}},
        {"codes": {"completed": "two words"}},
        {"unknown": 1},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GenericPanelSettings.model_validate(settings)
