"""Submissions, boards, evaluations, reports, archives and repositories that the authorization matrix is played with."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import reports, snapshots
from dynabench.benchmark.leaderboards.tables import Report, Snapshot
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets.archives import service as archives
from dynabench.hubs import discussions, uploads
from dynabench.hubs import service as hubs
from dynabench.hubs.file_store import HubFileStore, LargeFile
from dynabench.hubs.tables import HubDiscussionEvent, ReferenceKind, RepositoryKind
from dynabench.hubs.uploads import UploadTicket
from dynabench.hubs.xet.xorb_store import XorbStore
from dynabench.insight.data_measurements.results import Figure, MeasureResult, ResultColumn, Table
from dynabench.insight.data_reports import service as data_reports
from dynabench.insight.data_reports.report import DataReport, MeasuredFacts, ReportOptions, store_report
from dynabench.insight.data_reports.subjects import file_subject
from dynabench.kit.errors import NotFound
from dynabench.people.accounts.tables import Person
from tests import boards
from tests.api import things
from tests.api.scene import NAMES, SceneProps


class BenchmarkProps(SceneProps):
    """Results, repositories and archives, each with the number or the name by which routes know it."""

    def submission(self) -> int:
        """A private submission of the author's that waits for its check."""
        created = Submission(
            task_id="nli", kind="hub", name="hidden", person_id=self.callers["author"].id, visibility="private"
        )

        def make(session: Session) -> int:
            session.add(created)
            session.flush()
            return created.id

        return self.database.write(make)

    def row(self) -> int:
        """A row of the task's board, made when first asked for."""

        def make(session: Session) -> int:
            value = session.scalar(select(Submission.id).where(Submission.task_id == "nli"))
            return value or boards.furnish(session, "nli", [0.8], ["first"], rows=40)[0]

        return self.database.write(make)

    def report(self) -> int:
        """Results of others that were imported, made when first asked for."""

        def make(session: Session) -> int:
            rows = [{"model_name": "other", "metrics": {"Accuracy": "80"}}]
            content = orjson.dumps([{"datasets": [{"dataset": "First", "sota": {"rows": rows}}]}])
            value = session.scalar(select(Report.id))
            return value or reports.add_report(session, None, "nli", content, "https://example.org/tables").id

        return self.database.write(make)

    def board_copy(self, kind: str) -> str:
        """The address of a new snapshot, or of a new fork of the author's."""
        self.row()

        def make(session: Session) -> str:
            author = session.get_one(Person, self.ids[NAMES["author"]])
            if kind == "forks":
                return snapshots.make_fork(session, author, "nli", {}, "Mine").slug
            value = session.scalar(select(Snapshot.slug))
            return value or snapshots.take_snapshot(session, author, "nli", {}, "").slug

        return self.database.write(make)

    def hub(self, path: str) -> dict[str, Any]:
        """The author's public repository on the hub with a pull request, as parameters of a route."""
        settings = self.client.app.state.settings
        empty = LargeFile(hashlib.sha256(b"").hexdigest(), 0)
        module = "/spaces/" in path or "/modules/" in path
        kind = RepositoryKind.EVALUATION if module else RepositoryKind.MODEL

        def make(session: Session) -> dict[str, Any]:
            author = session.get_one(Person, self.callers["author"].id)
            name = hubs.claim_namespace(session, settings, author).name
            try:
                entry = hubs.find_entry(session, author, kind, name, "first")
            except NotFound:
                entry = hubs.create_repository(session, settings, author, kind, "first")
                discussions.open_discussion(session, author, entry, "Change", "Please look.", pull=True)
            rest = ".gitattributes" if "/resolve/" in path or "/files/{rest" in path else "main"
            if "/tag/" in path:
                rest = f"tag-{secrets.token_hex(4)}"
                hubs.create_reference(session, settings, author, entry, ReferenceKind.TAG, rest, "main")
            act = "download" if "/files/" in path else "upload"
            ticket = UploadTicket(act, entry.row.id, author.id, *empty, uploads.new_end()).sign(settings)
            discussion = discussions.find_discussion(session, entry, 1)
            first = func.min(HubDiscussionEvent.id)
            comment = session.scalar(select(first).where(HubDiscussionEvent.discussion_id == discussion.id))
            address = {"namespace": name, "name": "first", "rest": rest, "event": f"{comment:024x}"}
            return address | {"ticket": ticket, "revision": entry.row.head}

        parts = [
            part for part in ("/spaces/", "/modules/", "/resolve/", "/files/", "/files/{rest", "/tag/") if part in path
        ]
        parameters = dict(self.once(("hub", *parts), make))
        if "/files/" in path:
            store = HubFileStore.of(settings)
            store.keep(store.receive(), empty)
        parameters["rest"] = f"main/{parameters['rest']}" if "/resolve/" in path else parameters["rest"]
        place = XorbStore.open_for(settings, 1, self.callers["author"].id).name
        xet = {"place": place, "xorb": "0" * 64, "prefix": "default-merkledb", "chunk": "0" * 64}
        return parameters | {"kinds": "models", "number": 1, "part": "revision"} | xet

    def data_report(self) -> str:
        """A report that the author asked for and that is finished."""
        author, settings = self.callers["author"].id, self.client.app.state.settings
        result = MeasureResult("2 rows", (Figure("rows", "Rows", 2.0),))
        rows = Table("rows", "Texts", (ResultColumn("row", "Row"),), ((1, -1, "", "", "A text."),), (0,))
        results = {"general": result, "themes": MeasureResult("No clusters", (), (rows,))}
        report = DataReport(MeasuredFacts("rows.jsonl", "0", 2, {"texts": ["text"], "label": ""}), results)
        store_report(settings, "0" * 64, report)

        def make(session: Session) -> str:
            subject = file_subject(Path("rows.jsonl"), "rows.jsonl")
            person = session.get_one(Person, author)
            job = data_reports.request_report(session, person, subject, ReportOptions())
            session.flush()
            data_reports.finish_job(session, job.id, {"key": "0" * 64})
            return job.id

        return self.once("data report", make)

    def archive(self) -> str:
        """An archive of the task that its owner asked for."""
        owner = self.callers["owner"].id
        return self.database.write(
            lambda session: archives.request_export(session, session.get_one(Person, owner), "nli").id
        )

    def evaluation(self) -> int:
        """An evaluation of a model that `author` submitted, which failed; its record is an earlier run's."""
        if not self.scene.evaluation:
            self.scene.evaluation = self.database.write(things.evaluated, self.callers["author"].id)
        return self.scene.evaluation

    def open_evaluation(self) -> int:
        """A new open evaluation of `author`, which failed and may be deleted."""
        settings = self.client.app.state.settings
        return self.database.write(things.open_evaluated, settings, self.callers["author"].id)
