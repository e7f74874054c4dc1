"""Published modules on the platform: the page that computes, the API, flags, and modules that an administrator hid."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.evaluation_modules import service as modules
from dynabench.hubs.tables import HubRepository, RepositoryFlag
from dynabench.models.sandbox.box import HandlerOptions
from dynabench.people.accounts.tables import Person
from tests.conftest import Browser, Caller
from tests.published_modules.writing import module_files

PAGE, API = "/hub/spaces/ada/agreement/compute", "/api/v1/hub/modules/ada/agreement"
COLUMNS = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, 0]}
TYPED = {"column.predictions": "0\n1\n1\n0", "column.references": "0\n1\n0\n0"}


def publish(person: Caller, name: str = "agreement", private: bool = False, **code: str) -> str:
    """Commit a module with the hub's API; the commit."""
    body = {"name": name, "type": "space", "private": private}
    person.post("/api/hub/api/repos/create", json=body)
    lines: list[dict[str, Any]] = [{"key": "header", "value": {"summary": "Publish"}}]
    for path, data in module_files(**code).items():
        content = {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"}
        lines.append({"key": "file", "value": content})
    answer = person.post(
        f"/api/hub/api/spaces/{person.name}/{name}/commit/main",
        content="".join(json.dumps(line) + "\n" for line in lines),
        headers={"Content-Type": "application/x-ndjson"},
    )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["commitOid"])


@pytest.fixture
def ada(person: Callable[[str], Caller]) -> Caller:
    return person("ada")


@pytest.fixture
def admin(person: Callable[[str], Caller], database: Any) -> Caller:
    root = person("root")

    def promote(session: Session) -> None:
        session.get_one(Person, root.id).admin = True

    database.write(promote)
    return root


@pytest.fixture
def visitor(browser: Callable[[], Browser]) -> Browser:
    return browser()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modules, "LIMITS", HandlerOptions(**{**modules.LIMITS.model_dump(), "predict_seconds": 3.0}))


@pytest.mark.slow
def test_a_visitor_without_scripts_computes_an_example_and_reads_how_to_load_this_commit(ada: Caller, visitor: Browser):
    commit = publish(ada)
    page = visitor.get(PAGE).text
    assert re.search(r'name="column.predictions"[^>]*>\s*0\n1</textarea>', page)
    assert f"dynabench module trust ada/agreement@{commit}" in page
    assert f"revision=&#34;{commit}&#34;" in page
    assert "It says nothing of single classes." in page
    computed = visitor.submit(PAGE, page=PAGE, **TYPED, interval="true")
    assert computed.status_code == 200
    assert re.search(r'class="calc-number"[^>]*><strong[^>]*>0.75', computed.text)
    assert "95%" in computed.text
    part = visitor.submit(PAGE, page=PAGE, htmx=True, **TYPED)
    assert "<html" not in part.text
    assert 'id="calc"' in part.text
    file = visitor.submit(PAGE, page=PAGE, **TYPED, **{"as": "json"})
    assert file.json() == {"agreement": 0.75}
    wrong = visitor.submit(PAGE, page=PAGE, **{**TYPED, "column.references": "0\n1"})
    assert wrong.status_code == 422
    assert "all columns need one value for each example" in wrong.text.lower()
    assert "0\n1\n1\n0" in wrong.text, "the rows stay in the form"
    table = visitor.submit(PAGE, page=PAGE, table="predictions,references\n1,1\n0,1\n")
    assert re.search(r'class="calc-number"[^>]*><strong[^>]*>0.5', table.text)


@pytest.mark.slow
def test_the_api_has_the_card_and_computes_a_commit(ada: Caller, client: Any):
    first = publish(ada)
    second = publish(ada, formula='return {"agreement": 0 * total[..., 0]}')
    card = client.get(API).json()
    assert (card["name"], card["repository"], card["revision"]) == ("agreement", "ada/agreement", second)
    body = {"columns": COLUMNS, "interval": 0.9, "per_example": True}
    answer = client.post(f"{API}/compute?revision={first}", json=body).json()
    assert (answer["result"]["agreement"], answer["revision"]) == (0.75, first)
    assert answer["result"]["per_example"]["agreement"] == [1, 1, 0, 1]
    assert set(answer["result"]["interval"]["agreement"]) >= {"low", "high"}
    assert client.post(f"{API}/compute", json={"columns": COLUMNS}).json()["result"] == {"agreement": 0.0}
    unknown = client.post(f"{API}/compute", json={"columns": {"data": [1]}, "options": {"no": 1}})
    assert unknown.status_code == 422
    assert {"columns.data", "options.no"} <= set(unknown.json()["fields"])
    assert client.get(f"{API}?revision={'0' * 40}").status_code == 404


def test_a_repository_without_a_declaration_says_what_to_do(ada: Caller, visitor: Browser, client: Any):
    ada.post("/api/hub/api/repos/create", json={"name": "empty", "type": "space"})
    page = visitor.get("/hub/spaces/ada/empty/compute")
    assert page.status_code == 200
    assert "declares no module" in page.text
    assert "dynabench module publish" in page.text
    assert visitor.submit("/hub/spaces/ada/empty/compute", page=PAGE.replace("agreement", "empty")).status_code == 422
    assert client.post("/api/v1/hub/modules/ada/empty/compute", json={"columns": {}}).status_code == 422


@pytest.mark.release
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ({"update": "while True: pass"}, "took longer than 3 s"),
        ({"update": "open('/etc/hostname').read()"}, "No such file"),
        ({"update": "import socket; socket.create_connection(('127.0.0.1', 80), 1)"}, "refused|unreachable"),
        ({"update": "raise KeyError('<b>bold</b>')"}, "&lt;b&gt;bold"),
        ({"formula": 'return {"agreement": 5 + total[..., 0]}'}, "its card says 0 to 1"),
        ({"before": "raise SystemExit(3)"}, "SystemExit"),
    ],
)
def test_what_goes_wrong_in_a_module_is_told_on_the_page(
    ada: Caller, visitor: Browser, code: dict[str, str], message: str
):
    publish(ada, **code)
    page = visitor.submit(PAGE, page=PAGE, **TYPED)
    assert page.status_code == 422
    assert re.search(message, page.text)
    assert "<b>bold</b>" not in page.text


@pytest.mark.slow
def test_the_rows_of_one_visitor_never_reach_another(ada: Caller, client: Any):
    publish(
        ada,
        before="from pathlib import Path\nKEPT = []\n",
        update="KEPT.append(list(predictions)); Path('/tmp/rows').open('a').write(str(predictions))\n"
        "        if len(KEPT) > 1 or Path('/tmp/rows').stat().st_size > 20: raise ValueError('seen before')",
    )
    for _time in range(3):
        answer = client.post(f"{API}/compute", json={"columns": COLUMNS})
        assert answer.json()["result"] == {"agreement": 0.75}


@pytest.mark.slow
def test_too_many_computations_are_refused_and_heal(ada: Caller, client: Any, monkeypatch: pytest.MonkeyPatch):
    publish(ada)
    monkeypatch.setattr(modules, "WAIT_SECONDS", 0.05)
    for _place in range(modules.PARALLEL):
        assert modules._running.acquire(blocking=False)
    refused = client.post(f"{API}/compute", json={"columns": COLUMNS})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    for _place in range(modules.PARALLEL):
        modules._running.release()
    assert client.post(f"{API}/compute", json={"columns": COLUMNS}).status_code == 200


@pytest.mark.slow
def test_a_private_module_is_computed_by_its_owner_alone(ada: Caller, person: Callable[[str], Caller], client: Any):
    publish(ada, private=True)
    ben = person("ben")
    for sender in (client, ben):
        assert sender.get(API).status_code == 404
        assert sender.post(f"{API}/compute", json={"columns": COLUMNS}).status_code == 404
        assert sender.get(PAGE).status_code == 404
        assert sender.get("/hub/spaces/ada/agreement/flag").status_code in (303, 404)
    assert ada.post(f"{API}/compute", json={"columns": COLUMNS}).status_code == 200


def flagged(database: Any) -> list[tuple[str, str, str]]:
    def read(session: Session) -> list[tuple[str, str, str]]:
        rows = session.scalars(select(RepositoryFlag).order_by(RepositoryFlag.id))
        return [(row.reason, row.text, row.state) for row in rows]

    return list(database.read(read))


FLAG = "/hub/spaces/ada/agreement/flag"


@pytest.mark.slow
def test_a_flag_is_one_for_each_person_and_an_administrator_hides_or_dismisses(
    ada: Caller, admin: Caller, visitor: Browser, browser: Callable[[], Browser], database: Any, client: Any
):
    publish(ada)
    visitor.join("ben")
    assert "Choose a reason" in visitor.submit(FLAG, page=FLAG, reason="", text="x").text
    assert flagged(database) == []
    for text in ("It steals.", "It steals rows."):
        assert visitor.submit(FLAG, page=FLAG, reason="harmful", text=text).status_code == 303
    assert flagged(database) == [("harmful", "It steals rows.", "waiting")]
    assert "An administrator will look" in visitor.get(FLAG).text
    for path in ("/hub/flags", "/hub/flags.csv"):
        assert visitor.get(path).status_code == 403
    refused = visitor.submit(f"{FLAG}s/decide", page=FLAG, hide="true")
    assert refused.status_code == 403

    root = browser()
    root.log_in("root")
    assert "It steals rows." in root.get("/hub/flags").text
    csv = root.get("/hub/flags.csv").text
    assert "It steals rows." in csv
    assert "ben" not in csv
    assert root.submit(f"{FLAG}s/decide", page="/hub/flags", hide="true").status_code == 303
    assert flagged(database)[0][2] == "upheld"
    assert "All caught up" in root.get("/hub/flags").text
    for path in (PAGE, "/hub/spaces/ada/agreement", API, "/api/hub/api/spaces/ada/agreement"):
        assert client.get(path).status_code in (401, 404), path
    assert client.get("/api/hub/spaces/ada/agreement/resolve/main/agreement.py").status_code in (401, 404)
    assert "ada/agreement" not in client.get("/hub?kind=spaces").text
    assert "ada/agreement" not in client.get("/api/hub/api/spaces").text
    assert ada.get("/api/hub/api/spaces/ada/agreement").status_code == 200

    assert root.submit(f"{FLAG}s/decide", page=FLAG, hide="").status_code == 303
    assert client.get(PAGE).status_code == 200
    assert visitor.submit(FLAG, page=FLAG, reason="wrong", text="Still.").status_code == 303
    assert root.submit(f"{FLAG}s/decide", page="/hub/flags", hide="").status_code == 303
    assert flagged(database) == [("wrong", "Still.", "dismissed")]
    assert client.get(PAGE).status_code == 200


def test_the_owner_of_a_hidden_module_sees_it_and_why(
    ada: Caller, admin: Caller, browser: Callable[[], Browser], database: Any
):
    publish(ada)
    database.write(lambda session: setattr(session.scalars(select(HubRepository)).one(), "hidden", True))
    mine = browser()
    mine.log_in("ada")
    assert "An administrator hid this repository" in mine.get(PAGE).text
    own = mine.submit(FLAG, page=FLAG, reason="spam", text="")
    assert own.status_code == 422
    assert "This is your own repository" in mine.get(FLAG).text or "Your own repository" in mine.get(FLAG).text


@pytest.mark.slow
def test_deleting_an_account_deletes_its_flags(
    ada: Caller, person: Callable[[str], Caller], database: Any, browser: Callable[[], Browser]
):
    publish(ada)
    ben = browser()
    ben.join("ben")
    ben.submit(FLAG, page=FLAG, reason="spam", text="Buy this.")
    assert flagged(database)

    def token(session: Session) -> str:
        from dynabench.people.accounts import service
        from dynabench.people.accounts.tables import SCOPES

        account = session.scalars(select(Person).where(Person.username == "ben")).one()
        return service.create_token(session, account.id, "API", list(SCOPES))[1]

    headers = {"Authorization": f"Bearer {database.write(token)}"}
    own = ada.client.get("/api/v1/me/data", headers=headers).json()
    assert [row["text"] for row in own["flags_of_repositories"]] == ["Buy this."]
    body = {"confirm": "ben", "password": "correct horse battery"}
    assert ada.client.post("/api/v1/me/deletion", json=body, headers=headers).status_code == 204
    assert flagged(database) == []
