"""One deployment in which configs are played one after the other: saved, opened, drawn, written in, checked, packed."""

import io
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from starlette.testclient import TestClient

from dynabench.datasets.archives import service as direct
from dynabench.kit.errors import Unavailable
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import MediaFacts
from dynabench.models.client import Host
from dynabench.models.protocol import ModelCard
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import ContextRow
from dynabench.site.app import create_app
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Audio, FileField, Image
from tests.archives.packing import alike
from tests.collection.conftest import promoted
from tests.conftest import Browser, Caller, register
from tests.fuzz import values
from tests.media import files

JUDGE = ModelCard("judge", "1", "any", "rule", ("it",), "label", ("right", "wrong"))
PUBLIC = ("", "/rounds/1", "/create")
MORE = ("/people", "/models", "/leaderboard", "/datasets", "/ledger", "/humans", "/submit")
CONSOLE = ("/config", "/contexts", "/examples")
MORE_CONSOLE = ("", "/rounds", "/rounds/1", "/rounds/1/plan", "/people", "/settings", "/moderation", "/data")
MORE_CONSOLE += ("/archives", "/log", "/figures", "/config/versions/1", "/announcements")


class Stage:
    """The deployment, with its admin, who owns all tasks, and somebody who writes and checks at pages."""

    def __init__(self, client: TestClient, settings: Settings, folder: Path) -> None:
        self.client, self.settings, self.folder = client, settings, folder
        self.db = client.app.state.db
        self.root = promoted(register(client, "root"))
        self.people = [register(client, name) for name in ("ada", "bob", "cleo")]
        self.pages, self.console = Browser(client), Browser(client)
        self.pages.log_in("bob")
        self.console.log_in("root")
        image, audio, file = Image(name="i"), Audio(name="a"), FileField(name="f")
        text = b"A plain text, long enough to be told as one.\n"
        self.media = [media.store_upload(settings, *item) for item in
                     [(files.picture(size=(32, 24)), image), (files.sound(), audio), (text, file)]]  # fmt: skip
        answer = [{"media": digest, **facts.document()} for digest, facts in self.media]
        self.store = values.Store(*answer)

    def prepare(self, source: str, config: TaskConfig, rng: Random) -> None:
        """Save the task with two contexts, files for everybody, and a round without models that is open."""
        answer = self.root.post("/api/v1/tasks", json={"config": source})
        assert answer.status_code == 201, answer.text
        stored: list[tuple[str, MediaFacts, str]] = [(digest, facts, "") for digest, facts in self.media]
        rows = (
            [ContextRow(n, values.valid(rng, config.context, self.store, {}), "tag") for n in (1, 2)]
            if config.context
            else []
        )

        def make(session: Any) -> Any:
            for person in (None, *[element.id for element in self.people]):
                media.record_uploads(session, config.id, person, stored)
            for item in self.people:
                service.set_role(session, None, config.id, item.name, "annotator")
            created = contexts.add_contexts(session, config.id, config, rows)
            judge = JUDGE if config.fooled.judged_by == "model" else None
            service.draft_round(session, None, config.id, [], judge=judge)
            service.open_round(session, None, config.id, 1)
            return created

        fresh = self.db.write(make)
        assert fresh.errors == [], fresh.errors

    def draw(self, config: TaskConfig, source: str, example: int, every: bool) -> None:
        """Ask for the pages that show the config or what was written under it, or for `every` page of the task."""
        checked = self.console.submit("/tasks/new", page="/settings", config=source, then="check")
        assert "Preview for annotators" in checked.text, checked.text[-3000:]
        here = f"/tasks/{config.id}"
        public, owners = (PUBLIC + MORE, CONSOLE + MORE_CONSOLE) if every else (PUBLIC, CONSOLE)
        console = [f"{here}/manage{page}" for page in (*owners, f"/examples/{example}")]
        for request, pages in ((self.pages, [here + page for page in public]), (self.console, console)):
            for page in pages:
                response = request.get(page)
                assert response.status_code == 200, (page, response.status_code, response.text[-2000:])

    def draw_handout(self, config: TaskConfig) -> tuple[dict[str, Any], dict[str, Any]]:
        """A context that ada is given, and all of its values."""
        link = {field.key: "abc" for field in config.link}
        got = self.people[0].post(f"/api/v1/tasks/{config.id}/contexts/next", json={"link": link})
        assert got.status_code == 200, got.text
        document = got.json()
        row = self.db.read(lambda session: dict(session.get_one(contexts.Context, document["id"]).values))
        return document, row

    def write(self, config: TaskConfig, rng: Random) -> tuple[int, dict[str, Any]]:
        """A valid example, accepted and explained; its id and what was sent."""
        handout, context = self.draw_handout(config)
        input = values.valid(rng, config.input, self.store, context)
        around = {**context, **input}
        answer = values.valid(rng, config.answer, self.store, around) | (handout["goal"] or {})
        body = {"context_id": handout["id"], "input": input, "answer": answer}
        if handout.get("handout"):
            body["handout"] = handout["handout"]
        self.refuse(config, rng, body)
        sent = self.people[0].post(f"/api/v1/tasks/{config.id}/examples", json=body)
        assert sent.status_code == 201, (body, sent.text)
        number = int(sent.json()["id"])
        document = self.people[0].get(f"/api/v1/examples/{number}").json()
        clean = config.clean_input(input, context)
        assert document["input"] == json.loads(json.dumps(clean)), (document["input"], clean)
        ask = values.valid(rng, config.ask, self.store, {**around, **answer})
        response = self.people[0].post(f"/api/v1/examples/{number}/explanations", json=ask)
        assert response.status_code == 201, (ask, response.text)
        self.compare(config, rng, {**around}, answer)
        return number, body

    def refuse(self, config: TaskConfig, rng: Random, body: dict[str, Any]) -> None:
        """Check that a value outside the field's range is refused with its name, on the page too."""
        parts = [(part, field) for part in ("input", "answer") for field in config.fields(part) if not field.when]
        part, field = rng.choice(parts)
        wrong = body | {part: body[part] | {field.name: values.invalid(rng, field)}}
        sent = self.people[0].post(f"/api/v1/tasks/{config.id}/examples", json=wrong)
        assert sent.status_code == 422, (wrong, sent.text)
        assert any(key.startswith(f"{part}.{field.name}") for key in sent.json()["fields"]), (wrong, sent.json())
        posted = {"context_id": str(body["context_id"]), f"{part}.{field.name}": "no such \u0007", "sandbox": "true"}
        again = self.pages.submit(f"/tasks/{config.id}/create", page="/settings", **posted)
        assert again.status_code in (200, 422), again.text[-2000:]

    def compare(self, config: TaskConfig, rng: Random, handout: dict[str, Any], claimed: dict[str, Any]) -> None:
        """The fooling rule says of any answer that the fields hold whether it fools."""
        reply = values.valid(rng, config.answer, self.store, handout)
        chosen = {str(value): 0.5 for value in reply.values() if isinstance(value, str)}
        for answer in (reply, claimed):
            with suppress(Unavailable):  # where an optional answer is missing, or has no probability
                assert config.fooled_by(answer, claimed, handout, chosen) in (True, False)
            assert config.agrees(answer, claimed, handout) in (True, False)

    def check(self, config: TaskConfig, rng: Random, example: int, body: dict[str, Any]) -> None:
        """The validator's page is drawn, and a vote with what is asked beside it is taken, where the example waits."""
        response = self.pages.get(f"/tasks/{config.id}/validate")
        assert response.status_code == 200, response.text[-2000:]
        bob = self.people[1]
        item = bob.post(f"/api/v1/tasks/{config.id}/validations/next")
        assert item.status_code in (200, 204), item.text
        if item.status_code == 204:
            return
        around = {**body["input"], **body["answer"]}
        request = values.valid(rng, config.validation.ask, self.store, around)
        vote: dict[str, Any] = {"vote": rng.choice(["correct", "incorrect", "flagged"])}
        vote = {"answer": body["answer"]} if item.json()["mode"] == "answer" else vote | request
        sent = bob.post(f"/api/v1/examples/{example}/validations", json=vote)
        assert sent.status_code == 201, (vote, sent.text)

    def pack(self, config: TaskConfig) -> None:
        """The task's archive brought in under another name makes the same archive."""
        self.db.write(service.close_round, None, config.id, 1)
        before, copy = self._packed(config.id), f"{config.id}-copy"
        path = self.folder / "task.zip"
        path.write_bytes(before)
        archive = direct.import_archive(self.db, self.settings, path, copy, "")
        if config.media and archive.refused:  # archives leave out what shows files, and say so
            assert all("This file is missing." in why for _, _, why in archive.refused), archive.refused
            return
        assert not archive.refused, archive.refused
        assert not archive.notes, archive.notes
        assert alike(self._packed(copy), config.id) == alike(before, config.id)

    def _packed(self, task: str) -> bytes:
        held = io.BytesIO()
        direct.export_archive(self.db, self.settings, task, held, lambda *_: None, examples=True)
        return held.getvalue()


@contextmanager
def stage(template: Path, folder: str | None) -> Iterator[Stage]:
    """A deployment of its own over a copy of an empty database."""
    with tempfile.TemporaryDirectory(prefix="dynabench-", dir=folder, ignore_cleanup_errors=True) as place:
        home = Path(place)
        (home / "fuzz.sqlite").write_bytes(template.read_bytes())
        url = f"sqlite:///{home / 'fuzz.sqlite'}"
        settings = Settings(
            home=home,
            database_url=url,
            secret="a secret for tests of 32 bytes or more",
            password_cost=1,
            rate_limit=False,
        )
        host = Host(f"unix:{home / 'nobody.sock'}", 0.5)
        with TestClient(create_app(settings, host=host), follow_redirects=False) as client:
            yield Stage(client, settings, home)


__all__ = ["Caller", "Stage", "stage"]
