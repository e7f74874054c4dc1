"""A worker that dies by SIGKILL in the middle of an open evaluation: the next one goes on where answers are stored."""

from collections import Counter

import pytest
from sqlalchemy import func, select

from dynabench.open_evaluations import model_runs, predictions
from dynabench.open_evaluations.tables import OpenEvaluation, OpenRecord, OpenScore, OpenShard
from tests.jobs.conftest import Worker, until
from tests.open_evaluations.chat_server import ChatServer
from tests.open_evaluations.conftest import Desk
from tests.open_evaluations.small_data import json_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ROWS = model_runs.SHARD_ROWS + 60


def test_no_stored_answer_is_asked_for_again(desk: Desk, worker: Worker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DYNABENCH_PRIVATE_ENDPOINTS", "127.0.0.1")
    worker.env |= {"DYNABENCH_PRIVATE_ENDPOINTS": "127.0.0.1"}
    server = ChatServer(town=lambda fields: fields["prompt"].rpartition(" ")[2])
    rows = [{"prompt": f"Repeat the word word{number}", "completion": f"word{number}"} for number in range(ROWS)]
    id = desk.start(desk.upload("words.jsonl", json_lines(rows)), [server.address("town")])
    try:
        worker.start()
        until(lambda: desk.seen(id).models[0].rows_done >= model_runs.SHARD_ROWS)
        server.gate.clear()
        first_shard = {row["prompt"] for row in rows[: model_runs.SHARD_ROWS]}
        before = Counter(fields["prompt"] for fields in server.questions["town"])
        assert first_shard <= before.keys()
        worker.end()
        server.gate.set()
        worker.start()
        until(lambda: not desk.seen(id).open)
    finally:
        server.close()
    seen = desk.seen(id)
    assert (seen.evaluation.state, seen.models[0].rows_done) == ("done", ROWS)
    after = Counter(fields["prompt"] for fields in server.questions["town"])
    assert {prompt: after[prompt] for prompt in first_shard} == dict.fromkeys(first_shard, 1)
    for table, count in ((OpenEvaluation, 1), (OpenShard, 2), (OpenRecord, 1), (OpenScore, 5)):
        assert desk.database.read(lambda s, table=table: s.scalar(select(func.count()).select_from(table))) == count
    table = desk.database.read(lambda s: predictions.prediction_table(s, desk.settings, desk.someone(s), id))
    assert [line[-1] for line in predictions.read_lines(desk.settings, table)] == [1] * ROWS
