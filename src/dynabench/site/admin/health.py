"""The health of a deployment: each part with its state, a figure, and what an administrator does about it."""

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import Request
from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from dynabench import __version__
from dynabench.kit import errors, job_control
from dynabench.kit.db import Database, now
from dynabench.kit.jobs import WorkerBeat
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.client import Host
from dynabench.people.mailings import Mailing, MailingState
from dynabench.rounds import round_models
from dynabench.web.filters import moment as moment_text
from dynabench.web.filters import number, size

MIB = 2**20
SILENT = timedelta(seconds=90)
"""After which a worker that says nothing counts as gone; it says something every twenty seconds."""
LONG = timedelta(minutes=2)
"""How long a job may wait before the queue is worth a look."""
DAY = timedelta(days=1)


class HealthState(StrEnum):
    """States of a part: all is well, it needs attention, it does not work, or it is not set up."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    OFF = "off"


@dataclass(frozen=True)
class HealthPart:
    """One part of the deployment; `advice` is empty where nothing has to be done."""

    name: str
    label: str
    state: HealthState
    figure: str
    advice: str = ""
    link: str = ""


async def health_parts(request: Request) -> list[HealthPart]:
    """Return all parts, each asked at the same time; one that fails says so and keeps no other from its turn."""
    state = request.app.state
    settings: Settings = state.settings
    database: Database = state.db
    parts = await asyncio.gather(
        _web(),
        _database(database, settings),
        _hosts(state.host, database),
        _workers(database),
        _queue(database, settings),
        to_thread.run_sync(_disk, settings),
        _mail(database, settings),
    )
    return list(parts)


async def _web() -> HealthPart:
    figure = _("version %(version)s, process %(pid)s", version=__version__, pid=os.getpid())
    return HealthPart("web", _("Web"), HealthState.GOOD, figure)


async def _database(database: Database, settings: Settings) -> HealthPart:
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    try:
        stored = await database.aread(_database_size, settings)
    except Exception as error:
        return HealthPart("database", _("Database"), HealthState.BAD, str(error)[:200], _("Start the database."))
    figure = _("%(kind)s, %(size)s", kind=kind, size=size(stored)) if stored else kind
    return HealthPart("database", _("Database"), HealthState.GOOD, figure)


def _database_size(session: Session, settings: Settings) -> int:
    if not settings.url.startswith("sqlite"):
        return int(session.scalar(text("SELECT pg_database_size(current_database())")) or 0)
    session.execute(text("SELECT 1"))
    file = Path(settings.url.removeprefix("sqlite:///"))
    return file.stat().st_size if file.is_file() else 0


async def _hosts(host: Host, database: Database) -> HealthPart:
    label, link = _("Model hosts"), "admin_models"
    try:
        states = await host.states()
        present, total = len([1 for connection in host.connections if connection.present]), len(host.connections)
    except errors.Unavailable:
        advice = _("Start one with dynabench serve or dynabench host. Nobody can write examples until one answers.")
        return HealthPart("host", label, HealthState.BAD, _("no answer"), advice, link)
    ready = {(state.name, state.version) for state in states if state.state == "READY"}
    able = {(state.name, state.version) for state in states if state.available}
    missing = [key for key in await database.aread(round_models.models_of_open_rounds) if key not in able]
    broken = [state.name for state in states if state.state == "UNAVAILABLE" and not state.on_demand]
    figure = _(
        "%(present)s of %(total)s answer, %(ready)s of %(models)s models loaded",
        present=present,
        total=total,
        ready=len(ready),
        models=len(states),
    )
    if missing:
        names = ", ".join(sorted({name for name, _version in missing})[:5])
        advice = _("Models of open rounds are not served: %(names)s. Load them again.", names=names)
        return HealthPart("host", label, HealthState.BAD, figure, advice, link)
    if present < total:
        return HealthPart("host", label, HealthState.WARN, figure, _("Start the hosts that do not answer."), link)
    if broken:
        advice = _("Some models cannot be loaded: %(names)s.", names=", ".join(sorted(set(broken))[:5]))
        return HealthPart("host", label, HealthState.WARN, figure, advice, link)
    return HealthPart("host", label, HealthState.GOOD, figure, "", link)


async def _workers(database: Database) -> HealthPart:
    beats = await database.aread(job_control.list_workers)
    return worker_part(beats, now())


def worker_part(beats: Sequence[WorkerBeat], moment: datetime) -> HealthPart:
    """Return the state of the workers by their signs of life."""
    label = _("Worker")
    alive = [beat for beat in beats if moment - beat.seen_at < SILENT]
    if alive:
        figure = _("%(n)s running since %(when)s", n=len(alive), when=moment_text(alive[0].started_at))
        return HealthPart("worker", label, HealthState.GOOD, figure)
    figure = _("last seen %(when)s", when=moment_text(beats[0].seen_at)) if beats else _("never seen")
    advice = _("Start it with dynabench serve or dynabench worker. Imports, evaluations and mail wait for it.")
    return HealthPart("worker", label, HealthState.BAD, figure, advice)


async def _queue(database: Database, settings: Settings) -> HealthPart:
    label, link = _("Queue"), "admin_jobs"
    try:
        figures = await to_thread.run_sync(job_control.queue_figures, database, settings)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"[:200]
        return HealthPart("queue", label, HealthState.BAD, text, _("Check the database of jobs."), link)
    figure = _(
        "%(waiting)s waiting, %(running)s running, %(failed)s failed today",
        waiting=number(figures.waiting),
        running=number(figures.running),
        failed=number(figures.failed),
    )
    if figures.since is not None and now() - figures.since > LONG:
        return HealthPart("queue", label, HealthState.WARN, figure, _("Jobs wait for a worker."), link)
    if figures.failed:
        return HealthPart("queue", label, HealthState.WARN, figure, _("Look at the failed jobs."), link)
    return HealthPart("queue", label, HealthState.GOOD, figure, "", link)


def _disk(settings: Settings) -> HealthPart:
    usage = shutil.disk_usage(settings.folder)
    return disk_part(usage.free, usage.total, settings.disk_reserve_mb * MIB)


def disk_part(free: int, total: int, reserve: int) -> HealthPart:
    """Return the state of the disk by its free bytes and those that uploads leave free."""
    figure = _("%(free)s of %(total)s free", free=size(free), total=size(total))
    if free < reserve:
        advice = _("Uploads are refused. Make room: delete old backups and archives, or use a larger disk.")
        return HealthPart("disk", _("Disk"), HealthState.BAD, figure, advice)
    if free < max(4 * reserve, total // 20):
        return HealthPart("disk", _("Disk"), HealthState.WARN, figure, _("Make room before uploads are refused."))
    return HealthPart("disk", _("Disk"), HealthState.GOOD, figure)


async def _mail(database: Database, settings: Settings) -> HealthPart:
    if not settings.mails:
        advice = _("Set a mail server to offer new passwords and notices by mail.")
        return HealthPart("mail", _("Mail"), HealthState.OFF, _("not set up"), advice)
    counts, reason = await database.aread(_mail_counts)
    sent, failed = counts.get(MailingState.SENT, 0), counts.get(MailingState.FAILED, 0)
    late = counts.get(MailingState.SENDING, 0)
    figure = _("%(sent)s sent, %(failed)s failed today", sent=number(sent), failed=number(failed))
    if (failed or late) and reason:
        advice = _("The mail server said: %(reason)s", reason=reason[:160])
        return HealthPart("mail", _("Mail"), HealthState.WARN if sent else HealthState.BAD, figure, advice)
    return HealthPart("mail", _("Mail"), HealthState.GOOD, figure)


def _mail_counts(session: Session) -> tuple[dict[str, int], str]:
    since = Mailing.created_at >= now() - DAY
    rows = session.execute(select(Mailing.state, func.count()).where(since).group_by(Mailing.state)).all()
    complaint = select(Mailing.reason).where(since, Mailing.reason != "").order_by(Mailing.id.desc()).limit(1)
    return {row[0]: row[1] for row in rows}, session.scalar(complaint) or ""


def worst(parts: Sequence[HealthPart]) -> HealthState:
    """Return the worst state of the parts that are set up."""
    order = (HealthState.GOOD, HealthState.WARN, HealthState.BAD)
    return max((part.state for part in parts if part.state in order), key=order.index, default=HealthState.GOOD)


def as_document(parts: Sequence[HealthPart]) -> dict[str, Any]:
    """Return the parts as JSON."""
    names = ("name", "state", "figure", "advice")
    return {"state": worst(parts), "parts": [{name: str(getattr(part, name)) for name in names} for part in parts]}
