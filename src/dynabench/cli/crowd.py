"""`dynabench crowd`: studies that recruit workers on crowd platforms, their participants and the consent text."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, table, write_table
from dynabench.kit import errors
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from dynabench.crowd.provider import CrowdProvider
    from dynabench.crowd.tables import Study, StudyState

app = typer.Typer(
    help="Draft, publish and stop studies; list, approve and reject participants; set the consent text.",
    no_args_is_help=True,
)
StudyNumber = Annotated[int, typer.Argument(min=1, metavar="STUDY", help="The number that `list` shows.")]
Platform = Annotated[str, typer.Argument(help="A platform with accounts, such as prolific.")]


def _facts(session: "Session", study: "Study") -> dict[str, Any]:
    from dynabench.crowd import studies
    from dynabench.crowd.work import work_of
    from dynabench.rounds.tables import Round

    counts = studies.count_states(session, [study.id])[study.id]
    return {
        "id": study.id,
        "name": study.name,
        "round": session.get_one(Round, study.round_id).number,
        "provider": study.provider,
        "state": study.state,
        "participants": sum(counts.values()),
        "states": counts,
        "work": work_of(study).model_dump(),
        "settings": study.settings,
        "entry": f"{get_settings().site}/studies/{study.slug}",
    }


@app.command("list")
def list_studies(task: str, as_json: AsJson = False) -> None:
    """List the studies of a task, newest first."""
    from dynabench.crowd import studies

    with database() as db:
        rows = db.read(lambda session: [_facts(session, study) for study in studies.list_studies(session, None, task)])
    table(as_json, rows, "id", "name", "round", "provider", "state", "participants", "entry")


@app.command("show")
def show(task: str, study: StudyNumber, as_json: AsJson = False) -> None:
    """Print a study: its work, settings, participants by state, and the address that workers are sent to."""
    from dynabench.crowd import studies

    with database() as db:
        facts = db.read(lambda session: _facts(session, studies.owned_study(session, None, task, study)))
    say(as_json, facts, "\n".join(f"{name}: {value}" for name, value in facts.items()))


def _plan(provider: "CrowdProvider", options: Sequence[str]) -> dict[str, Any]:
    """The settings that `name=value` options give, read as the browser's form is."""
    from dynabench.crowd.settings_form import InputKind, read_settings, setting_inputs

    names = {
        name
        for entry in setting_inputs(provider.settings_model)
        for name in ([f"{entry.name}.{key}" for key in entry.keys] if entry.kind is InputKind.BY_KEY else [entry.name])
    }
    form = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or f"settings.{name}" not in names:
            choices = ", ".join(sorted(name.removeprefix("settings.") for name in names))
            raise errors.Invalid({name: f"Write NAME=VALUE with one of these names: {choices}."})
        form[f"settings.{name}"] = value
    return read_settings(provider.settings_model, form)


@app.command("draft")
def draft(
    task: str,
    number: Annotated[int, typer.Argument(min=1, metavar="ROUND", help="The number of the round.")],
    name: Annotated[str, typer.Argument(help="The name that workers see.")],
    provider: Annotated[str, typer.Option(help="The crowd platform.")] = "generic",
    examples: Annotated[int, typer.Option(help="Examples that each worker writes.")] = 5,
    votes: Annotated[int, typer.Option(help="Examples of others that each worker checks.")] = 0,
    minutes: Annotated[int, typer.Option(help="Minutes that the work takes.")] = 20,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the platform; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draft a study for a round; it recruits nobody before it is published."""
    from dynabench.crowd import studies
    from dynabench.crowd.provider import all_providers
    from dynabench.crowd.studies import StudyPlan

    with database() as db:
        platform = all_providers().get(provider)
        if platform is None:
            raise errors.Invalid({"provider": f"Choose one of: {', '.join(all_providers())}."})
        plan = StudyPlan(
            name, _plan(platform, options or []), {"examples": examples, "votes": votes, "minutes": minutes}
        )
        facts = db.write(
            lambda session: _facts(session, studies.draft_study(session, None, task, number, provider, plan))
        )
    say(as_json, facts, f"This is a draft. Publish it with `dynabench crowd publish {task} {facts['id']}`.")


def _lead(task: str, study: int, to: "StudyState", as_json: bool) -> None:
    from dynabench.crowd import lifecycle, studies

    settings = get_settings()
    with database() as db:
        entry = db.read(lambda session: _facts(session, studies.owned_study(session, None, task, study)))["entry"]
        if not settings.site and db.read(lifecycle.read_call, settings.key, study).secrets is not None:
            raise errors.Conflict("Set DYNABENCH_PUBLIC_URL first: the platform sends workers to this address.")
        lifecycle.lead_study(db, settings, None, task, study, to, entry)
        facts = db.read(lambda session: _facts(session, studies.owned_study(session, None, task, study)))
    say(as_json, facts, f"Study {study} is {facts['state']}. Its address for workers: {facts['entry']}")


@app.command("publish")
def publish(task: str, study: StudyNumber, as_json: AsJson = False) -> None:
    """Publish a study, here and at its platform: workers can enter."""
    from dynabench.crowd.tables import StudyState

    _lead(task, study, StudyState.PUBLISHED, as_json)


@app.command("pause")
def pause(task: str, study: StudyNumber, as_json: AsJson = False) -> None:
    """Pause a study: no new workers enter, those at work can finish."""
    from dynabench.crowd.tables import StudyState

    _lead(task, study, StudyState.PAUSED, as_json)


@app.command("stop")
def stop(task: str, study: StudyNumber, as_json: AsJson = False) -> None:
    """Stop a study for good; those at work can finish."""
    from dynabench.crowd.tables import StudyState

    _lead(task, study, StudyState.STOPPED, as_json)


@app.command("delete")
def delete(task: str, study: StudyNumber) -> None:
    """Delete a draft."""
    from dynabench.crowd import studies

    with database() as db:
        db.write(studies.delete_draft, None, task, study)
    say(False, {}, f"Study {study} is deleted.")


@app.command("participants")
def list_participants(
    task: str,
    study: StudyNumber,
    out: OutFile = None,
) -> None:
    """Write the participants of a study as CSV, with the platform's ids: state, work, time and code."""
    from dynabench.crowd import participants, studies

    def read(session: "Session") -> list[list[object]]:
        row = studies.owned_study(session, None, task, study)
        most = participants.MOST_EXPORTED
        listed = participants.list_participants(session, row, get_settings().key, limit=most)
        return [[row.id, *participants.csv_row(row)] for row in listed]

    with database() as db:
        write_table(out, ("id", *participants.CSV_COLUMNS), db.read(read))


@app.command("approve")
def approve(
    task: str,
    study: StudyNumber,
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Ids of `participants`.")] = None,
    completed: Annotated[bool, typer.Option("--completed", help="Approve all who did the work and wait.")] = False,
    as_json: AsJson = False,
) -> None:
    """Approve participants who have finished; a job tells the platform."""
    from dynabench.crowd import participants, participation, queries, studies
    from dynabench.crowd.provider import StudyOutcome
    from dynabench.crowd.tables import ParticipationState

    def write(session: "Session") -> list[int]:
        row = studies.owned_study(session, None, task, study)
        finished = queries.participations(row.id, 0, participants.MOST_EXPORTED, ParticipationState.FINISHED)
        waiting = session.execute(finished).all()
        chosen = {part.id for part, _person in waiting if completed and part.outcome == StudyOutcome.COMPLETED}
        chosen |= set(ids or [])
        for participant in sorted(chosen):
            participation.decide(session, None, task, study, participant, True)
        return sorted(chosen)

    if not ids and not completed:
        raise typer.BadParameter("Give ids, or --completed.")
    with database() as db:
        approved = db.write(write)
    say(as_json, {"approved": approved}, f"Approved: {len(approved)}.")


@app.command("reject")
def reject(
    task: str,
    study: StudyNumber,
    participant: Annotated[int, typer.Argument(metavar="ID", help="An id of `participants`.")],
    reason: Annotated[str, typer.Option(help="The worker reads it.")],
    category: Annotated[str, typer.Option(help="Category of the rejection on the platform, if it has any.")] = "other",
    as_json: AsJson = False,
) -> None:
    """Reject a participant who has finished, with a reason; a job tells the platform."""
    from dynabench.crowd import participation

    with database() as db:
        db.write(participation.decide, None, task, study, participant, False, reason, category)
    say(as_json, {"rejected": participant}, f"Rejected: {participant}.")


@app.command("consent")
def set_consent(
    task: str,
    file: Annotated[Path | None, typer.Argument(exists=True, dir_okay=False, help="The text in Markdown.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the text that workers agree to, or save a new version of it."""
    from dynabench.crowd import consent
    from dynabench.people.may import Action
    from dynabench.rounds import service as rounds

    def read(session: "Session") -> tuple[int, str]:
        rounds.require(session, None, Action.RUN_STUDIES, task)
        newest = consent.newest_text(session, task)
        return (newest.version, newest.text) if newest else (0, consent.first_text())

    with database() as db:
        if file is not None:
            db.write(consent.save_text, None, task, file.read_text(encoding="utf-8"))
        version, text = db.read(read)
    say(as_json, {"version": version, "text": text}, text if file is None else f"Version {version} counts from now on.")


@app.command("connect")
def connect(task: str, provider: Platform, as_json: AsJson = False) -> None:
    """Connect an account at a platform; asks for its secrets and has the platform confirm them."""
    from dynabench.crowd import accounts
    from dynabench.crowd.provider import all_providers
    from dynabench.people.may import Action
    from dynabench.rounds import service as rounds

    settings = get_settings()
    with database() as db:
        db.read(rounds.require, None, Action.RUN_STUDIES, task)
        platform = all_providers().get(provider)
        if platform is None or not platform.credential_fields:
            names = [name for name, provider in all_providers().items() if provider.credential_fields]
            raise errors.Invalid({"provider": f"Choose one of: {', '.join(names)}."})
        sent = {}
        for field in platform.credential_fields:
            optional = field in platform.optional_credentials
            label = f"{field} (may be empty)" if optional else field
            sent[field] = typer.prompt(label, default="" if optional else None, hide_input=True, show_default=False)
        name, secrets = accounts.check_credentials(settings, provider, sent)
        db.write(accounts.connect_account, None, task, settings.key, provider, name, secrets)
    say(as_json, {"provider": provider, "account": name}, f"Connected: {name}")


@app.command("disconnect")
def disconnect(task: str, provider: Platform) -> None:
    """Forget the account of a task at a platform."""
    from dynabench.crowd import accounts

    with database() as db:
        db.write(accounts.disconnect_account, None, task, provider)
    say(False, {}, "The account is forgotten.")


@app.command("pay")
def pay(task: str, study: StudyNumber, as_json: AsJson = False) -> None:
    """Pay what the ledger has approved for a study's workers as bonuses at its platform."""
    from dynabench.crowd import bonuses

    def begin(session: "Session") -> int:
        order = bonuses.begin_order(session, None, task, study)
        return len(order.payouts) if order else 0

    with database() as db:
        payouts = db.write(begin)
    text = f"The worker pays {payouts} workers." if payouts else "No payments of this study are approved and unpaid."
    say(as_json, {"payouts": payouts}, text)
