"""The owner's pages and API of pay, and the page of the person who is paid."""

import csv
import io

import pytest
from sqlalchemy import select

from dynabench.pay import booking
from dynabench.pay.tables import Payment, PaymentState, Payout
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from tests.conftest import Browser, Caller
from tests.validation.world import World

FORM = {
    "currency": "eur",
    "per_example": "0.30",
    "per_fooling": "0.70",
    "per_vote": "0.05",
    "paid_examples": "unless_flagged",
}
API = "/api/v1/tasks/checks/rounds/1/pay"
PAGE = "/tasks/checks/manage/payments"


@pytest.fixture
def world(database, client) -> World:
    return World(database)


@pytest.fixture
def owner(world, person) -> Caller:
    olga = person("olga")
    world.db.write(rounds.set_role, None, "checks", "olga", "owner")
    return olga


@pytest.fixture
def author(world, person) -> tuple[Caller, Person]:
    ada = person("ada")
    return ada, world.db.read(lambda session: session.get_one(Person, ada.id))


def book(world: World) -> None:
    def run(session) -> None:
        booking.book_people(session, world.round_id, booking.people_to_book(session, world.round_id, 0, 1000))

    world.db.write(run)


def logged_in(browser, name: str) -> Browser:
    page = browser()
    assert page.log_in(name).status_code == 303
    return page


@pytest.mark.slow
def test_an_owner_sets_pay_approves_and_marks_it_as_paid_on_pages(world, owner, author, browser):
    page = logged_in(browser, "olga")
    assert "pays nothing" in page.get(PAGE).text
    scheme = "/tasks/checks/manage/rounds/1/pay"
    wrong = page.submit(scheme, page="/settings", **FORM | {"per_example": "0,30", "caps.examples": "x"})
    assert wrong.status_code == 422
    assert 'value="0,30"' in wrong.text
    assert page.submit(scheme, page="/settings", **FORM).status_code == 303
    assert owner.get(f"{API}/scheme").json()["scheme"]["currency"] == "EUR"
    ada, account = author
    example = world.example(account, active_seconds=600.0, seconds=900.0)
    book(world)
    text_of_page = page.get(PAGE).text
    assert "0.30 EUR" in text_of_page
    assert "ada" in text_of_page
    held = page.submit(f"{PAGE}/1/decide", page="/settings", act="hold", people=str(ada.id))
    assert held.status_code == 422  # without a reason
    done = page.submit(f"{PAGE}/1/decide", page="/settings", act="approve", all="yes")
    assert "done=approve" in done.headers["location"]
    assert page.submit(f"{PAGE}/1/decide", page="/settings", act="paid", people=str(ada.id)).status_code == 422
    page.submit(f"{PAGE}/1/decide", page="/settings", act="paid", people=str(ada.id), reference="SEPA 1")
    own = logged_in(browser, "ada")
    text = own.get("/pay").text
    assert "0.30 EUR" in text
    assert "1.80 EUR" in text  # per hour of work
    assert "budget" not in text.lower()
    rows = list(csv.DictReader(io.StringIO(page.get(f"{PAGE}/1/payments.csv").text)))
    assert [(row["amount"], row["currency"], row["reference"], row["item"]) for row in rows] == [
        ("0.30", "EUR", "SEPA 1", f"example:{example}")
    ]
    assert "You were paid 0.30 EUR" in own.get("/inbox").text
    assert own.get(PAGE).status_code == 403


@pytest.mark.slow
def test_one_payment_is_cancelled_for_a_reason_that_the_person_reads(world, owner, author, browser):
    page = logged_in(browser, "olga")
    page.submit("/tasks/checks/manage/rounds/1/pay", page="/settings", **FORM)
    world.example(author[1])
    book(world)
    payment = world.db.read(lambda session: session.scalars(select(Payment.id)).one())
    here = f"{PAGE}/1/people/{author[0].id}"
    assert page.submit(f"{here}/cancel/{payment}", page="/settings", reason=" ").status_code == 422
    assert page.submit(f"{here}/cancel/{payment}", page="/settings", reason="<b>Copied</b>").status_code == 303
    assert "&lt;b&gt;Copied" in page.get(here).text
    assert "&lt;b&gt;Copied" in logged_in(browser, "ada").get("/pay").text
    assert page.get(f"{PAGE}/1/people/999999").status_code == 404


def test_the_api_has_all_of_it(world, owner, author):
    ada, account = author
    document = {"currency": "JPY", "per_example": 30, "budget": "100000", "guard": {"wage": "1500"}}
    assert owner.request("PUT", f"{API}/scheme", json={"scheme": document | {"per_vote": 0.5}}).status_code == 422
    assert owner.request("PUT", f"{API}/scheme", json={"scheme": document}).json()["version"] == 1
    assert owner.request("PUT", f"{API}/scheme", json={"scheme": document}).json()["version"] == 1
    world.example(account, active_seconds=600.0, seconds=900.0)
    assert owner.post(f"{API}/booking").status_code == 202
    book(world)
    costs = owner.get(API).json()
    assert (costs["currency"], costs["total"], costs["budget"]) == ("JPY", "30", "100000")
    assert costs["lines"][0]["per_example"]["examples"]["value"] == 30
    (row,) = owner.get(f"{API}/people").json()["items"]
    assert (row["total"], row["hourly"], row["below_guard"]) == ("30", "180", True)
    (line,) = owner.get(f"{API}/payments?state=due").json()["items"]
    assert (line["amount"], line["kind"]) == ("30", "example")
    decide = f"{API}/decisions"
    assert owner.post(decide, json={"act": "hold", "people": [ada.id], "reason": "Checking"}).json()["amount"] == "30"
    assert owner.post(decide, json={"act": "release", "people": [ada.id]}).json()["count"] == 1
    assert owner.post(decide, json={"act": "approve"}).json() == {"count": 1, "amount": "30", "waiting": 0}
    assert owner.post(decide, json={"act": "paid", "people": [ada.id], "reference": "T1"}).json()["amount"] == "30"
    (mine,) = ada.get("/api/v1/me/pay").json()["items"]
    assert (mine["earned"], mine["paid"], mine["hourly"]) == ("30", "30", "180")
    assert "budget" not in mine["scheme"]
    state = world.db.read(lambda session: session.scalars(select(Payment.state)).one())
    assert state == PaymentState.PAID
    assert world.db.read(lambda session: session.scalars(select(Payout.reference)).one()) == "T1"
    for path in (API, f"{API}/scheme", f"{API}/people", f"{API}/payments"):
        assert ada.get(path).status_code == 403
