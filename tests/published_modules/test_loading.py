"""`load("owner/name")` from a running platform: what is trusted runs, and nothing else, whatever moves meanwhile."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dynabench.cli.module import app
from dynabench.evaluate import load
from dynabench.published_modules import trust
from dynabench.published_modules.publishing import PublishedCommit, publish_files
from dynabench.published_modules.repositories import (
    ModuleFiles,
    ModuleReference,
    digest_files,
    fetch_files,
    parse_reference,
    resolve_commit,
)
from dynabench.published_modules.trust import UntrustedModule, add_trust, check_trust, remove_trust, trusted_modules
from tests.hubs.conftest import HubProcess
from tests.published_modules.writing import module_files

ROWS = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, 0]}
COMMITS = st.text("0123456789abcdef", min_size=40, max_size=40)


@pytest.fixture
def database_kind() -> str:
    """The kind of the hub's database, which who loads a module never sees."""
    return "sqlite"


@pytest.fixture
def published(hub: HubProcess, request: pytest.FixtureRequest) -> PublishedCommit:
    """A module of Ada's, and her token in the environment."""
    hub.api("ada")
    return publish(hub, f"ada/{request.node.name[:60].replace('[', '_').replace(']', '').replace('--', '-')}")


def publish(hub: HubProcess, repository: str, **code: str) -> PublishedCommit:
    reference = ModuleReference(repository, endpoint=hub.endpoint, token=hub.tokens["ada"])
    return publish_files(reference, module_files(**code), "Publish")


@pytest.mark.slow
def test_code_runs_only_where_exactly_this_commit_is_trusted(hub: HubProcess, published: PublishedCommit):
    name, commit = published.repository, published.revision
    with pytest.raises(UntrustedModule, match=f"{name} at {commit} is code of another person") as error:
        load(name, endpoint=hub.endpoint)
    assert f"dynabench module trust {name}@{commit}" in str(error.value)
    with pytest.raises(UntrustedModule, match="trust=True needs a full commit"):
        load(name, endpoint=hub.endpoint, trust=True)
    with pytest.raises(UntrustedModule, match="give all 40 digits"):
        load(name, endpoint=hub.endpoint, trust=commit[:10])
    with load(name, endpoint=hub.endpoint, trust=commit) as module:
        assert module.compute(**ROWS) == {"agreement": 0.75}
        assert (module.revision, module.name, module.kind) == (commit, "agreement", "metric")
        assert module.features["predictions"].dtype == "label"
    with load(f"{name}@{commit}", endpoint=hub.endpoint, trust=True) as module:
        assert module.compute(**ROWS, per_example=True)["per_example"]["agreement"] == [1.0, 1.0, 0.0, 1.0]
    with pytest.raises(UntrustedModule):  # an argument is no lasting trust
        load(name, endpoint=hub.endpoint)


@pytest.mark.slow
def test_a_branch_that_moves_never_changes_what_is_trusted(hub: HubProcess, published: PublishedCommit):
    name, first = published.repository, published.revision
    reference = ModuleReference(name, endpoint=hub.endpoint)
    add_trust(fetch_files(reference, first))
    with load(name, endpoint=hub.endpoint) as module:
        assert module.compute(**ROWS) == {"agreement": 0.75}
    second = publish(hub, name, formula='return {"agreement": 0 * total[..., 0]}').revision
    assert resolve_commit(reference) == second != first
    with pytest.raises(UntrustedModule, match=f"You trust {first[:10]} of it, which is other code"):
        load(name, endpoint=hub.endpoint)
    with load(name, revision=first, endpoint=hub.endpoint) as module:
        assert module.compute(**ROWS) == {"agreement": 0.75}
    hub.api("ada").create_tag(name, tag="stable", revision=first, repo_type="space")
    with load(f"{name}@stable", endpoint=hub.endpoint) as module:
        assert module.revision == first
    assert remove_trust(name) == 1
    with pytest.raises(UntrustedModule):
        load(name, revision=first, endpoint=hub.endpoint)


def test_a_trusted_commit_needs_no_hub_and_other_files_under_its_name_are_refused(
    hub: HubProcess, published: PublishedCommit, tmp_path: Path
):
    reference = ModuleReference(published.repository, published.revision, hub.endpoint)
    files = fetch_files(reference, published.revision)
    add_trust(files)
    assert fetch_files(reference, published.revision).digest == files.digest
    (files.folder / "agreement.py").write_text("raise SystemExit('other code')")
    with pytest.raises(UntrustedModule, match="not those that you trusted"):
        load(published.repository, revision=published.revision, endpoint=hub.endpoint)
    gone = "http://127.0.0.1:9/api/hub"
    with pytest.raises(ValueError, match="cannot be reached"):
        load(published.repository, endpoint=gone)


@pytest.mark.slow
def test_only_an_explicit_choice_runs_the_code_in_this_process(hub: HubProcess, published: PublishedCommit):
    marked = publish(hub, published.repository, before="import sys\nsys.published_here = True")
    name, commit = marked.repository, marked.revision
    with pytest.raises(UntrustedModule):
        load(name, endpoint=hub.endpoint, in_process=True)
    with load(name, endpoint=hub.endpoint, trust=commit) as module:
        module.compute(**ROWS)
    assert not hasattr(sys, "published_here")
    try:
        module = load(name, endpoint=hub.endpoint, trust=commit, in_process=True)
        assert sys.published_here
        assert module.compute(**ROWS) == {"agreement": 0.75}
        assert module.name == "agreement"
    finally:
        del sys.published_here
        sys.path[:] = [path for path in sys.path if commit not in path]


@pytest.mark.slow
def test_private_modules_need_the_owners_token(hub: HubProcess, published: PublishedCommit):
    hub.api("ada").update_repo_settings(published.repository, private=True, repo_type="space")
    hub.api("ben")
    for token in (None, hub.tokens["ben"]):
        with pytest.raises(ValueError, match=r"has no module .* or it is private"):
            load(published.repository, endpoint=hub.endpoint, token=token or "")
    with load(published.repository, endpoint=hub.endpoint, token=hub.tokens["ada"], trust=published.revision) as module:
        assert module.compute(**ROWS) == {"agreement": 0.75}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"README.md": b"---\nlicense: mit\n---\n"}, "declares no module"),
        ({"README.md": b"---\nevaluation-module: [1]\n---\n"}, "give a mapping"),
        ({"README.md": b"---\nevaluation-module: {kind: poem}\n---\n"}, "name: give a text"),
        ({"agreement.py": None}, "has no file agreement.py"),
    ],
)
def test_a_repository_without_a_module_says_what_is_missing(
    hub: HubProcess, files: dict[str, bytes | None], message: str
):
    hub.api("ada")
    name = f"ada/broken_{abs(hash(message)) % 10**9}"
    reference = ModuleReference(name, endpoint=hub.endpoint, token=hub.tokens["ada"])
    changed = {path: data for path, data in (module_files() | files).items() if data is not None}
    commit = publish_files(reference, changed, "Publish")
    with pytest.raises(ValueError, match=message):
        load(name, endpoint=hub.endpoint, trust=commit.revision)


def test_files_other_than_the_listed_ones_leave_nothing_in_the_cache(
    hub: HubProcess, published: PublishedCommit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    from huggingface_hub import HfApi

    honest = HfApi.hf_hub_download

    def lie(api: HfApi, *arguments: object, **options: object) -> str:
        path = honest(api, *arguments, **options)
        Path(path).write_bytes(Path(path).read_bytes() + b"# more\n")
        return path

    reference = ModuleReference(published.repository, endpoint=hub.endpoint)
    monkeypatch.setattr(HfApi, "hf_hub_download", lie)
    with pytest.raises(ValueError, match="is not the file that the hub listed"):
        fetch_files(reference, published.revision)
    monkeypatch.undo()
    os.environ["XDG_CACHE_HOME"] = str(tmp_path / "user-cache")
    assert not [path for path in (tmp_path / "user-cache").rglob("*") if path.is_file()]


@pytest.mark.slow
def test_the_command_publishes_what_passes_and_trusts_what_was_read(
    hub: HubProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    run = CliRunner().invoke
    monkeypatch.setenv("HF_TOKEN", hub.api("ada").token)
    folder = tmp_path / "gap"
    assert run(app, ["new", "gap", "--folder", str(folder)]).exit_code == 0
    server = ["--server", hub.endpoint]
    publication = run(app, ["publish", str(folder), "ada/gap", *server, "--json"])
    assert publication.exit_code == 0, publication.output
    commit = json.loads(publication.stdout)
    assert commit["address"] == f"{hub.address}/hub/spaces/ada/gap"
    again = run(app, ["publish", str(folder), "ada/gap", *server, "--json"])
    assert json.loads(again.stdout)["repository"] == "ada/gap"
    listing = run(app, ["show", f"ada/gap@{commit['revision']}", *server])
    assert "class Gap(Metric)" in listing.stdout
    refused = run(app, ["trust", "ada/gap", *server])
    assert refused.exit_code == 1
    assert "dynabench module trust ada/gap@" in refused.stderr
    assert run(app, ["trust", f"ada/gap@{commit['revision']}", *server]).exit_code == 0
    assert [entry["revision"] for entry in json.loads(run(app, ["list", "--json"]).stdout)] == [commit["revision"]]
    with load(f"ada/gap@{commit['revision']}", endpoint=hub.endpoint) as module:
        assert module.compute(**ROWS) == {"gap": 0.75}
    assert "1 commits" in run(app, ["distrust", "ada/gap"]).stdout
    tags = hub.api("ada").space_info("ada/gap").tags
    assert {"evaluate", "metric", "license:apache-2.0"} <= set(tags)
    code = (folder / "gap.py").read_text()
    (folder / "gap.py").write_text(code.replace("total[..., 0] / total[..., -1]", "2 * total[..., 0]"))
    before = hub.api("ada").space_info("ada/gap").sha
    wrong = run(app, ["publish", str(folder), "ada/gap", *server])
    assert wrong.exit_code == 1
    assert "FAILED  examples" in wrong.stderr
    assert hub.api("ada").space_info("ada/gap").sha == before
    foreign = run(app, ["publish", str(folder), "ben/gap", *server])
    assert foreign.exit_code == 1


@given(st.lists(st.tuples(st.sampled_from(["ada/a", "Ada/A", "ben/b"]), COMMITS), max_size=6), COMMITS, st.data())
@settings(deadline=None)
def test_trust_is_of_one_commit_and_one_digest(entries: list[tuple[str, str]], other: str, data: st.DataObject):
    for entry in trusted_modules():
        remove_trust(entry.repository)
    for repository, revision in entries:
        files = {"a.py": revision.encode()}
        add_trust(ModuleFiles(repository, revision, Path(), files, digest_files(files)))
    assert {(e.repository.lower(), e.revision) for e in trusted_modules()} == {(n.lower(), r) for n, r in entries}
    for repository, revision in entries:
        digest = check_trust(repository, revision, None, False)
        files = ModuleFiles(repository, revision, Path(), {"a.py": revision.encode()}, digest or "")
        trust.check_digest(replace(files, digest=digest_files(files.files)), digest)
        with pytest.raises(UntrustedModule):
            trust.check_digest(replace(files, digest="0" * 64), digest)
    if other not in {revision for _name, revision in entries}:
        for repository in ("ada/a", "ben/b", "eve/e"):
            with pytest.raises(UntrustedModule):
                check_trust(repository, other, None, True)
            with pytest.raises(UntrustedModule):
                check_trust(repository, other, "1" * 40, True)
            assert check_trust(repository, other, other, False) is None
    if entries:
        repository, revision = data.draw(st.sampled_from(entries))
        remove_trust(repository, revision)
        with pytest.raises(UntrustedModule):
            check_trust(repository, revision, None, True)


def test_a_damaged_list_of_trusted_modules_trusts_nothing(tmp_path: Path):
    path = trust.trust_file()
    path.parent.mkdir(parents=True)
    path.write_text('[{"repository": "ada/a"}]')
    with pytest.raises(ValueError, match="nothing is trusted until then"):
        check_trust("ada/a", "0" * 40, None, True)


@pytest.mark.slow
@given(st.text(max_size=80))
def test_a_name_is_a_repository_or_refused(path: str):
    try:
        reference = parse_reference(path)
    except ValueError:
        return
    owner, _, name = reference.repository.partition("/")
    assert owner
    assert name
    assert ".." not in path
