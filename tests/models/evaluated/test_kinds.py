"""Models that are asked over a wire, ask one another, or run in the sandbox: evaluated to their scores."""

import pytest
from sqlalchemy import select

from dynabench.benchmark.evaluations import answers, evaluation_run
from dynabench.benchmark.evaluations.tables import Score
from dynabench.datasets.stored import StoredRow
from dynabench.kit.settings import get_settings
from dynabench.models import catalog
from tests.models.contract import models_ensemble, models_handler, models_oip
from tests.scoring.conftest import by_hand, place, statements

pytestmark = pytest.mark.release

__all__ = ["by_hand", "place"]
MAKERS = [created.MAKERS[0] for created in (models_ensemble, models_handler, models_oip)]
PAIRS = [
    StoredRow(f"p{n}", {"premise": "It rains.", "hypothesis": f"It rains {n} drops."}, ({"label": "neutral"},))
    for n in range(9)
]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
def test_an_evaluation_says_what_the_model_answers_here(
    maker, place, by_hand, settings, database, monkeypatch, request
):
    values = [request.getfixturevalue(maker.fixture)] if maker.fixture else []
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    get_settings.cache_clear()
    here, rows = place(maker.task), statements(9) if maker.task == "sentiment" else PAIRS
    models = settings.folder / "models"
    models.mkdir()
    with maker.make(models, *values) as folder:
        card = catalog.entry(folder.name).card
        here.dataset("few", rows)
        here.submit(folder.name, inside=card.inside)
        assert here.queue(submission=1) == 1
        by_hand(1)
        model = catalog.open_model(folder)
        expected = [prediction.answer for prediction in model.predict([row.inputs for row in rows])]
        if close := getattr(model, "close", None):
            close()
    assert here.evaluation(1).state == "done"
    reply = [item.answer for item in answers.read_answers(answers.answers_path(settings, 1, evaluation_run.ROWS, 0))]
    assert reply == expected
    with database._reads() as session:
        result = {element.metric: element for element in session.scalars(select(Score).where(Score.slice == ""))}
    right = [answer == row.answers[0] for answer, row in zip(reply, rows, strict=True)]
    assert result["accuracy"].value == pytest.approx(sum(right) / 9)
    assert result["throughput"].value > 0
    assert ("memory" in result) == card.inside, "of what others serve nobody knows the memory"
