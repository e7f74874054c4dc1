"""What the OpenAPI document says of who may use what."""

import pytest

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)


def test_it_tells_routes_for_visitors_from_routes_for_members(client):
    paths = client.get("/api/openapi.json").json()["paths"]
    assert paths["/api/v1/tasks/{task}/contexts/next"]["post"]["security"] == [{"HTTPBearer": []}, {}]
    assert paths["/api/v1/me"]["get"]["security"] == [{"HTTPBearer": []}]
    assert "security" not in paths["/api/v1/tokens"]["post"]
