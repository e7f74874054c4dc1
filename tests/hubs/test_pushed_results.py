"""Results that `dynabench evaluate card push` sends to this platform's own hub."""

from pathlib import Path

import pytest
from huggingface_hub import ModelCard

from dynabench.evaluate.cards.model_index import CardResult, merge_results
from dynabench.evaluate.cards.pushing import PushTarget, push_card, push_entries
from dynabench.evaluate.cards.result_files import ResultEntry, read_entries

pytestmark = pytest.mark.slow
CARD = b"---\r\nlicense: mit  # free\r\n---\r\n# M\r\n"


def test_results_are_proposed_as_pull_requests_and_change_no_other_byte(hub):
    owner, author = hub.api("ada"), hub.api("bob")
    name = owner.create_repo("scored").repo_id
    owner.upload_file(path_or_fileobj=CARD, path_in_repo="README.md", repo_id=name)
    target = PushTarget(name, endpoint=hub.endpoint, token=author.token)
    result = CardResult("text-classification", "a/b", "AB", "accuracy", 0.75)
    outcome = push_card(target, lambda card: merge_results(card, [result], model_name="m"), "Add evaluation results")
    assert outcome.pull_request
    push_entries(target, "ab", [ResultEntry("a/b", "t", 0.5)], "Add a result")
    assert {discussion.title for discussion in owner.get_repo_discussions(name)} == {
        "Add evaluation results",
        "Add a result",
    }
    for number in (1, 2):
        owner.merge_pull_request(name, number)
    merged = Path(owner.hf_hub_download(name, "README.md")).read_bytes()
    assert merged.startswith(CARD.partition(b"\r\n---")[0])
    assert merged.endswith(b"\r\n---\r\n# M\r\n")
    (read,) = ModelCard(merged.decode()).data.eval_results
    assert (read.metric_type, read.metric_value) == ("accuracy", 0.75)
    entries = Path(owner.hf_hub_download(name, ".eval_results/ab.yaml")).read_text()
    assert read_entries(entries) == [ResultEntry("a/b", "t", 0.5)]
