"""A study at a local Prolific and workers who finish it."""

import re

import pytest

from dynabench.crowd import accounts, consent, studies
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import StudyState
from tests.crowd.conftest import CONSENT, OpenStudy, write_example
from tests.crowd.prolific_server import TOKEN, Prolific
from tests.crowd.study_steps import lead

SECRET = "hook-secret"


@pytest.fixture
def prolific():
    server = Prolific()
    yield server
    server.close()


@pytest.fixture
def settings(settings, prolific):
    return settings.model_copy(
        update={"crowd_urls": {"prolific": prolific.address}, "crowd_hosts": prolific.address.partition("//")[2]}
    )


@pytest.fixture
def study(owner, database, settings, prolific):
    """A study of one example, published at Prolific."""
    name, secrets = accounts.check_credentials(settings, "prolific", {"token": TOKEN, "webhook_secret": SECRET})

    def write(session):
        consent.save_text(session, None, "nli", CONSENT)
        accounts.connect_account(session, None, "nli", settings.key, "prolific", name, secrets)
        plan = StudyPlan("Fool a model", {"reward": 150, "places": 5}, {"examples": 1})
        return studies.draft_study(session, None, "nli", 1, "prolific", plan)

    opened = database.write(lambda session: (lambda row: OpenStudy(row.id, row.slug))(write(session)))
    lead(database, settings, opened, StudyState.PUBLISHED)
    return opened


def external(prolific):
    return next(iter(prolific.books.studies))


def finished(prolific, study, browser, name=None):
    """A worker who did the work and followed the address of completion; the platform's id of the submission."""
    parameters = prolific.reserve(external(prolific), name)
    page = browser()
    assert page.get(study.page, params=parameters).status_code == 303
    version = re.search(r'name="consent" value="(\d+)"', page.get(study.page).text)[1]
    page.submit(f"{study.page}/consent", page=study.page, consent=version)
    write_example(page)
    assert page.submit(f"{study.page}/finish", page=study.page).status_code == 303
    code = re.search(r"submissions/complete\?cc=([A-Z2-9]+)", page.get(study.page).text)[1]
    assert prolific.complete(parameters["SESSION_ID"], code) == "AWAITING REVIEW"
    return parameters["SESSION_ID"], page
