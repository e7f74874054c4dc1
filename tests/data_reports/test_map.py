"""The map of texts: points, typical texts and clusters lead to whole rows, for the person of the report alone."""

import json
import random
import re

import pytest

from dynabench.insight.data_reports.measured import MeasuredData
from dynabench.insight.data_reports.measures import MEASURES, basics, themes
from dynabench.insight.data_reports.profile import DataProfile
from dynabench.insight.data_reports.sources import DataColumns, DataRow
from dynabench.insight.data_reports.views import all_clusters, cluster_tree, map_areas, map_points, mapped_rows
from tests.data_reports.test_pages import ada, mia, report_jobs_of, run, send_data  # noqa: F401
from tests.data_reports.test_reading import WORDS

TOPICS = ("river boat water fish harbour", "piano concert violin music choir", "bread oven flour butter cake")


def topic_rows(n=90):
    drawn = random.Random(4)
    return [DataRow((" ".join(drawn.choices(TOPICS[at % 3].split(), k=8)) + f" <b>{at}",), "ab"[at % 2], "train")
            for at in range(n)]  # fmt: skip


def test_each_row_of_a_cluster_is_found_by_its_cluster_area_and_number():
    profile = DataProfile(DataColumns(("text",), "label"), [])
    rows = topic_rows()
    profile.add(rows)
    result = themes.themes(MeasuredData(profile))
    points, tree = map_points(result), cluster_tree(result)
    assert sorted(point.row for point in points) == list(range(1, 91))
    for item in mapped_rows(result, None, None, None):
        assert item.text == rows[item.row - 1].texts[0]
        assert item.label == rows[item.row - 1].label
    for node in all_clusters(tree):
        held = mapped_rows(result, node.number, None, None)
        assert len(held) == node.size
        assert {number for number, _text in node.texts} <= {item.row for item in held}
    by_area = [len(mapped_rows(result, None, area.number, None)) for area in map_areas(points)]
    assert by_area == [area.size for area in map_areas(points)]
    assert sum(by_area) == 90
    first, *others = mapped_rows(result, None, None, 31)
    assert first.row == 31
    assert all(item.cluster == first.cluster for item in others)
    assert not mapped_rows(result, None, None, 91)


@pytest.mark.release
def test_pages_show_rows_to_their_person_alone(ada, mia, database, settings):  # noqa: F811
    lines = [json.dumps({"text": row.texts[0], "label": row.label}) for row in topic_rows()]
    assert send_data(ada, {"file": ("mine.jsonl", "\n".join(lines))}).status_code == 303
    [job] = report_jobs_of(database)
    run(database, settings, job)
    page = ada.get(f"/data-reports/{job.id}").text
    links = set(re.findall(rf'"(?:[^"]*)(/data-reports/{job.id}/rows[^"]*)"', page))
    assert {"row", "cluster", "area"} <= {link.partition("?")[2].partition("=")[0] for link in links}
    for link in sorted(links)[::12]:
        assert ada.get(link).status_code == 200
        assert mia.get(link).status_code == 404
    text = ada.get(f"/data-reports/{job.id}/rows?row=2").text
    assert "&lt;b&gt;1" in text
    assert "<b>1" not in text
    rows = f"/data-reports/{job.id}/rows"
    assert "page=2" in ada.get(rows).text
    assert "page=1" in ada.get(f"{rows}?page=2").text
    assert ada.get(f"{rows}?row=91").status_code == 404
    assert ada.get(f"{rows}?cluster=9999").status_code == 404


def test_groups_are_measured_in_english_alone_and_say_how_much_that_is():
    drawn = random.Random(0)
    english = [DataRow((" ".join(drawn.choices(WORDS, k=12)) + " and that was a long evening",)) for _ in range(60)]
    german = [DataRow((f"Der Mann und die Frau spielen heute Abend Gitarre auf der Bühne {n}",)) for n in range(40)]
    profile = DataProfile(DataColumns(("text",)), ["she", "he", "mann", "frau", "der"])
    profile.add([*english, *german])
    result = MEASURES["groups"].measure(MeasuredData(profile))
    covered = result.figures[0]
    assert covered.name == "english"
    assert covered.value == sum(not basics.is_foreign(row.texts[0]) for row in [*english, *german]) / 100
    assert {row[0] for table in result.tables for row in table.rows} <= {"she", "he"}
    foreign = DataProfile(DataColumns(("text",)), ["mann", "frau", "der"])
    foreign.add(german)
    unread = MEASURES["groups"].measure(MeasuredData(foreign))
    assert "Not measured" in unread.finding
    assert not unread.tables
