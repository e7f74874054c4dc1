"""End of a session, by a clock that stands still: neither a second early nor a second late."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from dynabench.kit.db import now
from dynabench.people.accounts import service
from dynabench.people.accounts.tables import Session as Login

SECOND = timedelta(seconds=1)
MONTH = timedelta(days=30)


@pytest.fixture
def set_clock(monkeypatch):
    """Set the clock of accounts to a moment, at which it stays."""

    def set_to(moment):
        monkeypatch.setattr(service, "now", lambda: moment)

    return set_to


def test_a_session_lasts_thirty_days_to_the_second_on_pages_and_in_the_api(browser, set_clock):
    joined = now().replace(microsecond=0)
    set_clock(joined)
    ada = browser()
    ada.join("ada")
    for after, page, api in ((MONTH - SECOND, 200, 200), (MONTH, 303, 401), (MONTH + SECOND, 303, 401)):
        set_clock(joined + after)
        assert ada.get("/settings").status_code == page
        assert ada.get("/api/v1/me").status_code == api
    set_clock(joined)
    assert ada.get("/settings").status_code == 200, "a clock that is set back is no reason to log anybody out"


def test_logging_in_sweeps_the_sessions_that_have_ended_and_no_others(browser, set_clock, database):
    joined = now().replace(microsecond=0)
    set_clock(joined)
    browser().join("ada")
    set_clock(joined + MONTH - SECOND)
    second = browser()
    second.log_in("ada")
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(Login))) == 2
    set_clock(joined + MONTH)
    browser().log_in("ada")
    assert database.read(lambda session: session.scalar(select(func.count()).select_from(Login))) == 2
    assert second.get("/settings").status_code == 200
