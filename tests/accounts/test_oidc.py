"""Logging in at a provider over the real protocol, and providers and visitors that mean harm."""

import json
import re

import httpx2
import pytest
from sqlalchemy import select

from dynabench.kit.settings import OidcProvider, Settings
from dynabench.people.accounts.oidc import pages
from dynabench.people.accounts.tables import Identity, PendingLogin, Person
from tests.accounts import oidc_provider
from tests.accounts.oidc_provider import CLIENT, SECRET, OpenIdProvider
from tests.conftest import PASSWORD

ADA = {"sub": "4711", "email": "ada@example.org", "email_verified": True, "preferred_username": "ada"}


@pytest.fixture
def uni():
    """The provider of a university."""
    provider = OpenIdProvider(dict(ADA))
    server = oidc_provider.start(provider)
    yield provider
    server.shutdown()
    server.server_close()


@pytest.fixture
def settings(settings, uni):
    """A site whose people can log in there."""
    config = {"label": "Example University", "issuer": uni.issuer, "client_id": CLIENT, "client_secret": SECRET}
    pages._login_provider.cache_clear()
    return settings.model_copy(
        update={"oidc": [OidcProvider(name="uni", **config), OidcProvider(name="lab", **config)]}
    )


def go(browser, uni, address="/login/with/uni"):
    """Follow the browser to the provider; return the path of this site that it leads back to."""
    answer = browser.get(address)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith(f"{uni.issuer}/authorize?")
    back = httpx2.get(answer.headers["location"]).headers["location"]
    assert back.startswith("http://testserver/login/with/uni/callback?")
    return back.removeprefix("http://testserver")


def come_back(browser, uni, address="/login/with/uni"):
    return browser.get(go(browser, uni, address))


def join(browser, uni, **fields):
    assert come_back(browser, uni).headers["location"] == "/login/provider/join"
    return browser.submit("/login/provider/join", **({"username": "ada", "agree": "yes"} | fields))


def identities(database):
    return database.read(lambda session: session.scalars(select(Identity)).all())


def test_somebody_joins_and_logs_in_again_without_a_password(browser, uni, database):
    here = browser()
    assert "Example University" in here.get("/login").text
    assert "Example University" in here.get("/register").text
    assert come_back(here, uni, "/login/with/uni?next=/models").headers["location"] == "/login/provider/join"
    page = here.get("/login/provider/join").text
    assert 'value="ada"' in page
    assert here.submit("/login/provider/join", username="ada").status_code == 422, "consent is asked for"
    assert here.submit("/login/provider/join", username="a", agree="yes").status_code == 422
    answer = here.submit("/login/provider/join", username="ada", agree="yes")
    assert (answer.status_code, answer.headers["location"]) == (303, "/models")
    person = database.read(lambda session: session.scalars(select(Person)).one())
    assert (person.username, person.email, person.password_hash) == ("ada", "ada@example.org", "")
    assert person.email_confirmed_at is not None
    assert here.log_in("ada", "").status_code == 401, "an account without a password has none that is empty"

    visitor = browser()
    assert come_back(visitor, uni, "/login/with/uni?next=/datasets").headers["location"] == "/datasets"
    assert "ada@example.org" in visitor.get("/settings").text
    assert len(identities(database)) == 1
    assert database.read(lambda session: session.scalars(select(PendingLogin)).all()) == []


def test_logging_out_offers_to_log_out_at_the_provider(browser, uni):
    ada = browser()
    join(ada, uni)
    answer = ada.submit("/logout", page="/settings")
    assert answer.headers["location"] == "/logged-out?provider=uni"
    assert (
        f"{uni.issuer}/logout?client_id=bench&amp;post_logout_redirect_uri=" in ada.get("/logged-out?provider=uni").text
    )
    assert ada.get("/settings").status_code == 303


WRONG = {
    "wrong nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "other audience": {"aud": "another site"},
    "other audience, in the name of this site": {"aud": "another site", "azp": CLIENT},
    "several audiences, for another party": {"aud": [CLIENT, "another site"], "azp": "another site"},
    "other issuer": {"iss": "https://evil.example.org"},
    "expired": {"exp": 1_000_000_000},
    "from the future": {"iat": 4_000_000_000},
    "nobody": {"sub": None},
    "no text": {"sub": 4711},
    "endless name": {"sub": "x" * 256},
    "another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG.keys())
def test_an_id_token_that_is_not_for_this_log_in_logs_nobody_in(browser, uni, database, claims):
    uni.claims = claims
    refused_everywhere(browser(), uni, database)


@pytest.mark.parametrize(
    "lie",
    ["unsigned", "signs with the public key", "signs with another key", "denies", "mixes up", "breaks down"],
)
def test_a_provider_that_lies_or_denies_logs_nobody_in(browser, uni, database, lie):
    uni.lies = {lie}
    refused_everywhere(browser(), uni, database)


def refused_everywhere(visitor, uni, database):
    answer = come_back(visitor, uni)
    assert answer.status_code in (403, 503)
    assert "Example University" in answer.text
    assert "dynabench_session" not in visitor.client.cookies
    assert visitor.get("/login/provider/join").status_code == 409
    assert identities(database) == []


def test_a_provider_with_another_issuer_is_not_used(browser, uni):
    uni.lies = {"is another"}
    answer = browser().get("/login/with/uni")
    assert answer.status_code == 403
    assert "did not log you in" in answer.text


def test_a_provider_that_is_down_is_told_and_the_password_still_works(browser, person, settings, client, monkeypatch):
    person("bob")
    down = OidcProvider(name="uni", label="Example University", issuer="http://127.0.0.1:9", client_id=CLIENT)
    monkeypatch.setattr(client.app.state.settings, "oidc", [down])
    bob = browser()
    answer = bob.get("/login/with/uni")
    assert answer.status_code == 503
    assert "cannot be reached" in answer.text
    assert bob.log_in("bob").status_code == 303


@pytest.mark.slow
def test_new_keys_of_the_provider_are_read(browser, uni, monkeypatch):
    join(browser(), uni)
    uni.key = OpenIdProvider({}).key.__class__.generate_key(2048, {"kid": "two"}, private=True)
    monkeypatch.setattr("dynabench.people.accounts.oidc.provider.time.monotonic", lambda: __import__("time").time())
    assert come_back(browser(), uni).headers["location"] == "/"


@pytest.mark.slow
def test_a_way_back_works_once_and_in_its_own_browser(browser, uni, database):
    ada, eve = browser(), browser()
    join(ada, uni)
    victim = browser()
    back = go(victim, uni)
    assert eve.get(back).status_code == 409, "another browser"
    assert eve.get(go(eve, uni).replace("state=", "state=x")).status_code == 409
    here = victim.get(back)
    assert here.headers["location"] == "/"
    again = browser()
    again.client.cookies = victim.client.cookies
    assert again.get(back).status_code == 409, "a state is used up"

    code = re.search(r"code=([^&]+)", back)[1]
    replayed = re.sub(r"code=[^&]+", f"code={code}", go(eve, uni))
    assert eve.get(replayed).status_code == 403, "a code of another log-in"
    assert "dynabench_session" not in eve.client.cookies


def test_a_way_back_belongs_to_its_provider(browser, uni):
    eve = browser()
    assert eve.get(go(eve, uni).replace("/with/uni/", "/with/lab/")).status_code == 409
    assert eve.get("/login/with/nobody").status_code == 404
    assert eve.get("/login/with/uni/callback").status_code == 409


@pytest.mark.slow
def test_an_account_with_the_address_is_linked_by_its_password_alone(browser, uni, person, database):
    person("ada")
    here = browser()
    assert come_back(here, uni).headers["location"] == "/login/provider/proof"
    assert identities(database) == [], "nothing is linked without confirmation"
    assert here.get("/settings").status_code == 303
    assert here.submit("/login/provider/proof", password="wrong password").status_code == 422
    assert here.submit("/login/provider/proof", password=PASSWORD).status_code == 303
    assert here.get("/settings").status_code == 200
    assert come_back(browser(), uni).headers["location"] == "/"


def test_whoever_guesses_at_the_password_of_an_account_has_to_begin_anew(browser, uni, person, database):
    person("ada")
    eve = browser()
    come_back(eve, uni)
    codes = [eve.submit("/login/provider/proof", password=f"guess number {n}").status_code for n in range(6)]
    assert codes == [422, 422, 422, 422, 409, 409]
    assert identities(database) == []


@pytest.mark.slow
def test_an_address_that_the_provider_has_not_verified_links_nothing(browser, uni, person, database):
    person("ada")
    for unsure in (False, None, "true", 1):
        uni.claims = {"email_verified": unsure}
        eve = browser()
        assert come_back(eve, uni).headers["location"] == "/login/provider/join"
        answer = eve.submit("/login/provider/join", username="eve", email="ada@example.org", agree="yes")
        assert answer.status_code == 409
        assert "An account with this address exists" in answer.text
    answer = eve.submit("/login/provider/join", username="eve", email="eve@example.org", agree="yes")
    assert answer.status_code == 303
    eve_row = database.read(lambda s: s.scalars(select(Person).where(Person.username == "eve")).one())
    assert eve_row.email_confirmed_at is None


def test_a_verified_address_cannot_be_exchanged_in_the_form(browser, uni, database):
    join(browser(), uni, email="boss@example.org")
    assert database.read(lambda session: session.scalars(select(Person.email)).all()) == ["ada@example.org"]


@pytest.mark.slow
def test_somebody_who_is_logged_in_links_and_unlinks_an_account(browser, uni, person, database):
    person("bob")
    bob = browser()
    bob.log_in("bob")
    assert come_back(bob, uni, "/login/with/uni?link=true").headers["location"] == "/login/provider/confirm"
    assert identities(database) == [], "a page of another site that leads here links nothing"
    assert "ada@example.org" in bob.get("/login/provider/confirm").text
    assert bob.client.post("/login/provider/confirm").status_code == 403, "without the form's token"
    assert bob.submit("/login/provider/confirm", page="/settings").status_code == 303
    other = browser()
    assert come_back(other, uni).headers["location"] == "/"
    assert "bob@example.org" in other.get("/settings").text
    [row] = identities(database)
    assert bob.submit(f"/settings/identities/{row.id}/unlink", page="/settings").status_code == 303
    assert identities(database) == []


def test_a_link_belongs_to_whoever_began_it(browser, uni, person):
    person("bob")
    person("eve")
    bob, eve = browser(), browser()
    bob.log_in("bob")
    back = go(bob, uni, "/login/with/uni?link=true")
    eve.log_in("eve")
    eve.client.cookies.set("dynabench_login", bob.client.cookies["dynabench_login"])
    assert eve.get(back).status_code == 409


@pytest.mark.slow
def test_the_last_way_to_log_in_stays_and_a_first_password_can_be_set(browser, uni, database):
    ada = browser()
    join(ada, uni)
    [row] = identities(database)
    assert ada.submit(f"/settings/identities/{row.id}/unlink", page="/settings").status_code == 409
    assert "Set password" in ada.get("/settings/security").text
    refused = ada.submit("/settings/delete", page="/settings", name="ada")
    assert "has no password yet" in refused.text
    assert ada.submit("/settings/password", page="/settings", password=PASSWORD).status_code == 303
    assert browser().log_in("ada").status_code == 303
    assert ada.submit(f"/settings/identities/{row.id}/unlink", page="/settings").status_code == 303


@pytest.mark.slow
def test_a_deleted_account_takes_its_log_ins_along(browser, uni, database):
    from dynabench.people.accounts import service

    join(browser(), uni)
    database.write(service.delete_account, identities(database)[0].person_id)
    assert identities(database) == []
    assert come_back(browser(), uni).headers["location"] == "/login/provider/join"


@pytest.mark.parametrize(
    "issuer", ["http://example.org", "ftp://example.org", "https://", "example.org", "https://example.org?x=1"]
)
def test_an_issuer_is_an_encrypted_address(issuer):
    with pytest.raises(ValueError, match="issuer"):
        OidcProvider(name="uni", label="Uni", issuer=issuer, client_id="x")


def test_providers_are_read_from_the_environment_and_secrets_are_not_printed(monkeypatch):
    values = {"name": "uni", "label": "Uni", "issuer": "https://id.example.org", "client_id": "b"}
    provider = json.dumps([values | {"client_secret": "s3cret"}])
    monkeypatch.setenv("DYNABENCH_OIDC", provider)
    settings = Settings(secret="x" * 32)
    assert settings.oidc[0].client_secret == "s3cret"
    assert "s3cret" not in repr(settings)
    monkeypatch.setenv("DYNABENCH_OIDC", provider.replace("https://id.", "http://s3cret."))
    with pytest.raises(ValueError, match="https") as problem:
        Settings(secret="x" * 32)
    assert "s3cret" not in str(problem.value)
