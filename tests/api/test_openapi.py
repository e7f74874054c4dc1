"""Access as the OpenAPI document describes it."""

import pytest

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def test_it_tells_routes_for_visitors_from_routes_for_members_and_names_scopes(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    assert paths["/api/v1/tasks/{task}/contexts/next"]["post"]["security"] == [{"HTTPBearer": ["annotate"]}, {}]
    assert paths["/api/v1/me"]["get"]["security"] == [{"HTTPBearer": ["read"]}]
    assert paths["/api/v1/me"]["patch"]["security"] == [{"HTTPBearer": ["account"]}]
    assert paths["/api/v1/tokens"]["post"]["security"] == [{"HTTPBearer": ["account"]}, {}]
