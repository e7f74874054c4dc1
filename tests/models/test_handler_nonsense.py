"""Invalid answers and crashes of handlers, and restarts."""

import os
import threading

import pytest

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.sandbox.process import Ended, content
from tests.models.handlers import PAIR, doing


@pytest.mark.release
def test_answers_beyond_measure_are_not_read(attempt):
    assert "of 16777216 at most" in attempt("return {'label': 'x' * (20 << 20)}")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("'neutral'", "predict returns a list of dictionaries"),
        ("None", "predict returns a list of dictionaries"),
        ("{}", "the answer lacks 'label'"),
        ("{'label': 'maybe'}", "is none of the labels entailment, neutral, contradiction"),
        ("{'label': ['neutral']}", "is none of the labels"),
        ("{'label': {'neutral'}}", "a set, which is no value of JSON"),
        ("{'label': 'neutral', 'probabilities': [1, 0, 0]}", "an object from label to number"),
        ("{'label': 'neutral', 'probabilities': {'neutral': 1}}", "needed: entailment, neutral, contradiction"),
        ("{'label': 'neutral', 'probabilities': dict.fromkeys(LABELS, 1.0)}", "sum to 3, not 1; apply a softmax"),
        ("{'label': 'neutral', 'probabilities': dict.fromkeys(LABELS, float('nan'))}", "between 0 and 1"),
        ("{'label': 'neutral', 'note': float('inf')}", "extras must be values of JSON"),
        ("{'label': 'neutral', 'note': '\\ud800'}", "no Unicode"),
    ],
)
def test_nonsense_is_told_apart_from_an_answer(attempt, answer, message):
    assert message in attempt(f"LABELS = ['entailment', 'neutral', 'contradiction']\nreturn {answer}")


@pytest.mark.parametrize(
    ("returned", "message"),
    [("None", "predict returns a list"), ("[]", "0 outputs for 1 inputs"), ("batch * 2", "the answer lacks|2 outputs")],
)
def test_the_wrong_number_of_answers_is_told(shared_handler, returned, message):
    with pytest.raises(Unavailable, match=message):
        shared_handler().predict([PAIR | {"premise": f"predict = lambda batch: {returned}"}])


@pytest.mark.parametrize("size", [0, 5, 1 << 16, 0xFFFFFFFF])
def test_bytes_of_its_own_are_not_taken_for_an_answer(attempt, size):
    body = f"""
    import os
    for number in range(3, 10):
        try: os.write(number, ({size}).to_bytes(4, "big") + b'{{"ok": []}}' * 10)
        except OSError: pass
    """
    assert "it answered what it was not asked" in attempt(body)


@pytest.mark.parametrize("written", ["", "hello", "[]", "3", '{"error": 3}', "[" * 65536, "1" * 65536])
def test_what_is_no_document_of_ours_is_no_answer(written):
    with pytest.raises(Ended, match="it answered what is n"):
        content(written.encode())


def test_a_handler_that_answers_its_loading_with_nonsense_is_told(small_handler):
    with pytest.raises(Invalid, match="it answered what is n"):
        small_handler("import json\njson.dumps = lambda *a, **k: '[]'\n" + doing("pass"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class Model:\n    def __init__(self, folder)\n", "SyntaxError: expected ':'"),
        ("import os\nos._exit(3)", "it ended with exit status 3"),
        ("import sys\nsys.exit('no')", "SystemExit: no"),
        ("raise ValueError('weights lost')", "ValueError: weights lost"),
        ("class Modell: pass", "module 'handler' has no attribute 'Model'"),
        ("import time\ntime.sleep(60)", "loading took longer than 0.3 s"),
        ("class Model: pass", "takes no arguments"),
        ("import requests_that_nobody_has", "No module named 'requests_that_nobody_has'"),
        ("import ctypes\nctypes.string_at(0)", "ended by signal 11"),
        pytest.param(
            "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
            "most likely because memory ran out",
            marks=pytest.mark.skipif(
                os.getuid() != 0, reason="it is the first process, which takes no signal from inside"
            ),
        ),
    ],
)
def test_a_handler_that_does_not_load_is_told_with_the_end_of_its_log(small_handler, source, message):
    seconds = 0.3 if "loading took" in message else 20
    with pytest.raises(Invalid) as raised:
        small_handler(
            f"print('about to load', flush=True)\n{source}" if "Syntax" not in message else source, load_seconds=seconds
        )
    assert message in raised.value.fields["handler.py"]
    assert "Syntax" in message or "about to load" in raised.value.detail


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def deep(n): return deep(n + 1)\ndeep(0)", "RecursionError"),
        ("import sys\nsys.setrecursionlimit(10**9)\ndeep = lambda n: sorted([n], key=deep)\ndeep(0)", "signal 11"),
        ("raise SystemExit(4)", "SystemExit: 4"),
        ("import os\nos._exit(5)", "it ended with exit status 5"),
        ("import ctypes\nctypes.string_at(0)", "ended by signal 11"),
        ("import os\nos.closerange(0, 100)", "it ended with|it closed|ended by"),
        ("open('/proc/self/oom_score_adj', 'wb', buffering=0).write(b'-1000')", "PermissionError"),
    ],
)
def test_a_handler_that_breaks_itself_is_told_and_starts_again(attempt, body, message):
    assert any(part in attempt(body) for part in message.split("|"))


def test_a_handler_that_keeps_ending_is_started_ever_less_often(small_handler):
    model = small_handler(doing("import os\nos._exit(7)"))
    with pytest.raises(Unavailable, match="exit status 7"):
        model.predict([PAIR])
    with pytest.raises(Unavailable, match="ended 2 times and starts again in 1 s") as raised:
        model.predict([PAIR])
    assert raised.value.extra["retry_after"] >= 1
    for ended in (3, 4):
        model._keeper._next = 0
        with pytest.raises(Unavailable):
            model.predict([PAIR])
        assert model._keeper._ended >= ended


def test_a_call_is_tried_once_more_when_the_handler_ends(small_handler):
    model = small_handler("""
    import os

    class Model:
        def __init__(self, folder):
            self.calls = 0

        def predict(self, batch):
            self.calls += 1
            if self.calls == 2: os._exit(1)
            return [{"label": "neutral"}]
    """)
    for _ in range(3):
        assert model.predict([PAIR])[0].answer == {"label": "neutral"}
    assert model.log().count("-- started again --") == 2


def test_closing_ends_a_call_that_is_under_way(small_handler):
    model = small_handler(doing("import time\ntime.sleep(60)"), predict_seconds=30)
    threading.Timer(0.3, model.close).start()
    with pytest.raises(Unavailable, match=r"unloaded|closed"):
        model.predict([PAIR])
