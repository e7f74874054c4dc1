"""Files of every kind as rows, by the task's own rules; hostile ones refused with a message."""

import gzip
import io
import json
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.datasets import stored
from dynabench.datasets.intake import service
from dynabench.datasets.intake.layout import FileLayout
from dynabench.datasets.intake.rows import RowCleaner
from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.settings import Settings
from tests.datasets.library import GOOD, config_of, lines
from tests.large_data import folder_with, need_data

SQUAD = "squad/squad11_dev.jsonl.gz"
SENTIMENT, NLI, QA = config_of("sentiment"), config_of("nli"), config_of("qa")


@pytest.fixture
def read(tmp_path):
    """Store a file's rows: the rows, what was refused, and what was told."""
    home = Settings(home=tmp_path / "home")
    home.folder.mkdir(parents=True, exist_ok=True)

    def build(content, name, config=SENTIMENT, layout=None, tolerance="any"):
        path = tmp_path / name
        path.write_bytes(content)
        bad = []
        with sources.open_source(path, name) as files:
            written, reply = service.build_version(
                home, config, files, layout, tolerance, bad.extend, lambda answer: None
            )
        return list(stored.read_rows(home, written.digest)), bad, reply

    return build


def as_csv():
    rows = "".join(f'{r["id"]},"{r["statement"]}",{r["label"]},{"|".join(r["tags"])}\n' for r in GOOD)
    return ("id,statement,label,tags\n" + rows).encode()


def as_parquet():
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(GOOD), out, row_group_size=7)
    return out.getvalue()


def as_zip(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


CARD = "---\nconfigs:\n- config_name: default\n  data_files: [{split: train, path: data/part-*}]\n---\n"
FOLDER = {"set/README.md": CARD, "set/data/part-0.jsonl": lines(GOOD[:20]), "set/data/part-1.jsonl": lines(GOOD[20:]),
          "set/load.py": "raise SystemExit"}  # fmt: skip


# Archives hold the time of their making: their bytes in the names would make processes collect different tests.
@pytest.mark.parametrize(("name", "content"), [
    ("a.jsonl", lines(GOOD)), ("a.jsonl.gz", gzip.compress(lines(GOOD))), ("a.json", json.dumps(GOOD).encode()),
    ("a.csv", as_csv()), ("a.csv.gz", gzip.compress(as_csv())), ("a.tsv", as_csv().replace(b",", b"\t", 0)),
    ("a.parquet", as_parquet()), ("a.zip", as_zip(**FOLDER)), ("a.jsonl", b"\xef\xbb\xbf" + lines(GOOD)),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_the_same_rows_come_out_of_every_kind_of_file(read, name, content):
    if name.endswith(".tsv"):
        content = "\n".join("\t".join([r["id"], r["statement"], r["label"], "|".join(r["tags"])]) for r in GOOD)
        content = ("id\tstatement\tlabel\ttags\n" + content).encode()
    rows, bad, _ = read(content, name)
    assert not bad
    assert stored.rows_digest(rows) == stored.rows_digest(read(lines(GOOD), "b.jsonl")[0])
    assert rows[2].tags == ("even",)


def zipped(name, content="x", **how):
    entry = zipfile.ZipInfo(name)
    for key, value in how.items():
        setattr(entry, key, value)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(entry, content)
    return out.getvalue()


HOSTILE = {
    "a path that points outside": ("a.zip", zipped("../../etc/rows.jsonl"), "points outside"),
    "an absolute path": ("a.zip", zipped("/etc/rows.jsonl"), "points outside"),
    "a path of another system": ("a.zip", zipped("c:/rows.jsonl"), "points outside"),
    "a link": ("a.zip", zipped("rows.jsonl", "/etc/passwd", external_attr=0o120777 << 16), "link"),
    "no zip": ("a.zip", b"PK nothing", "cannot be read"),
    "a zip bomb": ("a.zip", as_zip(**{"rows.jsonl": b"\0" * 80_000_000}), "too large"),
    "a script alone": ("a.zip", as_zip(**{"load.py": "raise SystemExit"}), "never run"),
    "an empty file": ("a.jsonl", b"", "no row"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_with_a_message(read, case):
    name, content, message = HOSTILE[case]
    with pytest.raises((errors.Invalid, errors.TooLarge), match=message):
        read(content, name)


def test_broken_unicode_and_odd_values_are_named_row_by_row(read):
    rows = [{"statement": "half \ud800", "label": "positive"}, {"statement": 7, "label": "positive"},
            {"statement": "x" * 501, "label": "positive"}, {"statement": "ok", "label": ["positive", "neutral"]},
            {"statement": "ok", "label": []}, {"statement": "ok", "label": {"a": 1}}, {"statement": None}]  # fmt: skip
    good, bad, _ = read(lines(rows), "a.jsonl")
    assert [dict(row.inputs)["statement"] for row in good] == ["7", "ok"]
    assert good[1].answers == ({"label": "positive"}, {"label": "neutral"})
    assert [single.number for single in bad] == [1, 3, 5, 6, 7]
    assert all(first.message for first in bad)


def test_too_many_tags_are_refused(read):
    rows = [{"statement": f"Film {n}", "label": "neutral", "tags": str(n)} for n in range(1_100)]
    with pytest.raises(errors.Invalid, match="different tags"):
        read(lines(rows), "a.jsonl")


@pytest.mark.release
def test_squad_brings_all_gold_answers(read):
    with gzip.open(folder_with(SQUAD) / SQUAD) as stream:
        rows = b"".join(stream.readline() for _ in range(200))
    result, bad, _ = read(rows, "squad.jsonl", QA)
    assert len(result) + len(bad) >= 200
    assert len(result) > 150
    assert any(len(row.answers) > 1 for row in result)
    for row in result:
        for answer in row.answers:
            [span] = answer["answer"]
            assert row.inputs["passage"][span["start"] : span["end"]] == span["text"]


def first_cases(path, most=150):
    """A suite with the first cases of each of its tests: there are up to thousands, all of one pattern."""
    for line in gzip.decompress(path.read_bytes()).splitlines():
        suite = json.loads(line)
        whole = len(suite["data"])
        cut = {key: item[:most] for key, item in suite.items() if isinstance(item, list) and len(item) == whole}
        yield json.dumps(suite | cut).encode()


@pytest.mark.slow
@pytest.mark.large_data("checklist/sentiment.jsonl.gz", "checklist/squad.jsonl.gz")
@pytest.mark.parametrize(("file", "config", "least"), [("sentiment", SENTIMENT, 1_500), ("squad", QA, 2_000)])
def test_checklist_suites_become_rows_by_functionality(read, file, config, least):
    content = gzip.compress(b"\n".join(first_cases(need_data(f"checklist/{file}.jsonl.gz"))), 1)
    rows, bad, answer = read(content, "suite.jsonl.gz", config)
    assert len(rows) > least
    assert len(bad) < len(rows) / 5
    assert {"capability=Negation"} <= {tag for row in rows for tag in row.tags}
    assert any("INV" in note for note in answer.notes)
    if file == "sentiment":
        several = [row for row in rows if "simple negations: not negative" in row.tags]
        assert {tuple(a["label"] for a in row.answers) for row in several} == {("positive", "neutral")}
        word = next(row for row in rows if row.inputs["statement"] == "awful")
        assert word.answers == ({"label": "negative"},)


def test_functionality_columns_are_guessed_as_tags(read):
    content = (
        b"functionality,case_id,test_case,label_gold\nderog_neg,1,They are awful.,neg\nnice,2,They are nice.,POS\n"
    )
    rows, bad, _ = read(content, "hatecheck.csv")
    assert not bad
    assert [(row.uid, row.tags, row.answers[0]["label"]) for row in rows] == [
        ("1", ("derog_neg",), "negative"), ("2", ("nice",), "positive"),
    ]  # fmt: skip


TEXT = (
    st.text(max_size=20) | st.text(st.sampled_from("ab \t\n\x07\u200b\ud800é"), max_size=8) | st.none() | st.integers()
)


LABELS = ["neutral", "entailment", "no", 1, None]


def outcome(call, values, answers):
    try:
        return call(values, answers)
    except errors.Invalid as problem:
        return problem.fields


@given(st.fixed_dictionaries({}, optional={"premise": TEXT, "hypothesis": TEXT, "more": TEXT}),
       st.lists(st.fixed_dictionaries({"label": st.sampled_from(LABELS)}), max_size=3))  # fmt: skip
def test_the_short_way_comes_to_what_the_tasks_rules_say(values, answers):
    assert outcome(RowCleaner(NLI).row, values, answers) == outcome(RowCleaner(NLI).long_way, values, answers)


SPAN = st.fixed_dictionaries({"start": st.integers(-1, 9), "end": st.integers(0, 9)}, optional={"text": TEXT})


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("passage", "question", "more"), TEXT)),
    st.lists(st.fixed_dictionaries({}, optional={"answer": st.lists(SPAN, max_size=2) | TEXT}), max_size=2),
)
def test_the_short_way_comes_to_the_same_for_marked_answers(values, answers):
    assert outcome(RowCleaner(QA).row, values, answers) == outcome(RowCleaner(QA).long_way, values, answers)


def test_ids_that_repeat_are_found_across_batches():
    seen = service.SeenIds()
    assert not seen.repeated([str(n) for n in range(1_000)]).any()
    for start in range(1_000, 20_000, 1_000):
        again = seen.repeated([str(n) for n in range(start - 5, start + 1_000)])
        assert again.tolist() == [True] * 5 + [False] * 1_000
    assert seen.repeated(["x", "y", "x"]).tolist() == [False, False, True]


def test_a_layout_names_fields_of_the_task():
    with pytest.raises(errors.Invalid, match="no such field"):
        FileLayout(fields={"statement": "a", "label": "b", "odd": "c"}).check(SENTIMENT)
    with pytest.raises(errors.Invalid, match="Choose one of"):
        FileLayout(fields={"statement": "a", "label": "b"}, values={"1": "great"}).check(SENTIMENT)
    for document in ("fields: [", {"fields": 3}, {"more": 1}, "!!python/object:os.system {}"):
        with pytest.raises(errors.Invalid):
            FileLayout.parse(document)
