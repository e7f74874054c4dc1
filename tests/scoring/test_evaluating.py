"""Models are evaluated by a worker, and nothing is answered or scored twice."""

from sqlalchemy import select

from dynabench.scoring.tables import Record, Score, Shard
from tests.scoring.conftest import statements


def test_an_installed_model_gets_its_scores(place, worker, database, settings):
    here = place()
    here.dataset("films", statements(90))
    here.submit("sentiment-ngram")
    assert here.queue(submission=1) == 1
    assert here.queue(submission=1) == 0
    worker.start()
    found = here.ended(1)
    assert (found.state, found.rows_done, found.rows) == ("done", 90, 90), (found.code, found.reason, found.log, worker.said())
    with database._reads() as session:
        scores = {(each.metric, each.slice): each for each in session.scalars(select(Score))}
        for key, s in scores.items():
            print(key, s.value, s.low, s.high, s.n)
        print(session.scalars(select(Record)).one().document)
        print(len(session.scalars(select(Shard)).all()))
    assert 0
