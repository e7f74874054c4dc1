"""Results on the cards of models: signed, proposed where the card is another person's, and taken off again."""

from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import records as signing
from dynabench.benchmark.registry.tables import ModelListing
from dynabench.evaluate.cards.files import read_card
from dynabench.evaluate.cards.tokens import TokenCheck, check_results
from dynabench.hubs import discussions, service
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.tables import DiscussionState, RepositoryKind
from dynabench.kit import errors
from dynabench.models import catalog
from dynabench.open_evaluations import card_results, repository_cards
from dynabench.open_evaluations import service as evaluations
from dynabench.people.accounts.tables import Notice
from tests.open_evaluations.conftest import Desk, reviews
from tests.open_evaluations.repositories import add_commit

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)]
SITE = "https://bench.example.org"
MODEL = "sentiment-ngram"


@pytest.fixture
def done(desk: Desk) -> int:
    """An evaluation that is done."""
    id = desk.start(desk.upload("films.csv", reviews(60)), [MODEL], metrics=["accuracy", "f1:average=macro"])
    assert desk.run(id).evaluation.state == "done"
    return id


def keep(desk: Desk, person: int) -> None:
    desk.database.write(lambda s: s.merge(ModelListing(name=MODEL, keeper_id=person)))


def card(desk: Desk) -> str:
    readme = (Path(catalog.entry(MODEL).folder) / "README.md").read_text(encoding="utf-8")
    return desk.database.read(card_results.registry_card, desk.settings, MODEL, readme, SITE)


def checks(desk: Desk, text: str) -> list[TokenCheck]:
    return check_results(read_card(text).models, signing.public_keys(desk.settings))


def add(desk: Desk, id: int) -> None:
    desk.database.write(lambda s: card_results.add_to_registry(s, desk.someone(s), id))


def test_a_keepers_results_are_on_the_card_and_a_changed_number_is_told(desk: Desk, done: int):
    keep(desk, desk.person)
    assert not checks(desk, card(desk))
    add(desk, done)
    add(desk, done)
    text = card(desk)
    held = checks(desk, text)
    assert {check.state for check in held} == {"holds"}
    assert {check.result.metric_name for check in held} >= {"accuracy", "f1 macro"}
    assert held[0].token is not None
    assert held[0].token.record_path == f"/open-evaluations/{done}/record"
    assert ModelCard(text).data.eval_results
    value = held[0].result.metric_value
    assert checks(desk, text.replace(f"value: {value}", "value: 0.999", 1))[0].state == "differs"
    assert desk.seen(done).evaluation.listed
    for refused in (
        lambda s: evaluations.list_publicly(s, desk.someone(s), done, False),
        lambda s: evaluations.delete_evaluation(s, desk.settings, desk.someone(s), done),
    ):
        with pytest.raises(errors.Conflict):
            desk.database.write(refused)
    desk.database.write(lambda s: card_results.remove_from_registry(s, desk.someone(s), done, 0))
    assert not checks(desk, card(desk))
    desk.database.write(lambda s: evaluations.delete_evaluation(s, desk.settings, desk.someone(s), done))


def test_results_for_anothers_model_are_proposed_and_its_keeper_decides(desk: Desk, done: int, owner_of):
    keeper = Desk(desk.database, desk.settings, owner_of("kim"))
    keep(desk, keeper.person)
    add(desk, done)
    assert not checks(desk, card(desk))

    def decide(person: Desk, accepted: bool) -> None:
        desk.database.write(lambda s: card_results.decide_entry(s, person.someone(s), done, 0, accepted))

    with pytest.raises(errors.Forbidden):
        decide(desk, True)
    decide(keeper, True)
    assert checks(desk, card(desk))
    decide(keeper, False)
    assert not checks(desk, card(desk))
    notices = desk.database.read(lambda s: [(row.person_id, row.link) for row in s.query(Notice)])
    assert (keeper.person, f"/open-evaluations/{done}#cards") in notices
    stranger = Desk(desk.database, desk.settings, owner_of("mallory"))
    for act in (
        lambda s: card_results.remove_from_registry(s, stranger.someone(s), done, 0),
        lambda s: card_results.add_to_registry(s, stranger.someone(s), done),
    ):
        with pytest.raises(errors.Forbidden):
            desk.database.write(act)


def test_the_choice_of_the_form_puts_results_on_cards_by_itself(desk: Desk):
    keep(desk, desk.person)
    id = desk.start(desk.upload("films.csv", reviews(30)), [MODEL], cards=True)
    assert desk.run(id).evaluation.listed
    assert checks(desk, card(desk))


README = b"---\r\nlicense: mit  # free\r\n---\r\n# Mine\r\n"


def model_repository(desk: Desk, name: str = "mine") -> service.HubEntry:
    def make(session: Session) -> service.HubEntry:
        return service.create_repository(session, desk.settings, desk.someone(session), RepositoryKind.MODEL, name)

    entry = desk.database.write(make)
    add_commit(desk, entry, {"README.md": README})
    return entry


def readme_of(desk: Desk, entry: service.HubEntry, revision: str = "main") -> str:
    store = GitStore.of(desk.settings, entry.row.folder)
    item = store.find(desk.database.read(service.resolve_revision, desk.settings, entry, revision), "README.md")
    assert item is not None
    return store.blob(item.revision).decode()


def send(desk: Desk, id: int, name: str) -> int:
    person = desk.database.read(desk.someone)
    add = repository_cards.add_to_repository
    return add(desk.database, desk.settings, person, id, 0, name, SITE).number


def take_back(desk: Desk, id: int) -> None:
    person = desk.database.read(desk.someone)
    repository_cards.remove_from_repository(desk.database, desk.settings, person, id, 0)


def test_ones_own_repository_gets_a_commit_that_can_be_taken_back(desk: Desk, done: int):
    entry = model_repository(desk)
    assert send(desk, done, entry.full_name) == 0
    text = readme_of(desk, entry)
    assert {check.state for check in checks(desk, text)} == {"holds"}
    assert text.startswith("---\r\nlicense: mit  # free\r\n")
    assert text.endswith("---\r\n# Mine\r\n")
    with pytest.raises(errors.Conflict):
        send(desk, done, entry.full_name)
    with pytest.raises(errors.Invalid):
        send(desk, desk_evaluation(desk), "nobody/nothing")
    take_back(desk, done)
    assert "license: mit  # free" in readme_of(desk, entry)
    assert not read_card(readme_of(desk, entry)).results


def desk_evaluation(desk: Desk) -> int:
    id = desk.start(desk.upload("more.csv", reviews(30)), [MODEL])
    assert desk.run(id).evaluation.state == "done"
    return id


def test_anothers_repository_gets_a_pull_request(desk: Desk, done: int, owner_of):
    other = Desk(desk.database, desk.settings, owner_of("olga"))
    entry = model_repository(other)
    number = send(desk, done, entry.full_name)
    assert number == 1
    assert readme_of(desk, entry) == README.decode()
    assert {check.state for check in checks(desk, readme_of(desk, entry, "refs/pr/1"))} == {"holds"}
    take_back(desk, done)
    state = desk.database.read(lambda s: discussions.find_discussion(s, entry, number).state)
    assert state == DiscussionState.CLOSED
    assert send(desk, done, entry.full_name) == 2
