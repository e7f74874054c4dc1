"""Addresses that templates write out lead to a page of the application."""

import re

import pytest
from starlette.routing import Match

from dynabench.site.app import create_app
from dynabench.site.documentation import documents
from dynabench.web.environment import PACKAGE

WRITTEN = re.compile(r'\b(?:href|src|action)="(/[^"{}?#]*)[^"{}]*"')
ADDRESSES = sorted(
    {
        (path.name, address)
        for path in PACKAGE.rglob("templates/**/*.html")
        for address in WRITTEN.findall(path.read_text())
        if address == "/" or address[-1] != "/"
    }
)


@pytest.fixture(scope="module")
def routes():
    return create_app().routes


@pytest.mark.parametrize(("template", "address"), ADDRESSES)
def test_an_address_written_in_a_template_has_a_page(routes, template, address):
    scope = {"type": "http", "method": "GET", "path": address, "root_path": "", "headers": []}
    assert any(route.matches(dict(scope))[0] != Match.NONE for route in routes)
    name = address.removeprefix("/docs/")
    assert name == address or name.startswith("api") or name in documents.documents()
