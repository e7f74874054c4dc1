"""Routes of the hub, with the people who may use them: part of the authorization matrix.

The repository is that of `author`, and public.
"""

from tests.api.route import Route

PAGE = "/hub/{kinds}/{namespace}/{name}"
API, REPOSITORY = "/api/hub/api", "/api/hub/api/{kinds}/{namespace}/{name}"
PLAIN, KIND = "/api/hub/{namespace}/{name}", "/api/hub/{kinds}/{namespace}/{name}"
XET = "/api/hub/xet/{place}/v1"
BATCH = {"operation": "upload", "objects": []}
HEADER = b'{"key": "header", "value": {"summary": "Nothing"}}\n'
HUB: dict[tuple[str, str], Route] = {
    ("GET", f"{API}/whoami-v2"): Route("member"),
    ("POST", f"{API}/validate-yaml"): Route("anyone", json={"content": ""}),
    ("POST", f"{API}/repos/create"): Route("member", json={"name": "own"}),
    ("DELETE", f"{API}/repos/delete"): Route("member", json={}),
    ("POST", f"{API}/repos/move"): Route("member", json={}),
    ("GET", f"{API}/{{kinds}}"): Route("anyone"),
    ("GET", REPOSITORY): Route("anyone"),
    ("PUT", f"{REPOSITORY}/settings"): Route("keeper", json={}),
    ("GET", f"{REPOSITORY}/revision/{{rest:path}}"): Route("anyone"),
    ("GET", f"{REPOSITORY}/refs"): Route("anyone"),
    ("GET", f"{REPOSITORY}/auth-check"): Route("anyone"),
    ("GET", f"{REPOSITORY}/auth-check/write"): Route("keeper"),
    ("POST", f"{REPOSITORY}/branch/{{rest:path}}"): Route("keeper", json={}),
    ("DELETE", f"{REPOSITORY}/branch/{{rest:path}}"): Route("keeper"),
    ("POST", f"{REPOSITORY}/tag/{{rest:path}}"): Route("keeper", json={"tag": "first"}),
    ("DELETE", f"{REPOSITORY}/tag/{{rest:path}}"): Route("keeper"),
    ("GET", f"{REPOSITORY}/tree/{{rest:path}}"): Route("anyone"),
    ("POST", f"{REPOSITORY}/paths-info/{{rest:path}}"): Route("anyone", content=b"", scope="read"),
    ("GET", f"{REPOSITORY}/commits/{{rest:path}}"): Route("anyone"),
    ("POST", f"{REPOSITORY}/preupload/{{rest:path}}"): Route("keeper", json={"files": []}),
    ("POST", f"{REPOSITORY}/commit/{{rest:path}}"): Route("keeper", content=HEADER),
    ("POST", f"{REPOSITORY}/super-squash/{{rest:path}}"): Route("keeper", json={}),
    ("GET", f"{API}/{{kinds}}/{{name}}"): Route("worker"),  # nobody: a repository has a namespace
    ("GET", f"{API}/{{kinds}}/{{name}}/{{part}}/{{rest:path}}"): Route("worker"),
    ("POST", f"{API}/{{kinds}}/{{name}}/{{part}}/{{rest:path}}"): Route("worker", content=b""),
    ("GET", "/api/hub/{name}/resolve/{rest:path}"): Route("worker"),
    ("POST", f"{REPOSITORY}/discussions/{{number}}/comment/{{event}}/edit"): Route(
        "keeper", json={"content": "Better."}
    ),
    ("GET", f"{PLAIN}/resolve/{{rest:path}}"): Route("anyone"),
    ("GET", f"{KIND}/resolve/{{rest:path}}"): Route("anyone"),
    ("GET", PLAIN): Route("anyone"),
    ("GET", KIND): Route("anyone"),
    ("GET", f"{PLAIN}/commit/{{revision}}"): Route("anyone"),
    ("GET", f"{KIND}/commit/{{revision}}"): Route("anyone"),
    ("POST", f"{PLAIN}.git/info/lfs/objects/batch"): Route("member", json=BATCH, scope="read"),
    ("POST", f"{KIND}.git/info/lfs/objects/batch"): Route("member", json=BATCH, scope="read"),
    ("PUT", "/api/hub/uploads/{ticket}"): Route("anyone", content=b""),
    ("POST", "/api/hub/uploads/{ticket}/complete"): Route("anyone", json={}),
    ("POST", "/api/hub/uploads/{ticket}/verify"): Route("anyone", json={}),
    ("GET", "/api/hub/files/{ticket}"): Route("anyone"),
    ("GET", f"{REPOSITORY}/xet-write-token/{{rest:path}}"): Route("keeper", scope="annotate"),
    ("POST", f"{XET}/xorbs/default/{{xorb}}"): Route("worker", content=b""),  # for clients with a token of Xet alone
    ("POST", f"{XET}/shards"): Route("worker", content=b""),
    ("GET", f"{XET}/chunks/{{prefix}}/{{chunk}}"): Route("worker"),
    ("GET", f"{REPOSITORY}/discussions"): Route("anyone"),
    ("POST", f"{REPOSITORY}/discussions"): Route("member", json={"title": "Question"}),
    ("GET", f"{REPOSITORY}/discussions/{{number}}"): Route("anyone"),
    ("POST", f"{REPOSITORY}/discussions/{{number}}/comment"): Route("member", json={"comment": "Good."}),
    ("POST", f"{REPOSITORY}/discussions/{{number}}/status"): Route("keeper", json={"status": "closed"}),
    ("POST", f"{REPOSITORY}/discussions/{{number}}/title"): Route("keeper", json={"title": "Other"}),
    ("POST", f"{REPOSITORY}/discussions/{{number}}/merge"): Route("keeper", json={}),
    ("GET", "/hub"): Route("anyone"),
    ("GET", "/hub.csv"): Route("anyone"),
    ("GET", "/hub/new"): Route("member"),
    ("POST", "/hub/new"): Route("member", form={"name": "from a page"}),
    ("GET", PAGE): Route("anyone"),
    ("GET", f"{PAGE}/files"): Route("anyone"),
    ("GET", f"{PAGE}/files/{{rest:path}}"): Route("anyone"),
    ("GET", f"{PAGE}/commits"): Route("anyone"),
    ("GET", f"{PAGE}/commits/{{revision}}"): Route("anyone"),
    ("GET", f"{PAGE}/discussions"): Route("anyone"),
    ("POST", f"{PAGE}/discussions"): Route("member", form={"title": "Question"}),
    ("GET", f"{PAGE}/discussions/{{number}}"): Route("anyone"),
    ("POST", f"{PAGE}/discussions/{{number}}/comment"): Route("member", form={"text": "Good."}),
    ("POST", f"{PAGE}/discussions/{{number}}/status"): Route("keeper", form={"status": "closed"}),
    ("POST", f"{PAGE}/discussions/{{number}}/merge"): Route("keeper", form={}),
    ("GET", "/hub/flags"): Route("admin"),
    ("GET", "/hub/flags.csv"): Route("admin"),
    ("GET", f"{PAGE}/flag"): Route("member"),
    ("POST", f"{PAGE}/flag"): Route("member", form={"reason": "other"}),
    ("POST", f"{PAGE}/flags/decide"): Route("admin", form={}),
    ("GET", "/hub/spaces/{namespace}/{name}/compute"): Route("anyone"),
    ("POST", "/hub/spaces/{namespace}/{name}/compute"): Route("anyone", form={}),
    ("GET", "/api/v1/hub/modules/{namespace}/{name}"): Route("anyone"),
    ("POST", "/api/v1/hub/modules/{namespace}/{name}/compute"): Route("anyone", json={"columns": {}}, scope="read"),
    ("GET", f"{PAGE}/settings"): Route("keeper"),
    ("POST", f"{PAGE}/settings"): Route("keeper", form={}),
    ("POST", f"{PAGE}/delete"): Route("keeper", form={}),
}
