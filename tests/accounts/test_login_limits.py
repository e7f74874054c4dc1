"""Limits on log-ins and registrations: guessing is slow, and nobody can lock others out."""

import httpx2
import pytest

from tests.conftest import PASSWORD


@pytest.fixture
def log_in(client, person, monkeypatch):
    """Log in over the API's form from an address."""
    monkeypatch.setattr(client.app.state.settings, "rate_limit", True)

    def run(name, password, address):
        async def story():
            transport = httpx2.ASGITransport(client.app, client=(address, 1))
            async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as http:
                page = await http.get("/login")
                token = page.text.partition('name="csrf" value="')[2].partition('"')[0]
                form = {"username": name, "password": password, "csrf": token}
                return (await http.post("/login", data=form)).status_code

        return client.portal.call(story)

    return run


def test_somebody_who_guesses_at_a_name_locks_its_owner_out_nowhere_else(log_in, browser):
    browser().join("ada")
    logs = [log_in("ada", f"guess {number}", "192.0.2.66") for number in range(12)]
    assert logs == [401] * 10 + [429] * 2
    assert log_in("ada", PASSWORD, "192.0.2.1") == 303
    assert log_in("bob", "guess", "192.0.2.66") == 401, "another name is another limit"


@pytest.mark.slow
def test_forty_people_register_and_log_in_from_one_address(client, log_in):
    """A class room behind one address, within a few minutes."""
    for number in range(40):
        account = {"username": f"pupil{number}", "email": f"p{number}@example.org", "password": PASSWORD, "agree": True}
        answer = client.post("/api/v1/accounts", json=account)
        assert answer.status_code == 201, answer.text
    assert {log_in(f"pupil{number}", PASSWORD, "192.0.2.1") for number in range(40)} == {303}
