"""Seeds, arms and perturbations from the operator's commands and from programs."""

import json

import pytest

import dynabench
from dynabench.cli import context as context_command
from dynabench.cli import round as rounds_command
from dynabench.cli import task as task_command
from tests.collection import test_client

pytestmark = pytest.mark.slow

address, command = test_client.address, test_client.command

SEEDED = """
id: feel
name: Feel
input: {name: statement, type: text}
answer: {name: label, type: choice, options: [positive, neutral, negative]}
start: {kinds: [seed]}
perturb: {flip: label}
"""


def test_seeds_arms_and_perturbations_from_commands_and_programs(address, command, database, tmp_path):
    config, lines, plain = tmp_path / "feel.yaml", tmp_path / "seeds.jsonl", tmp_path / "seeds.csv"
    config.write_text(SEEDED)
    lines.write_text('{"context": {}, "input": {"statement": "It is good."}, "answer": {"label": "positive"}}\n[]\n')
    plain.write_text("statement,tag\nIt is late.,bus\n")
    assert command(task_command.app, "create", config)[0] == 0
    code, out, _ = command(context_command.app, "seeds", "feel", lines, "--json")
    document = json.loads(out)
    assert (code, document["created"], document["errors"][0]["row"]) == (1, 1, 2)
    assert command(context_command.app, "seeds", "feel", plain)[0] == 0
    assert command(context_command.app, "seeds", "feel")[0] == 2
    arms = '[{"name": "live", "share": 1}]'
    (tmp_path / "arms.json").write_text(arms)
    opening = ("open", "feel", "--target", "sentiment-a", "--json", "--arms")
    assert command(rounds_command.app, *opening, "[{}]")[0] == 1
    assert command(rounds_command.app, *opening, "nonsense")[0] == 1
    code, out, _ = command(rounds_command.app, *opening, f"@{tmp_path / 'arms.json'}")
    assert (code, json.loads(out)["arms"][0]["name"]) == (0, "live")
    assert command(context_command.app, "seeds", "feel", "--from-round", 1)[0] == 0
    with dynabench.Client(address) as client:
        client.register("ada", "ada@example.org", "correct horse battery")
        client.log_in("ada", "correct horse battery")
        values = client.next_context("feel")
        answer = client.create_example("feel", values["id"], {"statement": "Not so good."}, {"label": "negative"})
        assert (values["arm"], answer["arm"]) == ("live", "live")
        assert answer["edit_distance"] > 0
        again = client.perturb("feel", answer["id"])
        text = {"statement": "So good."}
        flipped = client.create_example("feel", again["id"], text, again["goal"], handout=again["handout"])
        assert client.example(flipped["id"])["made_from"] == answer["id"]
        with pytest.raises(dynabench.ApiError) as refused:
            client.hide(answer["id"])
        assert refused.value.status == 404
        with pytest.raises(dynabench.ApiError):
            client.upload_seeds("feel", [{"input": text}])
        with pytest.raises(dynabench.ApiError):
            client.seeds_from_round("feel", 1)
