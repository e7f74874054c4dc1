"""The documentation as pages of the site: links, anchors, pictures, and the reference of the API."""

import re

import pytest

from dynabench.site.documentation import api_reference, documents

LINK = re.compile(r'(?:href|src)="([^"]+)"')


def test_every_link_of_a_page_leads_to_a_page_a_heading_or_a_picture():
    pages = documents.documents()
    anchors = {page.address: {heading.anchor for heading in page.headings} for page in pages.values()}
    wrong, count = [], 0
    for page in pages.values():
        for target in LINK.findall(str(page.html)):
            address, _, anchor = target.partition("#")
            address = address or page.address
            if not address.startswith("/docs"):
                assert address.startswith(("http", "/evaluate")), target
                continue
            count += 1
            picture = documents.picture(address.removeprefix("/docs/"))
            if picture is None and (address not in anchors or (anchor and anchor not in anchors[address])):
                wrong.append((page.name, target))
    assert wrong == []
    assert count > 200


def test_a_page_has_its_place_in_the_navigation_anchors_and_neighbours(client):
    page = client.get("/docs/how-to/submit")
    assert page.status_code == 200
    assert '<a href="/docs/how-to/submit" aria-current="page">' in page.text
    assert '<h2 id="the-check">' in page.text
    assert 'href="#the-check"' in page.text
    assert re.search(r'rel="prev" href="/docs/how-to/bring-a-model"', page.text)


def test_headings_of_one_name_have_anchors_of_their_own():
    anchors = [heading.anchor for heading in documents.documents()["reference/task-config"].headings]
    assert len(anchors) == len(set(anchors))
    assert documents.slug("Verdicts & “rates”, twice") == "verdicts-rates-twice"


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("how-to/submit.md", "/docs/how-to/submit"),
        ("decisions/index.md", "/docs/decisions"),
        ("how-to/submit/", "/docs/how-to/submit"),
        ("reference/modules/metrics", "/evaluate?kind=metric"),
        ("reference/modules/metrics.md", "/evaluate?kind=metric"),
    ],
)
def test_addresses_of_files_lead_to_their_page(client, path, target):
    answer = client.get(f"/docs/{path}")
    assert answer.status_code == 308
    assert answer.headers["location"].endswith(target)


def test_pictures_are_served_and_nothing_else_of_the_folder(client):
    picture = client.get("/docs/tutorial/pictures/blue-square.png")
    assert picture.status_code == 200
    assert picture.headers["content-type"] == "image/png"
    for path in ("../mkdocs.yml", "%2e%2e/README.md", "..%2fdocs/images/../../README.md", "images", "nothing"):
        assert client.get(f"/docs/{path}").status_code in (404, 308), path


def test_html_of_a_document_cannot_bring_script():
    page = documents._render("x", "X", "", "# X\n\n<script>alert(1)</script> [a](javascript:alert(1))", "x.md")
    assert "<script" not in page.html
    assert 'href="javascript' not in page.html


@pytest.mark.slow
def test_the_reference_has_every_operation_once_with_what_it_needs(app, client):
    document = app.openapi()
    reference = api_reference.read_reference(document)
    listed = [
        (operation.method.lower(), operation.path) for subject in reference.subjects for operation in subject.operations
    ]
    named = {(method, path) for path, methods in document["paths"].items() for method in methods}
    assert sorted(listed) == sorted(named)
    answer = client.get("/docs/api")
    assert answer.status_code == 200
    for subject in reference.subjects:
        page = client.get(f"/docs/api/{subject.name}").text
        assert page.count('<details class="api-operation"') == len(subject.operations)
        assert '<details class="api-operation" open' not in page
        assert len(page) < 90_000, (subject.name, "details have pages of their own")
        operation = subject.operations[0]
        address = f"/docs/api/{subject.name}/{operation.anchor}"
        assert address in page
        part = client.get(address, headers={"HX-Request": "true"}).text
        assert "curl " in part
        assert "<html" not in part
        assert operation.path.split("/")[-1].strip("{}") in client.get(address).text
    assert client.get("/docs/api/collection/nothing").status_code == 404


def test_an_operation_says_how_it_is_called(app):
    reference = api_reference.read_reference(app.openapi())
    create = next(
        operation
        for subject in reference.subjects
        for operation in subject.operations
        if (operation.method, operation.path) == ("POST", "/api/v1/tasks/{task}/examples")
    )
    assert create.scopes == ("annotate",)
    assert create.open_to_all
    assert [member.name for member in create.body if member.required and not member.depth] == [
        "context_id", "input", "answer"
    ]  # fmt: skip
    assert "curl -X POST 'https://bench.example/api/v1/tasks/{task}/examples'" in create.curl("https://bench.example")
    assert '"context_id": 1' in create.curl("")
