"""The owner of a generic panel: its list compared with the study's codes, decisions on many, and payment lists."""

import csv
import hmac
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.collection.tables import Example
from dynabench.crowd import jobs, panel_claims, payment_lists
from dynabench.crowd.panel_claims import PanelRow, read_panel_list
from dynabench.crowd.providers.generic import GenericPanel
from dynabench.crowd.tables import Participation, ParticipationState, Study
from dynabench.kit.csv_tables import BOM
from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.pay import ledger
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState
from tests.crowd.conftest import write_example

CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=12)


def table(answer) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix(BOM))))


def finish(page, study, early: str = "") -> str:
    page.submit(f"{study.page}/finish", page=study.page, early=early)
    return re.search(r"<code[^>]*>([A-Z2-9]{10})</code>", page.get(study.page).text)[1]


@pytest.mark.slow
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=20), st.sampled_from(",;\t"), st.booleans())
def test_a_list_is_read_as_it_was_written(rows, delimiter, has_header):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    if has_header:
        writer.writerow(("Completion code", "Respondent ID", "status"))
        writer.writerows((code, worker, "done") for worker, code in rows)
    else:
        writer.writerow(("#", "#"))
        writer.writerows(rows)
    read = read_panel_list(BOM + text.getvalue(), "participantId")
    assert read[0 if has_header else 1 :] == [PanelRow(worker, code) for worker, code in rows]


@pytest.mark.parametrize("text", ["", " \n", "participantId,code\n", "a" * 500_001, "w\n" * 5_001])
def test_a_list_that_cannot_be_compared_is_refused(text):
    with pytest.raises(Invalid):
        read_panel_list(text, "participantId")


def test_the_own_name_of_the_id_comes_first():
    rows = read_panel_list("worker,survey code,PROLIFIC_PID\nx,C1,w1\n", "prolific_pid")
    assert rows == [PanelRow("w1", "C1")]


@pytest.mark.slow
def test_each_line_of_the_panels_list_gets_its_finding(make_study, worker, owner, enter, database):
    study = make_study(examples=1)
    pages = {name: worker(study, name) for name in ("done", "lower", "early", "liar", "silent", "forgotten")}
    worker(study, "busy")
    codes = {}
    for number, (name, page) in enumerate(pages.items()):
        if name != "early":
            write_example(page, f"It did not happen {number} times.")
        codes[name] = finish(page, study, "yes" if name == "early" else "")
    completed = GenericPanel()._own_code  # the code that "early" would have had
    facts = database.read(lambda session: panel_claims.studies.facts_of(session.get_one(Study, study.id)))
    lines = {
        "done": codes["done"],
        "lower": codes["lower"].lower(),
        "early": completed(facts, "early", panel_claims.StudyOutcome.COMPLETED),
        "liar": codes["done"],
        "silent": "",
        "busy": "ABC",
        "stranger": codes["done"],
    }
    text = "participantId,code\n" + "".join(f"{name},{code}\n" for name, code in lines.items()) + "done,again\n"
    own = enter(owner)
    compare = f"{study.manage}/participants/compare"
    assert own.submit(compare, page=compare, list="").status_code == 422
    rows = table(own.submit(compare, page=compare, list=text, then="csv"))
    assert [(row["worker"], row["finding"]) for row in rows] == [
        ("done", "matching"),
        ("lower", "matching"),
        ("early", "other_outcome"),
        ("liar", "wrong_code"),
        ("silent", "no_code"),
        ("busy", "unfinished"),
        ("stranger", "unknown"),
        ("done", "repeated"),
        ("forgotten", "unlisted"),
    ]
    content = own.submit(compare, page=compare, list=text).text
    ticked = re.findall(r'name="participants" value="(\d+)" checked', content)
    assert len(ticked) == 2
    answer = own.submit(f"{study.manage}/participants/decisions", page=compare, decision="approve", participants=ticked)
    assert answer.headers["location"].endswith("done=approved&count=2")
    assert states(database, study) == {"approved": 2, "finished": 4, "working": 1}


def states(database, study) -> dict[str, int]:
    def count(session):
        rows = session.query(Participation.state).filter_by(study_id=study.id).all()
        names = [row[0] for row in rows]
        return {name: names.count(name) for name in sorted(set(names))}

    return database.read(count)


@pytest.mark.slow
def test_many_are_decided_at_once_and_each_only_once(make_study, worker, owner, enter, database):
    study, other = make_study(examples=1), make_study(examples=1)
    for number, name in enumerate(("w1", "w2")):
        page = worker(study, name)
        write_example(page, f"It did not happen {number} times.")
        finish(page, study)
    finish(worker(study, "w3"), study, early="yes")
    finish(worker(other, "w4"), other, early="yes")
    worker(study, "w5")
    ids = database.read(lambda session: {part.study_id: part.id for part in session.query(Participation).all()})
    own, decisions = enter(owner), f"{study.manage}/participants/decisions"
    assert own.submit(decisions, page=study.manage, decision="approve").status_code == 422, "nobody is ticked"
    assert own.submit(decisions, page=study.manage, decision="other", completed="yes").status_code == 422
    elsewhere = own.submit(decisions, page=study.manage, decision="approve", participants=[str(ids[other.id]), "x"])
    assert elsewhere.headers["location"].endswith("done=undecided")
    for done in ("approved&count=2", "undecided"):
        answer = own.submit(decisions, page=study.manage, decision="approve", completed="yes")
        assert answer.headers["location"].endswith(f"done={done}")
    everybody = database.read(lambda session: [str(part.id) for part in session.query(Participation).all()])
    refused = own.submit(decisions, page=study.manage, decision="reject", participants=everybody)
    assert refused.status_code == 422, "a reason is needed"
    own.submit(decisions, page=study.manage, decision="reject", participants=everybody, reason="No example.")
    assert states(database, study) == {"approved": 2, "rejected": 1, "working": 1}
    assert states(database, other) == {"finished": 1}


@pytest.fixture
def owed(make_study, worker, database):
    """A study of three workers, each of whom is owed what the ledger has approved, and another study."""
    study = make_study(examples=1)
    for name in ("w1", "w2", "=w3"):
        worker(study, name)

    def book(session):
        row = session.get_one(Study, study.id)
        parts = session.query(Participation).order_by(Participation.id).all()
        for part, cents in zip(parts, (50, 125, 7), strict=True):
            for key in ("a", "b"):
                args = (row.round_id, part.person_id, PaymentKind.BONUS, Money(cents, "EUR"), "Good", f"{part.id}{key}")
                ledger.book(session, *args).state = PaymentState.APPROVED
        part = parts[0]
        ledger.book(session, row.round_id, part.person_id, PaymentKind.BONUS, Money(999, "EUR"), "Later", "due")

    database.write(book)
    return study


def amounts(database) -> dict[str, int]:
    def read(session):
        sums: dict[str, int] = {}
        for payment in session.query(Payment).all():
            sums[payment.state] = sums.get(payment.state, 0) + payment.amount
        return sums

    return database.read(read)


@pytest.mark.slow
def test_a_payment_list_is_paid_once_and_what_the_panel_refused_is_listed_again(owed, owner, enter, database):
    own = enter(owner)
    begun = own.submit(f"{owed.manage}/bonuses", page=owed.manage)
    place = begun.headers["location"].partition("?")[0]
    again = own.submit(f"{owed.manage}/bonuses", page=owed.manage)
    assert again.headers["location"].endswith("done=nothing"), "all is in the first list"
    rows = table(own.get(f"{place}/list.csv"))
    assert [(row["worker"], row["amount"], row["currency"]) for row in rows] == [
        ("w1", "1.00", "EUR"),
        ("w2", "2.50", "EUR"),
        ("'=w3", "0.14", "EUR"),
    ], "exact decimals, and no formula"
    assert "3.64 EUR" in own.get(place).text
    assert amounts(database) == {"sending": 364, "due": 999}
    refused = own.submit(place, page=place, payouts=[rows[0]["payout"]], reference=" ")
    assert refused.status_code == 422
    assert re.findall(r'name="payouts" value="(\d+)" checked', refused.text) == [rows[0]["payout"]], (
        "the ticks stay as they were"
    )
    ticks = [rows[0]["payout"], rows[2]["payout"], "12345678901", "x"]
    assert own.submit(place, page=place, payouts=ticks, reference="Bulk 7").status_code == 303
    assert amounts(database) == {"paid": 114, "failed": 250, "due": 999}
    assert own.submit(place, page=place, payouts=[rows[1]["payout"]], reference="Bulk 7").status_code == 409
    assert amounts(database) == {"paid": 114, "failed": 250, "due": 999}, "a second click pays nothing"
    content = own.get(place).text
    assert "Bulk 7" in content
    assert "not paid" in content

    def retry(session):
        for payment in session.query(Payment).filter_by(state=PaymentState.FAILED):
            payment.state = PaymentState.APPROVED

    database.write(retry)
    second = own.submit(f"{owed.manage}/bonuses", page=owed.manage).headers["location"].partition("?")[0]
    [row] = table(own.get(f"{second}/list.csv"))
    own.submit(second, page=second, payouts=[row["payout"]], reference="Bulk 8")
    assert amounts(database) == {"paid": 364, "due": 999}


@pytest.mark.slow
def test_a_list_of_another_study_is_not_found(owed, make_study, database):
    order = database.write(payment_lists.begin_list, None, "nli", owed.id).id
    other = make_study()
    with pytest.raises(NotFound):
        database.read(payment_lists.find_list, None, "nli", other.id, order)
    assert database.write(payment_lists.record_list, None, "nli", owed.id, order, set(), "x") == 0
    with pytest.raises(Conflict):
        database.write(payment_lists.record_list, None, "nli", owed.id, order, set(), "x")


@pytest.mark.slow
def test_the_panels_reward_is_in_the_ledger_once_it_is_approved(make_study, worker, database, settings, owner, enter):
    study = make_study(examples=1, settings={"reward": 150, "currency": "EUR"})
    for number, name in enumerate(("w1", "w2")):
        page = worker(study, name)
        write_example(page, f"It did not happen {number} times.")
        finish(page, study)
    assert database.read(lambda session: session.query(Example).count()) == 2
    first, second = database.read(lambda session: [part.id for part in session.query(Participation).all()])
    own, decisions = enter(owner), f"{study.manage}/participants/decisions"
    own.submit(decisions, page=study.manage, decision="approve", participants=[str(first)])
    own.submit(decisions, page=study.manage, decision="reject", participants=[str(second)], reason="A copy.")
    for part, approve in ((first, True), (first, True), (second, False)):
        payload = {"participation": part, "approve": approve, "reason": "", "category": "other"}
        jobs.send_decision(database, settings, payload)
    assert amounts(database) == {"paid": 150}
    assert states(database, study) == {ParticipationState.APPROVED: 1, ParticipationState.REJECTED: 1}


@pytest.mark.slow
def test_a_signed_study_gives_the_panel_its_key_and_the_owner_the_links(make_study, browser, owner, enter, database):
    study = make_study(settings={"signed": True})
    own = enter(owner)
    key = re.search(r"<code>([0-9a-f]{64})</code>", own.get(study.manage).text)[1]
    links = own.submit(f"{study.manage}/participants/links", page=study.manage, ids="w1\n\n wö 2 \nw1\n")
    rows = table(links)
    assert [row["worker"] for row in rows] == ["w1", "wö 2"]
    visitor = browser()
    for row in rows:
        assert visitor.get(row["address"]).status_code == 303
    sig = hmac.new(key.encode(), b"w3", "sha256").hexdigest()[:32]
    assert browser().get(f"{study.entry('w3')}&sig={sig}").status_code == 303
    for forged in (study.entry("w4"), f"{study.entry('w4')}&sig={sig}"):
        answer = browser().get(forged)
        assert answer.status_code == 403
        assert "was changed" in answer.text
    assert own.submit(f"{study.manage}/participants/links", page=study.manage, ids=" ").status_code == 422
    assert database.read(lambda session: session.query(Participation).count()) == 3
