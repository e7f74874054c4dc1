"""Data that are no data, at every door: a clear sentence beside the field, and nothing half-written."""

import gzip
import io
import json
import zipfile

import pytest
from typer.testing import CliRunner

from dynabench.cli.dataset import app
from tests.conftest import register
from tests.data_reports.test_pages import ada, report_jobs_of, send_data, uploads_of  # noqa: F401

pytestmark = pytest.mark.release

ROWS = "\n".join(json.dumps({"text": f"a plain row of words number {i}", "label": "ab"[i % 2]}) for i in range(40))


def zipped(**entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, value in entries.items():
            file.writestr(name, value)
    return content.getvalue()


def wide(columns):
    return (",".join(f"c{n}" for n in range(columns)) + "\n" + ",".join(["some words of text"] * columns)).encode()


BAD = {
    "latin.csv": ("text,label\n" + "caf\xe9 words and more,x\n" * 30).encode("latin-1"),
    "latin.jsonl": '{"text": "caf\xe9 words and more"}\n'.encode("latin-1") * 30,
    "utf16.csv": "text,label\na b c d,x\n".encode("utf-16"),
    "unmarked.csv": "text,label\na b c d,x\n".encode("utf-16-le"),
    "nul.jsonl": b"\0" * 100_000,
    "wide.csv": wide(100_000),
    "wide.jsonl": json.dumps({f"c{n}": "some words of text" for n in range(100_000)}).encode(),
    "bomb.zip": None,
    "bomb.jsonl.gz": gzip.compress(b" " * 3_000_000, 9) * 100,  # members of one file
    "slip.zip": zipped(**{"../../evil.jsonl": ROWS}),
    "empty.zip": zipped(),
    "cut.jsonl.gz": gzip.compress(ROWS.encode())[:100],
    "nested.json": b"[" * 100_000,
    "fake.parquet": b"PAR1" + bytes(60) + b"PAR1",
    "numbers.csv": b"a,b\n1,2\n3,4\n",
}
WORDS = {"latin.csv": "UTF-8", "latin.jsonl": "UTF-8", "utf16.csv": "UTF-16", "unmarked.csv": "NUL",
         "slip.zip": "outside", "bomb.zip": "too large", "bomb.jsonl.gz": "too large",
         "cut.jsonl.gz": "damaged"}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_data_are_refused_by_page_program_and_command(ada, client, database, settings, tmp_path, monkeypatch, name):  # noqa: F811
    content = BAD[name] or zipped(**{"train.jsonl": b"\0" * 300_000_000})
    answer = send_data(ada, {"file": (name, content)})
    assert answer.status_code == 422
    assert WORDS.get(name, "") in answer.text
    assert "has-error" in answer.text
    other = send_data(ada, {"file": ("good.jsonl", ROWS), "other_file": (name, content)})
    assert other.status_code == 422
    assert 'id="other_file-error"' in other.text
    assert 'id="file-error"' not in other.text
    program = register(client, "pia")
    upload = program.post(f"/api/v1/data-reports/files?name={name}", content=content)
    assert upload.status_code == 201
    refused = program.post("/api/v1/data-reports", json={"data": upload.json()["data"]})
    assert refused.status_code in (413, 422)
    assert WORDS.get(name, "") in refused.text
    assert not report_jobs_of(database)
    folders = [path for path in uploads_of(settings).iterdir() if path.name != str(program.id)]
    assert not [path for folder in folders for path in folder.iterdir()]

    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    (tmp_path / name).write_bytes(content)
    result = CliRunner().invoke(app, ["measure", str(tmp_path / name), "--output", str(tmp_path / "report.html")])
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "report.html").exists()
    assert not (tmp_path / "home" / "measurements").exists()


def test_rows_that_do_not_fit_are_counted_and_the_rest_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    path = tmp_path / "mixed.jsonl"
    long = b'{"text": "' + b"a b c d " * 3_000_000 + b'"}\n'
    odd = b'{"text": ["<script>", {"b": 1}]}\n{"text": null}\n{"other": NaN}\n[]\n\xff\xfe\n'
    path.write_bytes(ROWS.encode() + b"\n" + long + odd)
    result = CliRunner().invoke(app, ["measure", str(path), "--no-encoder", "--text", "text", "--json"])
    assert result.exit_code == 0, result.output
    general = next(item for item in json.loads(result.stdout)["measures"] if item["name"] == "general")
    figures = {figure["name"]: figure["value"] for figure in general["figures"]}
    assert figures["rows"] + figures["unreadable"] == 46
    assert figures["unreadable"] >= 3
