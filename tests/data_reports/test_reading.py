"""Reading of any data: columns, splits, languages, bounded memory, hostile files, reports as files."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

from dynabench.cli.dataset import app
from dynabench.insight.data_measurements.formatting import table_chart
from dynabench.insight.data_measurements.results import MeasureResult, Table, make_columns, read_result
from dynabench.insight.data_measurements.sample import words
from dynabench.insight.data_reports import exports
from dynabench.insight.data_reports.measured import MeasuredData
from dynabench.insight.data_reports.measures import MEASURES, basics
from dynabench.insight.data_reports.pdf import report_pdf
from dynabench.insight.data_reports.profile import DataProfile
from dynabench.insight.data_reports.report import (
    ReportOptions,
    measure_data,
    parse_pairs,
    read_report,
    report_key,
)
from dynabench.insight.data_reports.sources import ChosenColumns, DataColumns, DataRow, choose_columns, file_source
from dynabench.kit import errors
from dynabench.kit.language import Amount, LanguageName, _, current, translate
from dynabench.stats.streams import FrequentItems, Reservoir

WORDS = "the a film plot actor scene story good bad dull bright slow she he man woman is was not very".split()


def write_rows(path, n=200, seed=0, **more):
    drawn = random.Random(seed)
    lines = []
    for number in range(n):
        text = " ".join(drawn.choices(WORDS, k=drawn.randint(4, 20)))
        lines.append(json.dumps({"id": f"r{number}", "text": text, "label": drawn.choice(["pos", "neg"]), **more}))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_columns_are_guessed_and_chosen(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [{"id": i, "premise": f"a man number {i} walks", "data": {"hypothesis": f"somebody {i} is outside today"},
             "gold_label": ["yes", "no"][i % 2], "split": "train", "tags": ["x"]} for i in range(40)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    columns = choose_columns(file_source(path), ChosenColumns())
    assert columns == DataColumns(("premise", "data.hypothesis"), "gold_label", "split", "", "tags")
    chosen = choose_columns(file_source(path), ChosenColumns(("premise",), "-"))
    assert chosen.texts == ("premise",)
    assert not chosen.label
    with pytest.raises(errors.Invalid) as problem:
        choose_columns(file_source(path), ChosenColumns(("sentence",)))
    assert "premise" in problem.value.fields["texts"]


@pytest.mark.release
def test_splits_of_a_folder_are_compared(tmp_path):
    write_rows(tmp_path / "train.jsonl", 120, 1)
    lines = (tmp_path / "train.jsonl").read_text().splitlines()
    write_rows(tmp_path / "test.jsonl", 60, 2)
    with (tmp_path / "test.jsonl").open("a") as file:
        file.write("\n".join(lines[:20]))
    report = measure_data(file_source(tmp_path), ReportOptions())
    table = report.results["splits"].tables[0]
    shares = {(row[0], row[1]): row[3] for row in table.rows}
    assert shares["test", "train"] == 20
    assert report.facts.rows == 200
    near = {(row[0], row[1]): row[4] for row in table.rows}
    assert near["test", "train"] >= 20 / 80


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("यह एक परीक्षण है", ["यह", "एक", "परीक्षण", "है"]),
        ("这是 test 测试。", ["这", "是", "test", "测", "试"]),
        ("Étude isn't non-binary", ["étude", "is", "n't", "non-binary"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
    ],
)
def test_words_of_any_script(text, expected):
    assert words(text) == expected


def test_languages_and_scripts_are_told_apart():
    texts = ["Der Mann spielt heute Abend Gitarre auf der Bühne."] * 3 + [
        "Сегодня вечером мужчина играет на гитаре."
    ] * 2
    assert basics.guess_languages(texts).most_common() == [("de", 3), ("ru", 2)]
    assert [basics.main_script(text) for text in ("привет", "hello", "你好", "…")] == ["Cyrillic", "Latin", "Han", ""]


@pytest.mark.parametrize(("reader", "name"), [("en", "German"), ("es", "alemán"), ("ar", "الألمانية")])
def test_a_language_is_named_in_the_readers_language(reader, name):
    """As it is kept and read again, in the finding and in the table with its chart; programs get English."""
    german = LanguageName("de")
    finding = _("%(share)s of texts are in %(language)s", share=Amount(1.0, ".0%"), language=german)
    assert finding == "100% of texts are in German"
    columns = make_columns(("language", "Language", "text"), ("n", "Texts", "count"))
    table = Table("languages", "Languages", columns, ((german, 5), ("other", 2)), (1, 1), drawn="bars")
    result = read_result(json.loads(json.dumps(MeasureResult(finding, (), (table,)).record())))
    token = current.set(reader)
    try:
        assert name in translate(result.finding)
        assert translate(result.tables[0].rows[0][0]) == name
        assert name in str(table_chart(result.tables[0]))
        assert translate(LanguageName("zz-unknown")) == "zz-unknown"
    finally:
        current.reset(token)


def test_counts_stay_bounded_and_say_how_wrong_they_are():
    rng = np.random.default_rng(0)
    items, exact = FrequentItems(1_000), Counter()
    for _batch in range(60):
        held = Counter(str(value) for value in rng.zipf(1.4, 2_000))
        items.add(held)
        exact.update(held)
        assert len(items.counts) <= 2_000
    assert items.undercount > 0
    assert items.total == exact.total()
    for word, count in items.counts.items():
        assert exact[word] - items.undercount <= count <= exact[word]
    assert {word for word, count in exact.items() if count > items.undercount} <= set(items.counts)
    assert items.different == pytest.approx(len(exact), rel=0.08)


def test_a_reservoir_is_uniform():
    hits = np.zeros(50)
    for seed in range(400):
        reservoir = Reservoir(10, seed)
        reservoir.add(range(50))
        hits[[item for _place, item in reservoir.sample()]] += 1
    assert abs(hits - 80).max() < 40
    assert hits.sum() == 4_000


@pytest.mark.release
def test_profile_does_not_depend_on_batches(tmp_path):
    columns = DataColumns(("text",), "label")
    rows = [columns.row(json.loads(line)) for line in write_rows(tmp_path / "a.jsonl", 90).read_text().splitlines()]
    whole, parts = DataProfile(columns, ["she", "he"]), DataProfile(columns, ["she", "he"])
    whole.add(rows)
    for at in range(0, 90, 7):
        parts.add(rows[at : at + 7])
    results = [[m.measure(MeasuredData(p)) for m in MEASURES.values()] for p in (whole, parts)]
    assert results[0] == results[1]


@pytest.mark.release
def test_a_report_survives_storage_and_becomes_files(tmp_path):
    source, other = (
        file_source(write_rows(tmp_path / "a.jsonl", 150, 1)),
        file_source(write_rows(tmp_path / "b.csv.jsonl", 80, 2)),
    )
    steps = []
    report = measure_data(source, ReportOptions(), other, tell=lambda done, origin: steps.append(done))
    assert steps == sorted(steps)
    assert steps[-1] == 100
    again = read_report(json.loads(json.dumps(report.record())))
    assert again == report
    html = exports.report_html(report)
    assert "<script" not in html
    assert report.facts.digest in html
    card = exports.card_sections(report)
    assert card.startswith("## Data measurements")
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])["text"]
    assert first not in card
    assert report_pdf(report).startswith(b"%PDF")


@pytest.mark.release
def test_markup_in_data_stays_text(tmp_path):
    path = tmp_path / "bad.jsonl"
    row = {"text": "<script>alert(1)</script> | *x* \x00 \ud800 =1+1 and more words here", "label": "<b>"}
    rows = (
        [json.dumps(row)] * 20
        + ["not json", "[]"]
        + [json.dumps({"text": f"plain text number {i} here", "label": "b"}) for i in range(30)]
    )
    path.write_text("\n".join(rows))
    report = measure_data(file_source(path), ReportOptions())
    assert report.facts.rows == 50
    assert "<script>alert" not in exports.report_html(report)
    assert report_pdf(report).startswith(b"%PDF")
    assert "<b>" not in exports.card_sections(report)


@pytest.mark.parametrize("content", ["", "{}\n{}\n", '{"a": 1}\n{"a": 2}\n', "\x00\x01\x02"])
def test_files_without_text_are_refused(tmp_path, content):
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    with pytest.raises(errors.Invalid):
        measure_data(file_source(path), ReportOptions())


def test_pairs_are_read_and_refused():
    assert parse_pairs("She/He, a/b") == (("she", "he"), ("a", "b"))
    for text in ("she", "a/b/c", "a/a", "/b", ",".join(f"a{i}/b" for i in range(11))):
        with pytest.raises(errors.Invalid):
            parse_pairs(text)


def test_the_key_depends_on_all_that_matters():
    keys = {
        report_key("a", "", ReportOptions(), False),
        report_key("b", "", ReportOptions(), False),
        report_key("a", "b", ReportOptions(), False),
        report_key("a", "", ReportOptions(), True),
        report_key("a", "", ReportOptions(ChosenColumns(("text",))), False),
        report_key("a", "", ReportOptions(seed=1), False),
    }
    assert len(keys) == 6
    options = ReportOptions(ChosenColumns(("x",), "y"), (("a", "b"),), 3)
    assert ReportOptions.restore(json.loads(json.dumps(options.document()))) == options


def test_groups_of_a_column_are_compared():
    rng = random.Random(0)
    rows = [DataRow((" ".join(rng.choices(WORDS, k=9)),), "x", "", rng.choice(["old", "young"])) for _ in range(120)]
    profile = DataProfile(DataColumns(("text",), "label", "", "group"), [])
    profile.add(rows)
    result = MEASURES["groups"].measure(MeasuredData(profile))
    assert {row[0] for row in result.tables[0].rows} == {"old", "young"}


@pytest.mark.release
def test_the_command_measures_a_file_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DYNABENCH_HOME", str(tmp_path / "home"))
    from dynabench.kit.settings import get_settings

    get_settings.cache_clear()
    path, target = write_rows(tmp_path / "a.jsonl", 60), tmp_path / "report.md"
    runner = CliRunner()
    arguments = ["measure", str(path), "--no-encoder", "--output", str(target)]
    assert runner.invoke(app, arguments).exit_code == 0
    [stored] = (tmp_path / "home" / "measurements").rglob("*.json")
    before = stored.stat().st_mtime_ns
    answer = runner.invoke(app, ["measure", str(path), "--no-encoder", "--json"])
    assert json.loads(answer.stdout)["facts"]["rows"] == 60
    assert stored.stat().st_mtime_ns == before
    wrong = runner.invoke(app, ["measure", str(path), "--output", "report.docx"])
    assert wrong.exit_code == 1
    get_settings.cache_clear()
