"""A study at a local Mechanical Turk and workers who finish it in their frame."""

import re

import pytest

from dynabench.crowd import accounts, consent, studies
from dynabench.crowd.studies import StudyPlan
from dynabench.crowd.tables import StudyState
from tests.crowd.conftest import CONSENT, OpenStudy, write_example
from tests.crowd.mturk_server import ACCESS_KEY, SECRET_KEY, MechanicalTurk
from tests.crowd.study_steps import lead

SECRETS = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
PLAN = {
    "reward": 150, "places": 5, "least_approval": 95, "least_approved": 100, "countries": "us, GB", "adults": True,
    "took_part": "3TOOKPART",
}  # fmt: skip


@pytest.fixture
def turk():
    server = MechanicalTurk()
    yield server
    server.close()


@pytest.fixture
def settings(settings, turk):
    hosts = turk.address.partition("//")[2]
    return settings.model_copy(update={"crowd_urls": {"mturk": turk.address}, "crowd_hosts": f"{hosts}, 127.0.0.1"})


@pytest.fixture
def draft(owner, database, settings):
    """A study of one example that is not at the platform yet."""
    name, secrets = accounts.check_credentials(settings, "mturk", SECRETS)

    def write(session):
        consent.save_text(session, None, "nli", CONSENT)
        accounts.connect_account(session, None, "nli", settings.key, "mturk", name, secrets)
        plan = StudyPlan("Fool a model", PLAN, {"examples": 1})
        row = studies.draft_study(session, None, "nli", 1, "mturk", plan)
        return OpenStudy(row.id, row.slug)

    return database.write(write)


@pytest.fixture
def study(draft, database, settings):
    lead(database, settings, draft, StudyState.PUBLISHED)
    return draft


def hit_of(turk):
    return next(iter(turk.books.hits))


def fields_of(text):
    return dict(re.findall(r'<input type="hidden" name="(assignmentId|code|outcome)" value="([^"]+)"', text))


def open_frame(study, browser, parameters):
    """A worker's frame, which has no cookies, and the window that was opened from it."""
    frame = browser()
    page = frame.get(study.page, params=parameters)
    assert page.status_code == 200, page.text
    assert not frame.client.cookies, "a frame sets no cookie"
    link = re.search(r'href="(/studies/[^"]+\?ticket=[^"]+)"', page.text)[1]
    window = browser()
    assert window.get(link).status_code == 303
    again = re.search(r'hx-get="([^"]+)"', page.text)[1].replace("&amp;", "&")
    return frame, again, window


def finished(turk, study, browser, worker=None):
    """A worker who did the work and submitted the frame's form; the id of the assignment and the window."""
    parameters = turk.accept(hit_of(turk), worker)
    frame, again, window = open_frame(study, browser, parameters)
    version = re.search(r'name="consent" value="(\d+)"', window.get(study.page).text)[1]
    window.submit(f"{study.page}/consent", page=study.page, consent=version)
    assert "externalSubmit" not in frame.get(again).text
    write_example(window)
    assert window.submit(f"{study.page}/finish", page=study.page).status_code == 303
    assert "Go back to the window of Mechanical Turk and submit" in window.get(study.page).text
    page = frame.get(again).text
    assert f'action="{turk.address}/mturk/externalSubmit"' in page
    values = fields_of(page)
    assert values["outcome"] == "completed"
    raw = "&".join(f"{name}={value}" for name, value in values.items())
    assert turk.submit(raw)[0] == 200
    assert turk.submit(raw)[0] == 400, "an assignment is submitted once"
    return parameters["assignmentId"], window
