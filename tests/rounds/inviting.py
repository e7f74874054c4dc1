"""Steps that tests of people and invitations share."""

from sqlalchemy import select

from dynabench.people.roles import Role


def invite(owner, **body):
    answer = owner.post("/api/v1/tasks/nli/invitations", json={"role": "annotator"} | body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def accept(caller, invitation):
    return caller.post("/api/v1/invitations/accept", json={"secret": invitation["secret"]})


def role_of(database, caller):
    return database.read(
        lambda session: session.scalar(select(Role.role).where(Role.task_id == "nli", Role.person_id == caller.id))
    )


def make(owner, caller, role):
    answer = owner.post("/api/v1/tasks/nli/roles", json={"username": caller.name, "role": role})
    assert answer.status_code == 200, answer.text
