"""A platform that has been used: what a backup has to bring back, made by the services that make it in earnest."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from dynabench.benchmark.evaluations import records
from dynabench.benchmark.evaluations.tables import Evaluation, Record
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.site.app import create_app
from tests import boards
from tests.api.route import MAY
from tests.api.routes import ROUTES
from tests.api.stage import Scene, Stage, new_stage
from tests.releases import world as releases

ROLES = ("admin", "anon")
LEFT_OUT = {"/metrics"}  # figures of one process
SKILLS = (0.9, 0.8, 0.7)
ALIKE = 2
"""Links that are followed of those which differ in numbers and choices alone."""
ATTEMPTS = 3
NOT_FOLLOWED = ("/static", "/logout", "/metrics", "/api/")
LINK = re.compile(r'(?:href|src)="(/[^"#]*)"')
VARYING = (
    re.compile(r'(name="csrf(?:-token)?" (?:value|content)=")[^"]+'),
    re.compile(r'("?X-CSRF-Token"?: ?"?)[0-9a-f.]+'),
    re.compile(r"(nonce[-=]\"?)[\w+/=-]+"),
    re.compile(r'(name="key" id="try-key" value=")[0-9a-f]+'),
    # how long the model host took just now, and how often this process asked it
    re.compile(r"()\b[\d.]+ ms\b"),
    re.compile(r"()\b\d+ answers\b"),
    re.compile(r'("health":)\{[^}]*\}'),
    re.compile(r'()<span>(?:<span class="nowrap">p50 .*?|<span class="muted">not used recently)</span></span>'),
    re.compile(r'("used_at":)"[^"]*"'),
    re.compile(r'(^\{"made_at":)"[^"]*"'),  # when the file of one's own data was made
    re.compile(r'("casUrl":)"[^}]*'),  # a token for uploads begins now
    re.compile(r"()\b\d+ (?:s|min) ago\b"),
    re.compile(r'(<td><time datetime=")[^>]*(?=>\*</time></td>\n)'),  # when a token was used: by this very test
    re.compile(r"(T[\d:.]+\+00:00,)20[^,]*(?=,\d+,(?:True|False),)"),  # when an account was used: by this very test
    re.compile(r'("seen_at":)"[^"]*"'),  # notices are marked as seen by the page that shows them
    # the machine and the place of a platform: its database and disk, and the settings of its process
    re.compile(r'(<span class="health-figure">)[^<]*'),
    re.compile(r'("name":"(?:database|disk)","state":"\w+","figure":)"[^"]*"'),
    re.compile(r"(?s)(<code>DYNABENCH_).*(?=</table>)"),
    re.compile(r'(name="expires_at" value=")[^"]+'),  # when a place that was given just now ends
)


def filled(settings: Settings) -> Scene:
    """Examples, votes, datasets, pictures, releases, evaluations, signed records, boards; returns who there is."""
    with new_stage(settings) as stage:
        stage.picture()
        stage.board_copy("snapshots")
        stage.measured()
        stage.database.write(_answer_rows, settings)
        stage.database.write(_sign, settings)
        releases.released(releases.collected(stage.database), settings)
        model = settings.folder / "models" / "mine"
        model.mkdir(parents=True)
        (model / "weights.txt").write_text("of a model that was installed\n")
        (settings.folder / "cache").mkdir()
        (settings.folder / "cache" / "large").write_text("made again when it is missing\n")
        assert settings.key
        return stage.scene


def _answer_rows(session: Session, settings: Settings) -> None:
    """Rows for the datasets of the boards, and what the models answered to them."""
    entered = session.scalars(
        select(Submission.id).where(Submission.task_id == "nli", Submission.version.like("00%")).order_by(Submission.id)
    ).all()
    first = session.scalars(select(Dataset).where(Dataset.name.in_(("first", "second"))).order_by(Dataset.id)).all()
    for row in session.scalars(select(DatasetVersion).where(DatasetVersion.digest.like("00%"))):
        rows = [StoredRow(f"r{row.id}-{n}", {"premise": f"Scene {n}.", "hypothesis": "So it is."},
                       ({"label": "entailment"},)) for n in range(row.rows)]  # fmt: skip
        row.digest = stored.write_rows(settings, rows).digest
        dataset = session.get_one(Dataset, row.dataset_id)
        if dataset in first:
            for submission, skill in zip(entered[: len(SKILLS)], SKILLS, strict=True):
                _answers(session, settings, row, submission, rows, skill)
    session.flush()


def _answers(
    session: Session, settings: Settings, version: DatasetVersion, submission: int, rows: list[StoredRow], skill: float
) -> None:
    source = select(Evaluation).where(Evaluation.submission_id == submission, Evaluation.version_id == version.id)
    right = boards.np.random.default_rng([version.id, 0]).random(len(rows)) < skill
    boards._shards(session, settings, session.scalars(source).one().id, rows, right)


def _sign(session: Session, settings: Settings) -> None:
    """A record of each evaluation that has answers; the stage's own, which nobody signed, is signed, too."""
    for row in session.scalars(select(Record)):
        row.document = row.document | {"key": records.public_keys(settings)[0]}
        row.signature = records.sign_document(settings, row.document)
    session.flush()
    for evaluation in session.scalars(select(Evaluation.id).where(Evaluation.state == "done").order_by(Evaluation.id)):
        records.store_record(session, settings, evaluation)


def addresses(stage: Stage) -> list[tuple[str, str, dict[str, str] | None]]:
    """Every GET route, with real things in place of its parameters, for each of `ROLES` who may read it."""
    result = []
    for (method, path), route in ROUTES.items():
        if method == "GET" and path not in LEFT_OUT:
            result += [(role, stage.address(path, role), route.params) for role in ROLES if role in MAY[route.access]]
    return result


def get(stage: Stage, role: str, address: str, params: dict[str, str] | None = None) -> Any:
    """Ask as a browser for pages, as a program for the API."""
    Seeded.request = f"{role} {address} {params}"
    if address.startswith("/api/") and role != "anon":
        return stage.callers[role].get(address, params=params)
    client = stage.browsers[role] if not address.startswith("/api/") else stage.client
    return client.get(address, params=params)


def reached(stage: Stage, role: str, begin: Iterable[str], most: int) -> list[str]:
    """The pages, pictures and files that one reaches by links, `most` at most and `ALIKE` of a kind."""
    waiting, seen, kinds = list(begin), dict.fromkeys(begin), Counter[str]()
    while waiting and len(seen) < most:
        answer = get(stage, role, waiting.pop(0))
        if answer.headers.get("content-type", "").startswith("text/html"):
            for link in LINK.findall(answer.text):
                address = link.replace("&amp;", "&")
                kind = re.sub(r"\d+|=[^&]*", "", address)
                if address in seen or kinds[kind] == ALIKE or address.startswith(NOT_FOLLOWED):
                    continue
                kinds[kind] += 1
                seen[address] = None
                waiting.append(address)
    return list(seen)[:most]


def summarize(answer: Any) -> tuple[int, str, Any]:
    """Return the content of an answer, without what differs each time it is asked for."""
    content: Any = answer.content
    if answer.headers.get("content-type", "").startswith(("text/", "application/json", "application/problem")):
        content = answer.text
        for item in VARYING:
            content = item.sub(r"\1*", content)
    return answer.status_code, answer.headers.get("location", ""), content


class Seeded(random.Random):
    """Draws alike whenever the same person asks for the same: contexts are drawn anew for each visitor.

    Different requests draw differently: contexts with one random key come in an order of the database's own.
    """

    request = ""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(self.request if seed is None else seed)


@contextmanager
def opened(settings: Settings, models: str, scene: Scene) -> Iterator[Stage]:
    """The platform over these settings and a host at `models`, with everybody of the scene at the door."""
    host = Host(models, 30.0)
    with TestClient(create_app(settings, host=host), follow_redirects=False) as client:
        stage = Stage(client, client.app.state.db, scene)
        yield stage
        stage.close()
        client.portal.call(host.close)


def differences(
    left_side: Stage, other: Stage, requests: list[tuple[str, str, dict[str, str] | None]], in_order: bool = True
) -> tuple[list[str], Counter[tuple[str, int]]]:
    """The addresses to which two platforms answer differently, with the place where the answers part; and how often
    the first answered each role with each status.

    Not `in_order` for two kinds of databases: PostgreSQL keeps the members of JSON objects in an order of its own.
    What differs is asked for anew: on a busy machine the first answers may report a host that is late.
    """
    result, statuses = [], Counter[tuple[str, int]]()
    for role, address, params in requests:
        for _ in range(ATTEMPTS):
            first, second = (
                summarize(get(left_side, role, address, params)),
                summarize(get(other, role, address, params)),
            )
            if first == second or (first[:2] == second[:2] and not in_order and _alike(first[2], second[2])):
                break
        else:
            result.append(f"{role} GET {address} {params or ''}: {_apart(first, second)}")
        statuses[role, first[0]] += 1
    return result, statuses


def _alike(first: Any, second: Any) -> bool:
    """Compare lines of JSON by their values, or texts have the same letters."""
    try:
        return all(json.loads(a) == json.loads(b) for a, b in zip(first.splitlines(), second.splitlines(), strict=True))
    except ValueError:
        return sorted(first) == sorted(second)


def _apart(first: tuple[int, str, Any], second: tuple[int, str, Any]) -> str:
    if first[:2] != second[:2]:
        return f"{first[:2]} and {second[:2]}"
    place = next((n for n, (a, b) in enumerate(zip(first[2], second[2], strict=False)) if a != b), 0)
    return f"{first[2][max(place - 60, 0) : place + 60]!r} and {second[2][max(place - 60, 0) : place + 60]!r}"
