"""Mechanical Turk over its real protocol, against a local server: the HIT of a study, secrets, blocks."""

import sys

import pytest

from dynabench.crowd import accounts, blocking
from dynabench.crowd.providers.mturk_api import service_model
from dynabench.crowd.tables import Participation, StudyState
from dynabench.kit import errors
from dynabench.people.accounts.tables import Person
from tests.crowd import mturk_study
from tests.crowd.mturk_study import SECRETS, finished
from tests.crowd.study_steps import lead, part_of

turk, settings, draft, study = mturk_study.turk, mturk_study.settings, mturk_study.draft, mturk_study.study


@pytest.mark.slow
def test_a_study_is_one_hit_that_opens_and_expires(study, turk, database, settings):
    [hit] = turk.books.hits.values()
    assert (hit["Title"], hit["Reward"], hit["MaxAssignments"]) == ("Fool a model", "1.50", 5)
    assert f"https://bench.example/studies/{study.slug}" in hit["Question"]
    rows = turk.books.types[hit["HITTypeId"]]["QualificationRequirements"]
    requirements = {row["QualificationTypeId"]: row for row in rows}
    assert requirements["000000000000000000L0"]["IntegerValues"] == [95]
    assert requirements["00000000000000000071"]["LocaleValues"] == [{"Country": "US"}, {"Country": "GB"}]
    assert requirements["3TOOKPART"]["Comparator"] == "DoesNotExist"
    opened = hit["Expiration"]
    lead(database, settings, study, StudyState.PAUSED)
    assert hit["Expiration"] < opened
    lead(database, settings, study, StudyState.PUBLISHED)
    assert hit["Expiration"] >= opened
    lead(database, settings, study, StudyState.STOPPED)
    assert hit["Expiration"] < opened
    assert len(turk.books.hits) == 1


@pytest.mark.slow
@pytest.mark.parametrize("failure", ["CreateHITType lost", "CreateHITWithHITType lost", "CreateHITWithHITType busy"])
def test_an_interrupted_creation_makes_one_hit(draft, turk, database, settings, failure):
    turk.fail(*failure.split())
    with pytest.raises(errors.Unavailable):
        lead(database, settings, draft, StudyState.PUBLISHED)
    lead(database, settings, draft, StudyState.PUBLISHED)
    assert len(turk.books.hits) == 1


def test_wrong_secrets_and_refusals_say_why(settings, turk):
    with pytest.raises(errors.Invalid):
        accounts.check_credentials(settings, "mturk", SECRETS | {"secret_key": "wrong"})
    turk.fail("GetAccountBalance", "busy")
    with pytest.raises(errors.Unavailable):
        accounts.check_credentials(settings, "mturk", SECRETS)


def test_a_site_without_botocore_says_how_to_install_it(settings, monkeypatch):
    monkeypatch.setitem(sys.modules, "botocore.loaders", None)
    service_model.cache_clear()
    with pytest.raises(errors.Invalid) as problem:
        accounts.check_credentials(settings, "mturk", SECRETS)
    assert "pip install 'dynabench-platform[mturk]'" in problem.value.fields["access_key"]


@pytest.mark.slow
def test_the_owner_blocks_a_worker(study, turk, browser, owner, enter, database, settings):
    page = enter(owner)
    assignment, _window = finished(turk, study, browser, "ABADWORKER")
    part = part_of(database, assignment)
    path = f"{study.manage}/participants/{part.id}/block"
    assert "Block worker" in page.get(study.manage).text
    assert page.submit(path, page=study.manage, reason="Copied texts").status_code == 303
    blocking.block_worker(database, settings, None, "nli", study.id, part.id, "Again")
    assert set(turk.books.blocks) == {"ABADWORKER"}
    assert page.submit(path, page=study.manage, reason="").status_code == 422


def test_worker_ids_stay_where_owners_see_them(study, turk, browser, owner, enter, database):
    finished(turk, study, browser, "ASECRETID")
    assert "ASECRETID" in enter(owner).get(study.manage).text
    row = database.read(lambda session: session.query(Participation).one())
    assert "ASECRETID" not in f"{row.worker_sealed} {row.worker_digest}"
    assert database.read(lambda session: session.query(Person).filter(Person.username.contains("ASECRET")).count()) == 0
