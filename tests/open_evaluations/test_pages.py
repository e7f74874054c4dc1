"""The pages of open evaluations: the finding of a board, its intervals, the form before a choice, and a full disk."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import pack_replicates
from dynabench.kit.db import Database
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.tables import OpenEvaluation, OpenEvaluationModel, OpenScore, OpenState

pytestmark = pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
DRAWN = np.random.default_rng(7).normal(0.0, 0.02, 1000)
Page = Callable[..., str]


def stored_evaluation(session: Session, state: OpenState) -> OpenEvaluation:
    """An evaluation that everybody may see."""
    choices = vars(OpenChoices(dataset="file:none", task="text-classification"))
    evaluation = OpenEvaluation(
        kind="text-classification",
        source="file:none",
        title="Films",
        state=state,
        rows=90,
        listed=True,
        choices=choices,
    )
    session.add(evaluation)
    session.flush()
    return evaluation


@pytest.fixture
def show(client: Any, database: Database) -> Page:
    """A function that stores a finished evaluation with these scores by model and returns its page as one line."""

    def make(session: Session, metric: str, scores: dict[str, float | None], steady: bool) -> int:
        evaluation = stored_evaluation(session, OpenState.DONE)
        for number, (name, value) in enumerate(scores.items()):
            state = "failed" if value is None else "done"
            session.add(
                OpenEvaluationModel(
                    evaluation_id=evaluation.id, number=number, reference=name, name=name, state=state
                )
            )  # fmt: skip
            if value is None:
                continue
            drawn = value + DRAWN * (0.0 if steady else 1.0 + number / 100)
            width = 0.0 if steady else 0.04
            session.add(
                OpenScore(
                    evaluation_id=evaluation.id, model=number, metric=metric, key=metric, place=0, value=value,
                    low=value - width, high=value + width, n=90, replicates=pack_replicates(drawn),
                )
            )  # fmt: skip
        return evaluation.id

    def read(metric: str, scores: dict[str, float | None], steady: bool = False) -> str:
        id = database.write(make, metric, scores, steady)
        return " ".join(client.get(f"/open-evaluations/{id}").text.split())

    return read


@pytest.mark.parametrize(
    ("metric", "scores", "finding"),
    [
        ("f1", {"north": 0.8}, "The f1 of north is 0.800 (95% interval 0.760 to 0.840)."),
        (
            "f1", {"north": 0.8, "south": 0.9},
            "south has the best f1, 0.900 (95% interval 0.860 to 0.940), and the difference to north is more than "
            "chance.",
        ),
        ("mae", {"north": 0.8, "south": 0.9}, "north has the best mae, 0.800"),
        ("f1", {"north": 0.8, "south": 0.8}, "north, south have the same f1, 0.800"),
        ("f1", {"north": 0.8, "south": None, "east": None}, "The f1 of north is 0.800"),
        ("f1", {"north": 0.8, "south": None, "east": None}, "; 2 models have no score."),
        ("f1", {"north": 0.8, "south": 0.9, "east": None}, "is more than chance; 1 model has no score."),
    ],
)  # fmt: skip
def test_the_page_begins_with_its_finding(show: Page, metric: str, scores: dict[str, float | None], finding: str):
    page = show(metric, scores)
    assert finding in page
    assert page.index(finding) < page.index("Board")


def test_a_difference_within_chance_is_called_so(show: Page):
    page = show("f1", {"north": 0.8, "south": 0.8001})
    assert (
        "south has the best f1, 0.800 (95% interval 0.760 to 0.840), but the difference to north may be chance." in page
    )
    assert '<bdi dir="ltr" class="small muted">0.760 – 0.840</bdi>' in page, (
        "also where the text runs from right to left"
    )


def test_an_evaluation_without_scores_has_no_finding(show: Page):
    assert "open-finding" not in show("f1", {"north": None})


@pytest.mark.parametrize(
    ("value", "reason"), [(1.0, "all rows right"), (0.5, "the same in every sample of rows")], ids=["right", "steady"]
)
def test_a_score_that_never_varies_says_why_it_has_no_interval(show: Page, value: float, reason: str):
    page = show("f1", {"north": value}, steady=True)
    assert f"no interval: {reason}" in page
    assert "95% interval" not in page.partition("Board")[0]


def test_missing_columns_are_no_error_before_a_person_chose(browser: Callable[[], Any]):
    """Columns that cannot be guessed: the first rows are shown as they are, and errors follow the first choice."""
    guest = browser()
    guest.join("mia")
    rows = b"a,b,c\n" + b"".join(b"%d,%d,x%d\n" % (n, 2 * n, n) for n in range(50))
    answer = guest.client.post(
        "/open-evaluations/files",
        data={"csrf": guest.token("/settings")},
        files={"file": ("odd.csv", rows)},
        follow_redirects=True,
    )
    form = str(answer.url)
    assert answer.status_code == 200
    assert 'class="field has-error"' not in answer.text
    assert '<td class="cell-text" dir="auto" data-label="c">x2</td>' in answer.text
    for choice, error in (("checked=1", "Choose the column for Label"), ("column.text=z", "has no column")):
        page = guest.client.get(f"{form}&{choice}").text
        assert 'class="field has-error"' in page
        assert error in page


def test_a_queued_evaluation_says_that_it_waits_for_disk_space(
    client: Any, database: Database, monkeypatch: pytest.MonkeyPatch
):
    id = database.write(lambda session: stored_evaluation(session, OpenState.QUEUED).id)
    waits = "The evaluation waits for free space and then starts by itself."
    assert waits not in client.get(f"/open-evaluations/{id}").text
    monkeypatch.setattr("dynabench.kit.disk.shutil.disk_usage", lambda folder: SimpleNamespace(free=1000))
    assert waits in client.get(f"/open-evaluations/{id}").text
