"""Models behind Open Inference Protocol v2: our own host as the server, a public client as witness of the protocol."""

import json

import numpy as np
import pytest
import tritonclient.http as triton

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models import catalog
from dynabench.models.catalog import BUILTIN
from dynabench.models.host.app import create_app
from dynabench.models.host.repository import Repository
from tests.models.conftest import served

from .conftest import READER, http

NGRAM = "sentiment-ngram"
BATCH = [{"statement": text} for text in ("A fine, funny film.", "Dull and far too long.", "It is a film.", "")]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    (folder / NGRAM).symlink_to(BUILTIN / NGRAM)
    return [folder]


@pytest.fixture(scope="module")
def host(places):
    with served(create_app(Repository(places)), "http://127.0.0.1:0") as address:
        client = triton.InferenceServerClient(address.removeprefix("http://"))
        while not client.is_server_ready():
            pass
        client.close()
        yield address


@pytest.fixture(scope="module")
def local():
    return catalog.open_model(BUILTIN / NGRAM)


@pytest.fixture
def remote(host, opened, local):
    more = {"inputs": list(local.card.inputs), "answer": local.card.answer, "labels": list(local.card.labels)}
    return lambda **options: opened("oip", more=more, **{"url": host, "model": NGRAM, "cache": False, **options})


def test_our_host_answers_as_the_model_does_here(remote, local):
    for ours, theirs in zip(local.predict(BATCH), remote().predict(BATCH), strict=True):
        assert theirs.answer == ours.answer
        assert theirs.probabilities == pytest.approx(ours.probabilities, abs=1e-6)
        assert theirs.extras["remote_version"] == local.card.version


def test_more_inputs_than_a_request_takes_are_answered_in_order(remote, local):
    batch = [{"statement": f"{'good ' * (n % 3)}{'bad ' * (n % 5)}film {n}"} for n in range(100)]
    assert [o.answer for o in remote().predict(batch)] == [o.answer for o in local.predict(batch)]


def test_words_of_a_served_model_are_weighed(remote):
    result = remote().attribute({"statement": "A wonderful film."}, "positive", "occlusion")
    weights = {word.text: word.weight for word in result.fields["statement"]}
    assert max(weights, key=weights.get) == "wonderful"


def test_a_host_serves_what_another_host_serves(host, opened, local, tmp_path):
    opened("oip", more={"name": "relayed"}, url=host, model=NGRAM)
    folder = next(tmp_path.glob("*/model.yaml")).parent
    with served(create_app(Repository([folder.parent])), "http://127.0.0.1:0") as address:
        client = triton.InferenceServerClient(address.removeprefix("http://"))
        while not client.is_server_ready():
            pass
        infer_input = triton.InferInput("statement", [2], "BYTES")
        texts = [row["statement"] for row in BATCH[:2]]
        infer_input.set_data_from_numpy(np.array([text.encode() for text in texts], object), binary_data=False)
        expected = [triton.InferRequestedOutput("label", binary_data=False)]
        result = [str(label) for label in client.infer("relayed", [infer_input], outputs=expected).as_numpy("label")]
        client.close()
    assert result == [output.answer["label"] for output in local.predict(BATCH[:2])]


def test_readiness_tells_the_version(remote, local):
    assert remote().ready().version == local.card.version
    missing = remote(model="nobody", retries=0).ready()
    assert not missing.ready
    assert "check `url` and the model's name" in missing.reason


def test_a_version_that_is_not_served_is_told(remote):
    with pytest.raises(Unavailable, match="knows nothing at this address"):
        remote(version="0123456789abcdef").predict(BATCH[:1])


def test_the_public_client_reads_our_host(host, local):
    client = triton.InferenceServerClient(host.removeprefix("http://"))
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready(NGRAM)
    assert not client.is_model_ready("nobody")
    assert client.get_server_metadata()["name"] == "dynabench"
    metadata = client.get_model_metadata(NGRAM, local.card.version)
    assert [tensor["name"] for tensor in metadata["inputs"]] == ["statement"]
    infer_input = triton.InferInput("statement", [len(BATCH)], "BYTES")
    infer_input.set_data_from_numpy(np.array([row["statement"].encode() for row in BATCH], object), binary_data=False)
    requested_outputs = [triton.InferRequestedOutput(name, binary_data=False) for name in ("label", "probabilities")]
    result = client.infer(NGRAM, [infer_input], outputs=requested_outputs)
    expected = local.predict(BATCH)
    assert [str(label) for label in result.as_numpy("label")] == [o.answer["label"] for o in expected]
    table = result.as_numpy("probabilities")
    assert table.shape == (len(BATCH), len(local.card.labels))
    assert table == pytest.approx(np.array([list(o.probabilities.values()) for o in expected]), abs=1e-5)
    client.close()


@pytest.mark.parametrize(
    ("options", "tensor", "answer", "card"),
    [
        ({"holds": "indices"}, ("INT64", [1], [2]), "positive", None),
        ({"holds": "indices"}, ("INT64", [1, 1], [[2]]), "positive", None),
        ({"holds": "indices", "labels": {"7": "neutral"}}, ("INT32", [1], [7]), "neutral", None),
        ({"holds": "logits"}, ("FP32", [1, 3], [0.0, 1.0, 0.0]), "neutral", 0.5761),
        ({"holds": "logits"}, ("FP32", [1, 3], [[0.0, 1.0, 0.0]]), "neutral", 0.5761),
        ({"holds": "probabilities"}, ("FP64", [1, 3], [0.7, 0.2, 0.1]), "negative", 0.7),
        ({"labels": {"POS": "positive"}}, ("BYTES", [1, 1], ["POS"]), "positive", None),
        ({"holds": "json"}, ("BYTES", [1], ['{"positive": 0.5, "negative": 0.5, "neutral": 0}']), "negative", 0.5),
    ],
)
def test_other_layouts_are_read_as_the_options_say(options, tensor, answer, card, hostile, opened):
    datatype, shape, data = tensor
    reply = {"outputs": [{"name": "OUT", "datatype": datatype, "shape": shape, "data": data}]}
    server = hostile(lambda c, n: c.sendall(http(json.dumps(reply).encode())))
    model = opened(
        "oip", url=server.url, model="m", output="OUT", tensors={"statement": "TEXT"}, columns=True, **options
    )
    output = model.predict(BATCH[:1])[0]
    assert output.answer == {"label": answer}
    assert (output.probabilities or {}).get(answer) == (card if card is None else pytest.approx(card, abs=1e-4))
    sent = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])["inputs"]
    assert sent == [{"name": "TEXT", "datatype": "BYTES", "shape": [1, 1], "data": [BATCH[0]["statement"]]}]


@pytest.mark.parametrize(
    ("parameters", "spans"),
    [
        ({"content_type": "application/json"}, '[{"start": 3, "end": 8, "text": "Paris"}]'),
        ({}, "Paris"),
    ],
)
def test_spans_come_as_json_or_as_the_text_itself(parameters, spans, hostile, opened):
    tensor = {"name": "answer", "datatype": "BYTES", "shape": [1], "parameters": parameters, "data": [spans]}
    server = hostile(lambda c, n: c.sendall(http(json.dumps({"outputs": [tensor]}).encode())))
    output = opened("oip", READER, url=server.url, model="m").predict([{"question": "Where?", "passage": "In Paris."}])[
        0
    ]
    assert output.answer == {"answer": [{"start": 3, "end": 8, "text": "Paris"}]}


def test_options_that_do_not_fit_are_told(opened):
    with pytest.raises(Invalid, match="premise: no inputs"):
        opened("oip", url="https://example.org", model="m", tensors={"premise": "TEXT"})
    with pytest.raises(Invalid, match="holds answers or json"):
        opened("oip", READER, url="https://example.org", model="m", holds="logits")
    with pytest.raises(Invalid, match=r"options\.model"):
        opened("oip", url="https://example.org")
