"""Visibility on the views around a board: private and anonymous submissions, hidden datasets."""

import pytest
from sqlalchemy import select
from starlette.routing import compile_path

from dynabench.benchmark.evaluations.tables import Evaluation, Score
from dynabench.benchmark.leaderboards import view_api, view_pages
from dynabench.benchmark.registry.tables import ModelListing, Submission
from dynabench.datasets.tables import Dataset, DatasetVersion
from dynabench.people.disclosure import Disclosure

VIEWS = (
    "matrix",
    "pareto?x=throughput",
    "humans",
    "slices?dataset=first",
    "slices?dataset=hushed",
    "transfer?dataset=first",
    "datasets/first/best",
    "datasets/hushed/best",
)
PAGES = (
    "matrix.csv",
    "pareto.csv?x=throughput",
    "humans.csv",
    "slices.csv?dataset=first",
    "transfer.csv?dataset=first",
    "compare",
)


def addresses(a, b):
    """Every address of the views, those that show rows with each dataset."""
    pair = f"a={a}&b={b}"
    task = [f"/tasks/sentiment/{item}" for item in (*VIEWS, *PAGES)]
    task += [f"/tasks/sentiment/compare?{pair}", f"/tasks/sentiment/compare.csv?{pair}"]
    for name in ("first", "second", "hushed"):
        for text in ("differ", "right", "wrong"):
            task += [f"/tasks/sentiment/compare?{pair}&dataset={name}&shown={text}"]
            task += [f"/api/v1/tasks/sentiment/compare/examples?{pair}&dataset={name}&shown={text}&limit=100"]
        task += [
            f"{at}/tasks/sentiment/transfer{end}?dataset={name}"
            for at, end in (("", ""), ("/api/v1", ""), ("", ".csv"))
        ]
    api = [f"/api/v1/tasks/sentiment/{element}" for element in (*VIEWS, f"compare?{pair}")]
    model = [
        f"{at}/models/model-{n}/scores{end}" for n in range(3) for at, end in (("", ""), ("/api/v1", ""), ("", ".csv"))
    ]
    return task + api + model


def ids(client):
    return {
        item["entrant"]["label"]: item["entrant"]["id"]
        for item in client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    }


def test_the_walk_visits_every_route_of_the_views(client):
    walked = {address.partition("?")[0] for address in addresses(1, 2)}
    for router, prefix in ((view_pages.router, ""), (view_pages.router, ""), (view_api.router, "/api/v1")):
        for route in router.routes:
            pattern = compile_path(prefix + route.path)[0]
            assert any(pattern.match(address) for address in walked), route.path


@pytest.mark.slow
def test_nothing_of_a_hidden_dataset_leaves_but_scores_of_the_whole(client):
    first, second = ids(client)["model-0"], ids(client)["model-1"]
    for address in addresses(first, second):
        answer = client.get(address)
        assert answer.status_code in (200, 403), (address, answer.text[:300])
        assert "SECRET" not in answer.text, address
        assert "hushed-" not in answer.text, address
        if "hushed" in address and ("examples" in address or "transfer" in address or "compare" in address):
            assert answer.status_code == 403, address
    for best, tags in (("first", {"even", "rare"}), ("hushed", {"even"})):
        document = client.get(f"/api/v1/tasks/sentiment/datasets/{best}/best").json()["slices"]
        assert {item["tag"] for item in document} == tags, "slices of a hidden dataset have 30 rows or more"
        document = client.get(f"/api/v1/tasks/sentiment/slices?dataset={best}").json()
        assert set(document["slices"]) == tags
        assert all(set(element["slices"]) <= tags for element in document["items"])
        sheet = client.get(f"/tasks/sentiment/slices.csv?dataset={best}").text.splitlines()[1:]
        assert {line.split(",")[2] for line in sheet} == {"", *tags}
    slices = client.get("/api/v1/models/model-0/scores").json()["items"][0]["slices"]
    assert set(slices["hushed"]) == {"even"}


@pytest.mark.parametrize(
    ("n", "visible"), [(29, False), (30, True), (90, True), (91, False), (119, False), (120, True)]
)
def test_no_slice_of_a_hidden_dataset_says_how_its_few_other_rows_were_answered(client, database, n, visible):
    def resize(session):
        for row in session.scalars(select(Score).where(Score.slice == "even")):
            row.n = n

    database.write(resize)
    for name, view in (("hushed", visible), ("second", True)):
        slices = client.get(f"/api/v1/tasks/sentiment/datasets/{name}/best").json()["slices"]
        assert ("even" in {item["tag"] for item in slices}) is view, name
    number = database.read(lambda s: s.scalars(select(Evaluation.id).join(DatasetVersion).join(
        Dataset, Dataset.id == DatasetVersion.dataset_id).where(Dataset.name == "hushed")).first())  # fmt: skip
    scores = client.get(f"/api/v1/evaluations/{number}/scores").json()["items"]
    assert ("even" in {score["slice"] for score in scores}) is visible


@pytest.mark.slow
def test_the_digest_of_hidden_rows_is_told_nowhere_so_that_no_guess_can_be_confirmed(client, database, person):
    both = select(Dataset, DatasetVersion).join(DatasetVersion, DatasetVersion.id == Dataset.version_id)
    versions = database.read(
        lambda session: {
            source.name: (v.digest, Disclosure.of(None, source).digest(v)) for source, v in session.execute(both)
        }
    )
    secret, answer = versions["hushed"]
    first, second = ids(client)["model-0"], ids(client)["model-1"]
    board = "/api/v1/tasks/sentiment/leaderboard"
    more = [f"{board}/file?format={form}" for form in ("json", "csv")] + [f"{board}/paperswithcode"]
    more += [f"{board}/rows/{first}", f"{board}/rows/{first}/card", "/tasks/sentiment/leaderboard"]
    seen = ""
    for address in addresses(first, second) + more:
        text = client.get(address).text
        assert secret[:12] not in text, address
        seen += text
    assert answer in seen, "the board says by which state of the rows it was made"
    assert versions["first"][0] in seen, "rows that all may have are named by their own digest"
    ada = person("ada")
    slug = ada.post("/api/v1/tasks/sentiment/snapshots", json={"title": ""}).json()["slug"]
    stored = client.get(f"/api/v1/snapshots/{slug}").text + client.get(f"/snapshots/{slug}").text
    assert secret[:12] not in stored
    assert answer in stored


@pytest.mark.slow
def test_a_private_submission_is_there_for_its_submitter_and_admins_alone(client, owner, person, change):
    ada, bob = person("ada"), person("bob")
    number = ids(client)["model-1"]
    other = ids(client)["model-0"]
    change("model-1", visibility="private", person="ada", name="quiet-one", model="quiet-one")
    for caller in (client, bob):
        for address in [*addresses(other, number), "/api/v1/models/quiet-one/scores", "/models/quiet-one/scores"]:
            if caller is bob and not address.startswith("/api"):
                continue
            answer = caller.get(address)
            assert answer.status_code in (200, 403, 404), address
            assert "quiet-one" not in answer.text.replace("'quiet-one'", "").replace("&#39;quiet-one&#39;", ""), address
    for caller in (ada, owner):
        assert "quiet-one" in ids(caller)
        assert caller.get("/api/v1/models/quiet-one/scores").status_code == 200


@pytest.mark.slow
def test_an_anonymous_submission_has_scores_without_its_name(client, person, change):
    ada = person("ada")
    number, other = ids(client)["model-1"], ids(client)["model-0"]
    change("model-1", visibility="anonymous", person="ada", name="masked", model="masked")
    assert ids(client)[f"Anonymous {number}"] == number
    assert ids(ada)["masked"] == number
    for address in addresses(other, number):
        answer = client.get(address)
        assert answer.status_code in (200, 403, 404), address
        assert "masked" not in answer.text, address
    assert client.get("/api/v1/models/masked/scores").status_code == 404
    assert ada.get("/api/v1/models/masked/scores").json()["items"][0]["tries"] is None


def test_a_withdrawn_submission_leaves_the_boards_and_keeps_its_scores(client, change):
    number = ids(client)["model-1"]
    change("model-1", state="withdrawn")
    assert "model-1" not in ids(client)
    items = client.get("/api/v1/models/model-1/scores").json()["items"]
    assert [(item["entrant"]["id"], item["entrant"]["withdrawn"]) for item in items] == [(number, True)]


def test_who_submits_again_gets_a_score_of_their_own_on_hidden_data_only_where_it_differs(
    client, person, change, database
):
    person("ada")
    for name in ("model-1", "model-2"):
        change(name, person="ada")
    number = database.read(lambda s: s.scalars(select(Submission.id).where(Submission.name == "model-2")).one())

    def nudge(session):
        version = session.scalars(select(Dataset.version_id).where(Dataset.name == "hushed")).one()
        source = (
            select(Score)
            .join(Evaluation)
            .where(
                Evaluation.submission_id == number,
                Evaluation.version_id == version,
                Score.metric == "accuracy",
                Score.slice == "",
            )
        )
        session.scalars(source).one().value += 0.004

    database.write(nudge)
    items = client.get("/api/v1/tasks/sentiment/matrix").json()["items"]
    answer = {item["entrant"]["label"]: item["cells"][-1]["score"]["value"] for item in items}
    assert answer["model-2"] == answer["model-1"]


@pytest.mark.parametrize(
    "address", ["/tasks/sentiment/compare?a=1&b=99999", "/api/v1/tasks/sentiment/compare?a=1&b=99999"]
)
def test_entries_that_do_not_exist_are_not_found(client, address):
    assert client.get(address).status_code == 404


def test_a_model_that_is_listed_for_few_people_has_no_scores_page_for_others(client, owner, database):
    database.write(lambda session: session.add(ModelListing(name="model-0", visibility="private")))
    assert client.get("/api/v1/models/model-0/scores").status_code == 404
    assert client.get("/models/model-0/scores.csv").status_code == 404
    assert owner.get("/api/v1/models/model-0/scores").status_code == 200
