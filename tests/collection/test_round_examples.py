"""Examples on a round's page: who reads which, and under what name their writers stand there."""

import csv
import io

import pytest

from dynabench.collection.tables import Standing
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Round, TaskVersion
from tests.validation.world import World

PAGE = "/tasks/checks/rounds/1"


@pytest.fixture
def world(database):
    return World(database, votes=1, cap=1)


def file_rows(client, query=""):
    text = client.get(f"{PAGE}/examples.csv{query}").text
    return list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))


def texts(client, query=""):
    return {row["hypothesis"] for row in file_rows(client, query)}


def written(world, number):
    return {"hypothesis": f"Sentence {number}."}


def release(world):
    """Two writers, one of whom has a public profile; verified, wrong, unfooling and waiting examples."""
    public, private, voter = world.person(), world.person(), world.person()
    world.db.write(lambda session: setattr(session.get_one(Person, public.id), "public_profile", True))
    first = world.example(public, input=written(world, 1), tag="rain")
    second = world.example(private, input=written(world, 2))
    third = world.example(public, input=written(world, 3))
    world.example(public, fooled=False, input=written(world, 4))
    world.vote(voter, first, "correct")
    world.vote(voter, second, "correct")
    world.vote(voter, third, "incorrect")
    world.state("released")
    return public, private


def test_nothing_is_shown_before_the_release_but_a_reason_and_numbers(world, client):
    writer, voter = world.person(), world.person()
    example = world.example(writer, input=written(world, 1))
    world.vote(voter, example, "correct")
    for state in ("open", "closed"):
        world.state(state)
        page = client.get(f"{PAGE}?q=sentence&fooled=yes").text
        assert "Sentence 1." not in page
        assert "published with the release" in page
        assert "1 example so far" in page
        assert client.get(f"{PAGE}/examples.csv").status_code == 409


def test_filters_are_addresses(world, client):
    release(world)
    assert texts(client) == {f"Sentence {n}." for n in (1, 2, 3, 4)}
    assert texts(client, "?fooled=no") == {"Sentence 4."}
    assert texts(client, "?verified=yes") == {"Sentence 1.", "Sentence 2."}
    assert texts(client, "?verified=no&fooled=yes") == {"Sentence 3."}
    assert texts(client, "?tag=rain") == {"Sentence 1."}
    assert texts(client, "?q=SENTENCE+2") == {"Sentence 2."}
    page = client.get(f"{PAGE}?verified=no&fooled=yes").text
    assert "Sentence 3." in page
    assert "Sentence 1." not in page
    part = client.get(f"{PAGE}?tag=rain", headers={"HX-Request": "true"}).text
    assert "Sentence 1." in part
    assert "<html" not in part


def test_writers_are_named_only_with_a_public_profile_and_for_verified_examples_that_fooled(world, client):
    public, private = release(world)
    names = {row["hypothesis"]: row["writer"] for row in file_rows(client)}
    assert names == {"Sentence 1.": public.public_name, "Sentence 2.": "", "Sentence 3.": "", "Sentence 4.": ""}
    assert texts(client, f"?writer={public.public_name}") == {"Sentence 1."}
    assert texts(client, f"?writer={private.public_name}") == set(), "a name that is not shown finds nothing"
    listed = client.get(PAGE, headers={"HX-Request": "true"}).text
    assert public.public_name in listed
    assert private.public_name not in listed
    assert private.username not in listed


@pytest.mark.slow
@pytest.mark.parametrize("column", ["withheld", "hidden", "retracted"])
def test_what_a_release_withholds_or_a_person_took_away_is_found_by_no_filter(world, client, column):
    release(world)
    with_tag = next(row for row in file_rows(client) if row["tag"] == "rain")

    def take_away(session):
        for standing in session.query(Standing):
            if standing.example_id == 1:
                setattr(standing, column, True)

    world.db.write(take_away)
    for query in ("", "?tag=rain", "?q=1", "?verified=yes"):
        assert with_tag["hypothesis"] not in texts(client, query)
        assert with_tag["hypothesis"] not in client.get(f"{PAGE}{query}").text
    assert ">rain<" not in client.get(PAGE).text, "nor is its tag a choice"


@pytest.mark.slow
def test_a_task_with_a_warning_shows_no_examples(world, client):
    release(world)

    def warn(session):
        version = session.get_one(TaskVersion, session.get_one(Round, world.round_id).version_id)
        version.source += "content_warning: It may hurt.\n"

    world.db.write(warn)
    page = client.get(PAGE).text
    assert "Sentence" not in page
    assert "content warning" in page
    assert client.get(f"{PAGE}/examples.csv").status_code == 409


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("q=%22%27%3C%2Fscript%3E", 200),
        ("q=...", 200),
        ("fooled=perhaps", 422),
        ("after=0", 422),
        ("q=" + "a" * 1001, 422),
    ],
)
def test_hostile_filters_are_refused_or_find_nothing(world, client, query, status):
    release(world)
    response = client.get(f"{PAGE}?{query}")
    assert response.status_code == status
    assert "</script>%" not in response.text
    assert "Sentence 1." not in response.text


def test_pages_follow_each_other_without_gaps(world, client):
    writer = world.person()
    for number in range(23):
        world.example(writer, input=written(world, number))
    world.state("released")
    numbers, address = [], PAGE
    while address:
        page = client.get(address).text
        numbers += [part.split(".")[0] for part in page.split("Sentence ")[1:]]
        start = page.find('rel="next" href="')
        address = page[start + 17 :].split('"')[0].replace("&amp;", "&") if start > 0 else ""
    assert numbers == [str(number) for number in reversed(range(23))]
