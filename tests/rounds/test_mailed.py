"""Invitations by mail, through a real mail server: the link is in the mail alone, and the address stays nowhere."""

import json
import re

import pytest

from dynabench.kit.jobs import Job
from dynabench.people.notices import mailing
from dynabench.people.roles import Role
from dynabench.rounds import invitations, jobs
from dynabench.rounds.tables import Invitation
from tests.collection import conftest as world
from tests.notices import conftest as mail

host, rules, client, furnish = world.host, world.rules, world.client, world.furnish
admin, owner, ada, bob = world.admin, world.owner, world.ada, world.bob
inbox, settings = mail.inbox, mail.settings


def invite(owner, address="bob@example.org", role="validator"):
    return owner.post("/api/v1/tasks/nli/invitations/mail", json={"role": role, "address": address})


def job(database):
    return database.read(lambda session: session.query(Job).filter_by(kind="mail_invitation").one())


def test_who_gets_the_mail_becomes_what_it_says(owner, bob, database, settings, inbox):
    assert invite(owner).status_code == 202
    request = job(database)
    assert invitations.try_mailing(database, settings, request.payload) == "sent"
    [sent] = inbox.mails
    assert (sent["To"], sent["Subject"]) == ("bob@example.org", "An invitation to Natural language inference")
    secret = re.search(r"https://bench.example.org/join/(\S+)", sent.get_body(("plain",)).get_content())[1]
    assert secret not in json.dumps(request.payload)
    database.write(jobs._forget_address, request.id)
    assert "bob@" not in json.dumps(job(database).payload)
    assert bob.post("/api/v1/invitations/accept", json={"secret": secret}).json()["role"] == "validator"
    assert bob.post("/api/v1/invitations/accept", json={"secret": secret}).status_code in (200, 404)
    assert database.read(lambda session: session.get(Role, ("nli", bob.id)).role) == "validator"
    assert invitations.try_mailing(database, settings, request.payload) == "dropped", "it was accepted already"


def test_revoked_ones_are_not_sent_and_servers_are_asked_again(owner, ada, database, settings, inbox):
    assert invite(ada).status_code == 403
    assert invite(owner, "nonsense").status_code == 422
    document = invite(owner).json()
    payload = job(database).payload
    inbox.answers = ["451 later"]
    with pytest.raises(mailing.Later):
        invitations.try_mailing(database, settings, payload)
    inbox.refuses = ["550 nobody here"]
    assert invitations.try_mailing(database, settings, payload).startswith("refused: 550")
    owner.delete(f"/api/v1/tasks/nli/invitations/{document['id']}")
    assert invitations.try_mailing(database, settings, payload) == "dropped"
    assert database.read(lambda session: session.query(Invitation).count()) == 1


def test_a_site_without_mail_says_so(owner, client):
    client.app.state.settings.smtp_host = ""
    assert invite(owner).status_code == 409
