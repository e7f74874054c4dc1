"""`dynabench user`: who has an account, and what they may do."""

from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, database, say, table

app = typer.Typer(help="List accounts and give people rights.", no_args_is_help=True)


@app.command("list")
def list_people(as_json: AsJson = False) -> None:
    """List all accounts."""
    from sqlalchemy import select
    from sqlalchemy.orm import Session

    from dynabench.people.accounts import service
    from dynabench.people.roles import Role

    def rows(session: Session) -> list[dict[str, Any]]:
        roles: dict[int, list[str]] = {}
        for role in session.scalars(select(Role).order_by(Role.task_id)):
            roles.setdefault(role.person_id, []).append(f"{role.task_id}: {role.role}")
        return [
            {
                "id": person.id,
                "username": person.username,
                "email": person.email,
                "pseudonym": person.pseudonym,
                "admin": person.admin,
                "roles": ", ".join(roles.get(person.id, [])),
                "joined": f"{person.created_at:%Y-%m-%d}",
            }
            for person in service.list_accounts(session)
        ]

    with database() as db:
        people = db.read(rows)
    table(as_json, people, "id", "username", "email", "pseudonym", "admin", "roles", "joined")


@app.command()
def promote(
    name: Annotated[str, typer.Argument(help="Username or mail address.")],
    admin: Annotated[bool, typer.Option("--admin", help="Make the person an admin.")] = False,
    owner: Annotated[
        list[str] | None, typer.Option(metavar="TASK", help="Make the person an owner of this task.")
    ] = None,
    moderator: Annotated[
        list[str] | None, typer.Option(metavar="TASK", help="Make the person a moderator of this task.")
    ] = None,
    expert: Annotated[
        list[str] | None, typer.Option(metavar="TASK", help="Make the person an expert of this task.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a person an admin, or owner, moderator or expert of tasks."""
    from sqlalchemy.orm import Session

    from dynabench.people.accounts import service
    from dynabench.people.roles import TaskRole
    from dynabench.rounds.service import set_role

    roles_to_give = [
        (role, task)
        for role, tasks in ((TaskRole.EXPERT, expert), (TaskRole.MODERATOR, moderator), (TaskRole.OWNER, owner))
        for task in tasks or []
    ]
    if not admin and not roles_to_give:
        raise typer.BadParameter("say what they become: --admin, --owner TASK, --moderator TASK or --expert TASK")

    def change(session: Session) -> str:
        person = service.account_named(session, name)
        if admin:
            service.make_administrator(session, person.id)
        for role, task in roles_to_give:
            set_role(session, None, task, person.username, role)
        return person.username

    with database() as db:
        username = db.write(change)
    rights = ["administrator"] * admin + [f"{role} of {task}" for role, task in roles_to_give]
    say(as_json, {"username": username, "rights": rights}, f"{username} is now {', '.join(rights)}.")


@app.command("reset-link")
def reset_link(name: Annotated[str, typer.Argument(help="Username or mail address.")], as_json: AsJson = False) -> None:
    """Make a link by which a person chooses a new password: it works once, for a day."""
    from sqlalchemy.orm import Session

    from dynabench.kit.settings import get_settings
    from dynabench.people.accounts import recovery, service

    settings = get_settings()

    def make(session: Session) -> tuple[str, str]:
        person, token = recovery.make_reset_link(session, settings.key, None, service.account_named(session, name).id)
        return person.username, token

    with database() as db:
        username, token = db.write(make)
    address = f"{settings.site or f'http://{settings.host}:{settings.port}'}/login/reset/{token}"
    say(
        as_json,
        {"username": username, "link": address},
        f"{username} can choose a new password once, within a day:\n{address}",
    )


@app.command("drop-second-factor")
def drop_second_factor(
    name: Annotated[str, typer.Argument(help="Username or mail address.")], as_json: AsJson = False
) -> None:
    """Turn two-factor log-in off for a person who has lost phone and recovery codes."""
    from sqlalchemy.orm import Session

    from dynabench.people.accounts import second_factor, service

    def drop(session: Session) -> str:
        person = service.account_named(session, name)
        second_factor.drop_second_factor(session, None, person.id)
        return person.username

    with database() as db:
        username = db.write(drop)
    say(as_json, {"username": username}, f"{username} logs in with the password alone.")
