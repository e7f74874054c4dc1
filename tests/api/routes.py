"""Who may use which route, with what each is called: the authorization matrix.

A route is one line: who may (`MAY`), a body with which it gets as far as its rules, and where the usual one does not
fit (`scope_of`) the scope that tokens need. In bodies, `{context}` is a context that ada was given and `{mia}` the
number of a person.
"""

from dataclasses import dataclass
from typing import Any

from tests.api.stage import NAMES

EVERYBODY = {"anon", *NAMES}
MEMBERS = set(NAMES)
MAY = {
    "anyone": EVERYBODY,
    "member": MEMBERS,
    "unbanned": EVERYBODY - {"banned"},  # writing: visitors have the sandbox
    "seated": MEMBERS - {"banned"},  # checking
    "involved": {"author", "owner", "admin"},  # in the example that `author` wrote
    "overseeing": {"author", "moderator", "owner", "admin"},  # the same, and whoever looks after what is written
    "welcome": MEMBERS - {"banned"},  # to what makes people members of a task
    "others": MEMBERS - {"author", "banned"},  # anybody who may check but its author
    "author": {"author"},
    "submitter": {"author", "admin"},  # of the private submission that `author` sent, and of its evaluations
    "keeper": {"author", "admin"},  # of a board of the author's own
    "moderator": {"moderator", "owner", "admin"},
    "owner": {"owner", "admin"},
    "admin": {"admin"},
}
SEATED = {"unbanned", "seated", "others"}  # in tasks for invited people these are for people with a role alone
NEW_TASK = """
id: another
name: Another
answer: {name: label, type: choice, options: [a, b], goal: chosen}
input: [{name: text, type: text}]
"""
ACCOUNT = {"email": "new@example.org", "password": "correct horse battery", "username": "new"}


@dataclass(frozen=True)
class Route:
    """Who may use a route, with what it is called, and which scope it needs of tokens (see `scope_of`).

    `hidden` says that the route shows hidden examples, or why they are hidden, to those who may use it.
    """

    who: str
    json: Any = None
    form: dict[str, Any] | None = None
    params: dict[str, str] | None = None
    content: bytes | None = None
    scope: str = ""
    hidden: bool = False


def scope_of(method: str, route: Route) -> str:
    """The scope that a route of the API needs: `read` for GET, else by who may, where the line says nothing else."""
    if route.scope or method == "GET":
        return route.scope or "read"
    return "manage" if route.who in ("moderator", "owner", "admin") else "annotate"


PAIR = {"premise": "It rains.", "hypothesis": "It is dry."}
TWO = {"a": "1", "b": "2"}  # entries of the board
ASKED = {f"inputs.{name}": text for name, text in PAIR.items()}
SANDBOX = {"context_id": "{context}", "input": {"hypothesis": "It is not so."}, "answer": {"label": "neutral"}}
# What ends something stands last: the table is walked from top to bottom.
ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/healthz"): Route("anyone"),
    ("GET", "/readyz"): Route("anyone"),
    ("GET", "/metrics"): Route("anyone"),
    ("GET", "/api/openapi.json"): Route("anyone"),
    # accounts
    ("GET", "/register"): Route("anyone"),
    ("POST", "/register"): Route("anyone", form={}),
    ("GET", "/login"): Route("anyone"),
    ("GET", "/settings"): Route("member"),
    ("POST", "/settings/profile"): Route("member", form={"pseudonym": ""}),
    ("POST", "/settings/password"): Route("member", form={"current": "", "password": ""}),
    ("POST", "/settings/tokens"): Route("member", form={"name": "laptop", "scopes": ["read"]}),
    ("POST", "/settings/tokens/{id}/revoke"): Route("member", form={}),
    ("POST", "/settings/notices/{id}/seen"): Route("member", form={}),
    ("GET", "/people/me"): Route("member"),
    ("GET", "/settings/examples"): Route("member"),
    ("POST", "/settings/examples"): Route("member", form={"confirm": ""}),
    ("GET", "/settings/delete"): Route("member"),
    ("POST", "/settings/delete"): Route("member", form={"name": ""}),
    ("POST", "/api/v1/accounts"): Route("anyone", json=ACCOUNT, scope="account"),
    ("POST", "/api/v1/tokens"): Route(
        "anyone", json={"username": "mia", "password": "correct horse battery", "scopes": ["read"]}, scope="account"
    ),
    ("GET", "/api/v1/me"): Route("member"),
    ("PATCH", "/api/v1/me"): Route("member", json={}, scope="account"),
    ("POST", "/api/v1/me/password"): Route("member", json={"current": "", "password": ""}, scope="account"),
    ("GET", "/api/v1/me/notices"): Route("member"),
    ("POST", "/api/v1/me/notices/{id}/seen"): Route("member", scope="account"),
    ("GET", "/api/v1/me/examples"): Route("member"),
    ("POST", "/api/v1/me/withdrawal"): Route("member", json={"confirm": ""}, scope="account"),
    ("POST", "/api/v1/me/deletion"): Route("member", json={"confirm": "", "password": ""}, scope="account"),
    ("GET", "/api/v1/tokens"): Route("member", scope="account"),
    # rounds
    ("GET", "/api/v1/tasks"): Route("anyone"),
    ("POST", "/api/v1/tasks"): Route("admin", json={"config": NEW_TASK}),
    ("GET", "/api/v1/tasks/{task}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/rounds"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/contexts"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/versions/{n}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/acts"): Route("owner", hidden=True),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}/refused"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/rounds"): Route("owner", json={"targets": ["nli-a"], "draft": True}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/open"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/contexts"): Route(
        "owner", json={"contexts": [{"values": {"premise": "It rains."}}]}
    ),
    ("POST", "/api/v1/tasks/{task}/contexts/files"): Route("owner", params={"name": "c.jsonl"}, content=b"{}\n"),
    ("GET", "/api/v1/tasks/{task}/contexts/files/{job}"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/roles"): Route("owner", json={"username": "mia", "role": None}),
    ("GET", "/api/v1/tasks/{task}/people"): Route("moderator"),
    ("POST", "/api/v1/tasks/{task}/warnings"): Route("moderator", json={"person": "{mia}", "text": "Be kind."}),
    ("POST", "/api/v1/tasks/{task}/bans"): Route("moderator", json={"person": "{bea}", "reason": "Spam."}),
    ("GET", "/api/v1/tasks/{task}/invitations"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/invitations"): Route("owner", json={"role": "expert"}),
    ("DELETE", "/api/v1/tasks/{task}/invitations/{id}"): Route("owner"),
    # collection
    ("POST", "/api/v1/tasks/{task}/contexts/next"): Route("unbanned"),
    ("POST", "/api/v1/tasks/{task}/examples"): Route("unbanned", json=SANDBOX | {"sandbox": True}),
    ("GET", "/api/v1/tasks/{task}/examples"): Route("moderator"),
    ("GET", "/api/v1/examples/{id}"): Route("involved", hidden=True),
    ("POST", "/api/v1/examples/{id}/explanations"): Route("author", json={"why_correct": "Because."}),
    ("GET", "/api/v1/examples/{id}/attributions"): Route("involved", hidden=True),
    ("POST", "/api/v1/attributions"): Route(
        "unbanned", json=SANDBOX | {"task": "nli", "model": "nli-a", "method": "occlusion"}
    ),
    ("POST", "/api/v1/tasks/{task}/seeds"): Route("owner", json={"seeds": []}),
    ("POST", "/api/v1/tasks/{task}/seeds/examples"): Route("owner", json={"round": 1}),
    ("POST", "/api/v1/examples/{id}/hide"): Route("moderator", json={"reason": "spam"}),
    ("POST", "/api/v1/examples/{id}/restore"): Route("moderator", json={}),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/board"): Route("anyone"),
    ("GET", "/"): Route("anyone"),
    ("POST", "/try"): Route("anyone", form={"task": "sentiment"}),
    ("GET", "/tasks/{task}"): Route("anyone"),
    ("GET", "/tasks/{task}/rounds/{n}"): Route("anyone"),
    ("GET", "/tasks/{task}/people"): Route("anyone"),
    ("GET", "/tasks/{task}/create"): Route("unbanned"),
    ("POST", "/tasks/{task}/create"): Route("unbanned", form={"context_id": "{context}", "sandbox": "true"}),
    ("POST", "/tasks/{task}/context"): Route("unbanned", form={}),
    ("POST", "/tasks/{task}/warning"): Route("anyone", form={"next": "/tasks/nli/create"}),
    ("POST", "/examples/{id}/perturbation"): Route("author", form={}),
    ("POST", "/examples/{id}/explanation"): Route("author", form={"explanation.why_correct": "Because."}),
    # leaderboards
    ("GET", "/api/v1/tasks/{task}/leaderboard"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/ranks"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/file"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/image"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/paperswithcode"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/rows/{id}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/leaderboard/rows/{id}/card"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/ledger"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/reported"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/reported"): Route("owner", json={"source": "none", "document": []}),
    ("PATCH", "/api/v1/tasks/{task}/reported/{id}"): Route("owner", json={"removed": True}),
    ("GET", "/api/v1/tasks/{task}/snapshots"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/snapshots"): Route("member", json={"title": "As it is"}),
    ("GET", "/api/v1/snapshots/{slug}"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/forks"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/forks"): Route("member", json={"title": "Mine"}),
    ("GET", "/api/v1/forks/{slug}"): Route("anyone"),
    ("PATCH", "/api/v1/forks/{slug}"): Route("keeper", json={"title": "Renamed"}),
    ("GET", "/tasks/{task}/leaderboard"): Route("anyone"),
    ("GET", "/tasks/{task}/leaderboard/embed"): Route("anyone"),
    ("GET", "/tasks/{task}/leaderboard/rows/{id}"): Route("anyone"),
    ("GET", "/tasks/{task}/ledger"): Route("anyone"),
    ("GET", "/tasks/{task}/reported"): Route("anyone"),
    ("POST", "/tasks/{task}/reported"): Route("owner", form={"source": "none"}),
    ("POST", "/tasks/{task}/reported/{id}"): Route("owner", form={"removed": "1"}),
    ("GET", "/tasks/{task}/snapshots"): Route("anyone"),
    ("POST", "/tasks/{task}/snapshots"): Route("member", form={"title": "As it is"}),
    ("GET", "/snapshots/{slug}"): Route("anyone"),
    ("POST", "/tasks/{task}/forks"): Route("member", form={"title": "Mine"}),
    ("GET", "/forks/{slug}"): Route("anyone"),
    ("POST", "/forks/{slug}"): Route("keeper", form={"title": "Renamed"}),
    ("POST", "/forks/{slug}/delete"): Route("keeper", form={}),
    ("DELETE", "/api/v1/forks/{slug}"): Route("keeper"),
    # validation
    ("POST", "/api/v1/tasks/{task}/validations/next"): Route("seated"),
    ("GET", "/api/v1/tasks/{task}/rounds/{number}/statistics"): Route("anyone"),
    ("GET", "/tasks/{task}/validate"): Route("seated"),
    ("POST", "/api/v1/examples/{id}/validations"): Route("others", json={"vote": "correct"}),
    ("GET", "/api/v1/examples/{id}/validations/attributions"): Route("member"),
    ("POST", "/api/v1/examples/{id}/validations/undo"): Route("member"),
    ("POST", "/api/v1/examples/{id}/skip"): Route("others"),
    ("POST", "/tasks/{task}/validate/{id}"): Route("others", form={"vote": "correct"}),
    ("POST", "/tasks/{task}/validate/{id}/undo"): Route("seated", form={}),
    ("POST", "/tasks/{task}/validate/{id}/skip"): Route("others", form={}),
    # datasets
    ("GET", "/api/v1/tasks/{task}/export"): Route("owner"),
    ("POST", "/api/v1/tasks/{task}/imports/files"): Route("owner", params={"name": "x.jsonl"}, content=b"{}\n"),
    ("POST", "/api/v1/tasks/{task}/imports/preview"): Route("owner", json={"file": "gone"}),
    ("POST", "/api/v1/tasks/{task}/imports"): Route("owner", json={"file": "gone"}),
    ("POST", "/api/v1/tasks/{task}/imports/hub"): Route("owner", json={"dataset": "x", "into": "nothing"}),
    ("GET", "/api/v1/tasks/{task}/imports"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/imports/{job}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/imports/{job}/refused"): Route("owner"),
    # registry
    ("GET", "/models"): Route("anyone"),
    ("GET", "/tasks/{task}/models"): Route("anyone"),
    ("GET", "/models/compare"): Route("anyone", params={"a": "nli-a", "b": "nli-b"} | ASKED),
    ("POST", "/models/compare"): Route("anyone", form=ASKED),
    ("GET", "/models/{name}"): Route("anyone", params=ASKED),
    ("POST", "/models/{name}"): Route("anyone", form=ASKED),
    ("POST", "/models/{name}/listing"): Route("admin", form={"visibility": "public"}),
    ("GET", "/api/v1/models"): Route("anyone"),
    ("GET", "/api/v1/models/{name}"): Route("anyone"),
    ("POST", "/api/v1/models/{name}/ask"): Route("anyone", json={"inputs": PAIR}, scope="read"),
    ("POST", "/api/v1/models/{name}/attributions"): Route("anyone", json={"inputs": PAIR}, scope="read"),
    ("PATCH", "/api/v1/models/{name}"): Route("admin", json={"visibility": "public"}),
    # submissions
    ("GET", "/tasks/{task}/submit"): Route("seated"),
    ("POST", "/tasks/{task}/submit"): Route("seated", form={"kind": "hub", "name": ""}),
    ("GET", "/tasks/{task}/submissions"): Route("member"),
    ("GET", "/submissions/{id}"): Route("submitter"),
    ("POST", "/submissions/{id}/{act}"): Route("submitter", form={}),
    ("POST", "/models/{name}/enter"): Route("owner", form={}),
    ("POST", "/api/v1/tasks/{task}/submissions/files"): Route("seated", params={"name": "p.jsonl"}, content=b"{}\n"),
    ("POST", "/api/v1/tasks/{task}/submissions"): Route("seated", json={"kind": "hub", "name": "no hub"}),
    ("GET", "/api/v1/tasks/{task}/submissions"): Route("member"),
    ("GET", "/api/v1/submissions/{id}"): Route("submitter"),
    ("PATCH", "/api/v1/submissions/{id}"): Route("submitter", json={"visibility": "private"}),
    ("POST", "/api/v1/submissions/{id}/cancel"): Route("submitter"),
    ("POST", "/api/v1/submissions/{id}/retry"): Route("submitter"),
    ("POST", "/api/v1/submissions/{id}/withdraw"): Route("submitter"),
    # leaderboards
    ("GET", "/tasks/{task}/compare"): Route("anyone", params=TWO),
    ("GET", "/tasks/{task}/compare.csv"): Route("anyone", params=TWO),
    ("GET", "/tasks/{task}/matrix"): Route("anyone"),
    ("GET", "/tasks/{task}/matrix.csv"): Route("anyone"),
    ("GET", "/tasks/{task}/pareto"): Route("anyone"),
    ("GET", "/tasks/{task}/pareto.csv"): Route("anyone"),
    ("GET", "/tasks/{task}/humans"): Route("anyone"),
    ("GET", "/tasks/{task}/humans.csv"): Route("anyone"),
    ("GET", "/tasks/{task}/transfer"): Route("anyone"),
    ("GET", "/tasks/{task}/transfer.csv"): Route("anyone", params={"dataset": "first"}),
    ("GET", "/tasks/{task}/datasets/{name}/best"): Route("anyone"),
    ("GET", "/models/{name}/scores"): Route("anyone"),
    ("GET", "/models/{name}/scores.csv"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/compare"): Route("anyone", params=TWO),
    ("GET", "/api/v1/tasks/{task}/compare/examples"): Route("anyone", params=TWO | {"dataset": "first"}),
    ("GET", "/api/v1/tasks/{task}/matrix"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/pareto"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/humans"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/transfer"): Route("anyone", params={"dataset": "first"}),
    ("GET", "/api/v1/tasks/{task}/datasets/{name}/best"): Route("anyone"),
    ("GET", "/api/v1/models/{name}/scores"): Route("anyone"),
    # evaluate
    ("GET", "/evaluate"): Route("anyone"),
    ("GET", "/evaluate/{kind}/{name}"): Route("anyone"),
    ("POST", "/evaluate/{kind}/{name}"): Route("anyone", form={"column.predictions": "1", "column.references": "1"}),
    ("GET", "/api/v1/evaluate"): Route("anyone"),
    ("GET", "/api/v1/evaluate/{kind}/{name}"): Route("anyone"),
    ("POST", "/api/v1/evaluate/{kind}/{name}"): Route(
        "anyone", json={"columns": {"predictions": [1], "references": [1]}}, scope="read"
    ),
    # datasets
    ("GET", "/datasets"): Route("anyone"),
    ("GET", "/tasks/{task}/datasets"): Route("anyone"),
    ("GET", "/tasks/{task}/datasets/{name}"): Route("anyone"),
    ("POST", "/tasks/{task}/datasets/{name}"): Route("owner", form={"weight": "5"}),
    ("POST", "/tasks/{task}/datasets/files"): Route("owner", form={}),
    ("POST", "/tasks/{task}/datasets/hub"): Route("owner", form={"dataset": "?"}),
    ("GET", "/tasks/{task}/datasets/files/{file}"): Route("owner"),
    ("POST", "/tasks/{task}/datasets/files/{file}"): Route("owner", form={"then": "look"}),
    ("POST", "/tasks/{task}/datasets/rounds/{n}"): Route("owner", form={}),
    ("GET", "/tasks/{task}/datasets/{name}/versions/{n}/refused"): Route("owner"),
    ("GET", "/tasks/{task}/datasets/{name}/versions/{n}/refused.csv"): Route("owner"),
    ("GET", "/api/v1/datasets"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/datasets"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/datasets"): Route("owner", json={"name": "another", "file": "?"}),
    ("POST", "/api/v1/tasks/{task}/datasets/files"): Route("owner", params={"name": "x.jsonl"}, content=b"{}"),
    ("POST", "/api/v1/tasks/{task}/datasets/preview"): Route("owner", json={"file": "?"}),
    ("POST", "/api/v1/tasks/{task}/datasets/rounds/{n}"): Route("owner"),
    ("GET", "/api/v1/tasks/{task}/datasets/{name}"): Route("anyone"),
    ("PATCH", "/api/v1/tasks/{task}/datasets/{name}"): Route("owner", json={"weight": 5}),
    ("POST", "/api/v1/tasks/{task}/datasets/{name}/versions"): Route("owner", json={"file": "?"}),
    ("GET", "/api/v1/tasks/{task}/datasets/{name}/versions/{n}/refused"): Route("owner", scope="read"),
    ("GET", "/api/v1/tasks/{task}/datasets/{name}/rows"): Route("anyone"),
    # scoring
    ("GET", "/.well-known/dynabench-key"): Route("anyone"),
    ("GET", "/evaluations/{id}"): Route("anyone"),
    ("GET", "/api/v1/key"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/evaluations"): Route("anyone"),
    ("GET", "/api/v1/evaluations/{id}"): Route("anyone"),
    ("GET", "/api/v1/evaluations/{id}/scores"): Route("anyone"),
    ("GET", "/api/v1/evaluations/{id}/record"): Route("anyone"),
    ("GET", "/api/v1/evaluations/{id}/examples"): Route("anyone"),
    ("POST", "/api/v1/evaluations/{id}/retry"): Route("submitter", scope="manage"),
    ("POST", "/api/v1/evaluations/{id}/cancel"): Route("submitter", scope="manage"),
    ("POST", "/evaluations/{id}/retry"): Route("submitter", form={}),
    ("POST", "/evaluations/{id}/cancel"): Route("submitter", form={}),
    # console
    ("GET", "/tasks/{task}/manage"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/people"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/people.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/examples.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/contexts.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/people/roles"): Route("owner", form={"username": "mia", "role": ""}),
    ("POST", "/tasks/{task}/manage/people/{id}/ban"): Route("moderator", form={"reason": "Spam."}),
    ("POST", "/tasks/{task}/manage/people/{id}/lift"): Route("moderator", form={}),
    ("POST", "/tasks/{task}/manage/people/invitations"): Route("owner", form={"role": "expert"}),
    ("POST", "/tasks/{task}/manage/people/invitations/{id}/revoke"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/examples"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/examples/{id}"): Route("moderator", hidden=True),
    ("POST", "/tasks/{task}/manage/examples/{id}/{act}"): Route("moderator", form={"reason": ""}),
    ("GET", "/tasks/{task}/manage/figures"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/figures.csv"): Route("moderator"),
    ("GET", "/tasks/{task}/manage/moderation"): Route("moderator"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/figures"): Route("moderator", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/rounds/{n}/annotators"): Route("moderator", scope="manage"),
    ("GET", "/api/v1/tasks/{task}/moderation"): Route("moderator", scope="manage"),
    ("POST", "/api/v1/examples/{id}/dismiss"): Route("moderator", json={"reason": "harmless"}),
    ("POST", "/api/v1/examples/{id}/reopen"): Route("moderator", json={"reason": "again"}),
    ("GET", "/tasks/new"): Route("admin"),
    ("POST", "/tasks/new"): Route("admin", form={"config": "id: x"}),
    ("GET", "/tasks/{task}/manage/config"): Route("owner"),
    ("POST", "/tasks/{task}/manage/config"): Route("owner", form={"config": "id: x"}),
    ("GET", "/tasks/{task}/manage/config/versions/{n}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/config/versions/{n}.yaml"): Route("owner"),
    ("GET", "/tasks/{task}/manage/log"): Route("owner", hidden=True),
    ("GET", "/tasks/{task}/manage/log.csv"): Route("owner", hidden=True),
    ("GET", "/tasks/{task}/manage/rounds"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/rounds/{n}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/open"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/data"): Route("owner"),
    ("POST", "/tasks/{task}/manage/data/files"): Route("owner", form={}),
    ("POST", "/tasks/{task}/manage/data/hub"): Route("owner", form={"dataset": "?"}),
    ("GET", "/tasks/{task}/manage/data/files/{file}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/data/files/{file}"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/data/imports/{job}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/data/imports/{job}/refused.csv"): Route("owner"),
    ("GET", "/tasks/{task}/manage/contexts"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/files"): Route("owner", form={}),
    ("GET", "/tasks/{task}/manage/contexts/files/{id}"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/files/{id}"): Route("owner", form={"then": "look"}),
    ("GET", "/tasks/{task}/manage/contexts/imports/{job}"): Route("owner"),
    ("GET", "/tasks/{task}/manage/contexts/imports/{job}/refused.csv"): Route("owner"),
    ("POST", "/tasks/{task}/manage/contexts/{id}/delete"): Route("owner", form={}),
    # perturbed copies of datasets
    ("GET", "/api/v1/tasks/{task}/datasets/{name}/twins"): Route("anyone"),
    ("GET", "/api/v1/tasks/{task}/datasets/{name}/twins/{axis}"): Route("anyone"),
    ("POST", "/api/v1/tasks/{task}/datasets/{name}/twins"): Route("owner", json={"axis": "robustness"}),
    ("POST", "/api/v1/tasks/{task}/datasets/{name}/twins/{axis}/file"): Route(
        "owner", params={"file": "copies.jsonl"}, content=b"{}\n"
    ),
    ("GET", "/tasks/{task}/datasets/{name}/twins"): Route("anyone"),
    ("GET", "/tasks/{task}/datasets/{name}/twins/{axis}.csv"): Route("anyone"),
    ("POST", "/tasks/{task}/datasets/{name}/twins"): Route("owner", form={"axis": "fairness", "seed": "x"}),
    ("POST", "/tasks/{task}/datasets/{name}/twins/file"): Route("owner", form={"axis": "fairness"}),
    # what changes who may, or ends something
    ("GET", "/join/{secret}"): Route("anyone"),
    ("POST", "/join/{secret}"): Route("welcome", form={}),
    ("POST", "/api/v1/invitations/accept"): Route("welcome", json={"secret": "{secret}"}),
    ("DELETE", "/api/v1/tasks/{task}/bans/{id}"): Route("moderator"),
    ("POST", "/api/v1/examples/{id}/retract"): Route("author"),
    ("POST", "/examples/{id}/retraction"): Route("author", form={}),
    ("POST", "/people/me/examples/{id}/retraction"): Route("author", form={}),
    ("POST", "/api/v1/tasks/{task}/rounds/{n}/close"): Route("owner"),
    ("POST", "/tasks/{task}/manage/rounds/{n}/close"): Route("owner", form={}),
    ("DELETE", "/api/v1/tokens/{id}"): Route("member", scope="account"),
    ("DELETE", "/api/v1/tasks/{task}/contexts/{id}"): Route("owner"),
    ("POST", "/login"): Route("anyone", form={"username": "mia", "password": "correct horse battery"}),
    ("POST", "/logout"): Route("anyone", form={}),
}
