"""Defects that random configs revealed, each as the smallest task that shows it."""

import pytest

from dynabench.tasks.fields import ImageRegion
from tests.collection import conftest as world
from tests.tasks.laws import drawn

host, rules, client, furnish, admin = world.host, world.rules, world.client, world.furnish, world.admin
GROUP = """
id: couples
name: Couples
input: [{name: text, type: text}]
answer: {name: couple, type: group, fields: [{name: first, type: text}, {name: second, type: text}]}
"""


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
def test_the_page_of_a_task_whose_answer_is_a_group_is_drawn(admin):
    assert admin.post("/api/v1/tasks", json={"config": GROUP}).status_code == 201
    response = admin.get("/tasks/couples")
    assert response.status_code == 200
    assert "Couple" in response.text


def test_regions_without_labels_are_shown():
    field = ImageRegion(name="where", of="picture")
    assert "3, 4; 5 × 6" in drawn(field, "read", [{"x": 3, "y": 4, "width": 5, "height": 6}], {})
