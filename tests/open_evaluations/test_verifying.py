"""The page on which a reader verifies results, and whose results the page of a model shows."""

import re

import pytest

from dynabench.kit import errors
from dynabench.open_evaluations import card_results, pages, service, verifying
from dynabench.open_evaluations.tables import OpenScore
from dynabench.open_evaluations.verifying import ResultState, VerifiedResult
from tests.open_evaluations.conftest import Desk
from tests.open_evaluations.test_cards import MODEL, SITE, add, card, done, keep

__all__ = ["done"]
pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def verify(desk: Desk, text: str) -> list[VerifiedResult]:
    """Verify as an anonymous reader."""
    return desk.database.read(verifying.verify_text, desk.settings, None, SITE, text)


def states(desk: Desk, text: str) -> set[ResultState]:
    return {result.state for result in verify(desk, text)}


@pytest.mark.slow
def test_a_reader_verifies_a_card_a_token_and_a_link(desk: Desk, done: int):
    keep(desk, desk.person)
    add(desk, done)
    text = card(desk)
    [token, *_others] = re.findall(r"verifyToken: (?:>-\s+)?(\S+)", text)
    for pasted in (
        text,
        text.replace("\n", "\r\n"),
        token,
        f"{SITE}/open-evaluations/{done}?by=x",
        f"/open-evaluations/{done}",
    ):
        results = verify(desk, pasted)
        assert {result.state for result in results} == {ResultState.RECORDED}
        assert {result.path for result in results} == {f"/open-evaluations/{done}"}
    value = verify(desk, text)[0].value
    changed = verify(desk, text.replace(f"value: {value}", "value: 0.999", 1))
    assert [result.state for result in changed[:2]] == [ResultState.CHANGED, ResultState.RECORDED]
    assert "0.999" in changed[0].detail
    head, claims, signature = token.split(".")
    assert states(desk, f"{head}.{claims}.{signature[::-1]}") == {ResultState.UNKNOWN_KEY}
    foreign = text.replace(SITE, "https://other.example.org")
    other = desk.database.read(verifying.verify_text, desk.settings, None, "https://other.example.org", token)
    assert other[0].state == ResultState.RECORDED, "the key decides, not the name"
    assert states(desk, foreign) == {ResultState.RECORDED}, "the address of a source is not covered"
    unsigned = re.sub(r"\n +verifyToken: .*(\n {10,}\S+)*", "", text)
    assert states(desk, unsigned) == {ResultState.UNKNOWN}
    desk.database.write(lambda s: setattr(s.query(OpenScore).first(), "value", 0.999))
    board = verify(desk, f"/open-evaluations/{done}")
    assert [result.state for result in board].count(ResultState.CHANGED) == 1


@pytest.mark.parametrize(
    "text", ["", "no card", "---\na: [\n---\n", "a.b.c", "x" * 200_001, "---\nmodel-index: 7\n---\n"]
)
def test_what_is_no_result_is_refused_with_a_sentence(desk: Desk, text: str):
    with pytest.raises(errors.Invalid) as problem:
        verify(desk, text)
    assert problem.value.fields["text"]


@pytest.mark.slow
def test_an_evaluation_that_is_private_stays_so(desk: Desk, done: int):
    text = desk.database.read(
        lambda s: card_results.results_text(s, desk.settings, desk.seen(done), desk.seen(done).models[0], SITE)
    )
    results = verify(desk, f"---\n{text}---\n")
    assert {(result.state, result.path) for result in results} == {(ResultState.HIDDEN, "")}
    with pytest.raises(errors.Problem):
        verify(desk, f"/open-evaluations/{done}")


@pytest.mark.slow
def test_the_page_of_anothers_model_shows_what_its_keeper_accepted(desk: Desk, done: int, owner_of):
    def results_of_page() -> list[int]:
        return [row["id"] for row in desk.database.read(pages.model_results, MODEL)]

    desk.database.write(lambda s: service.list_publicly(s, desk.someone(s), done, True))
    assert results_of_page() == [done], "a model that the platform brings along has no keeper"
    keeper = Desk(desk.database, desk.settings, owner_of("kim"))
    keep(desk, keeper.person)
    assert results_of_page() == []
    assert desk.database.read(service.find_evaluation, None, done), "everybody reaches it by its link"
    add(desk, done)
    assert results_of_page() == []
    desk.database.write(lambda s: card_results.decide_entry(s, keeper.someone(s), done, 0, True))
    assert results_of_page() == [done]
    desk.database.write(lambda s: card_results.decide_entry(s, keeper.someone(s), done, 0, False))
    assert results_of_page() == []
    keep(desk, desk.person)
    assert results_of_page() == [], "declined stays declined"
    desk.database.write(lambda s: card_results.remove_from_registry(s, desk.someone(s), done, 0))
    assert results_of_page() == [done], "the keeper's own evaluation"
