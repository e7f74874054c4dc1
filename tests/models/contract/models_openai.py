from pathlib import Path
from typing import Any

from dynabench.models import starting

from .table import TASKS, Maker, needs, plain

TESTS = frozenset(
    {
        "test_the_card_says_what_the_model_is",
        "test_every_sample_is_answered_validly_and_alone_as_in_any_batch",
        "test_inputs_of_another_form_are_refused_by_name",
        "test_fields_that_the_model_does_not_read_change_nothing",
        "test_another_label_or_method_is_refused",
        "test_a_model_opened_twice_answers_twice_and_closing_one_leaves_the_other",
        "test_closing_frees_the_model_its_threads_and_its_processes",
        "test_the_host_serves_the_same_answers_by_the_open_inference_protocol",
    }
)
"""All but those that ask for an answer of each hard text and for each word left out: it writes one in half a second."""


def small_language_model(place: Path, server: Any) -> Path:
    """A small language model behind a chat API, which chooses among the labels by schema."""
    needs("openai")
    from tests.models.served.chat_server import NAME

    folder = starting.start("a-chat", TASKS["sentiment"], "openai", place, url=server.url, model=NAME)
    with (folder / "model.yaml").open("a", encoding="utf-8") as file:
        file.write("seconds: 120\n")  # for an answer on a busy machine, where four wait for each other
    return folder


MAKERS = [Maker("openai", "sentiment", plain(small_language_model), fixture="chat", rows=4, tests=TESTS)]
