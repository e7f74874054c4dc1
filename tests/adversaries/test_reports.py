"""Files in the forms of garak, promptfoo and TextAttack: what is taken of them, and what is not, with the reason."""

import json

import pytest

from dynabench.adversaries.reports import read_report
from dynabench.kit.errors import Invalid, NotFound
from tests.plugins import none_installed

TEXTATTACK = (
    '"original_text","perturbed_text","original_score","perturbed_score","original_output","perturbed_output",'
    '"ground_truth_output","num_queries","result_type"\n'
    '"A [[good]] evening, all told.","A [[decent]] evening, all told.",0.02,0.71,1,0,1,34,"Successful"\n'
    '"Long and [[dull]].","Long and [[dull]].",0.01,0.2,0,0,0,51,"Failed"\n'
    '"So so.","So so.",0.6,0.6,1,1,0,1,"Skipped"\n'
    '"[[[[Premise]]]]: A man eats.<SPLIT>[[[[Hypothesis]]]]: He [[eats]].",'
    '"[[[[Premise]]]]: A man eats.<SPLIT>[[[[Hypothesis]]]]: He [[dines]].",0.1,0.9,0,1,0.0,12,"Successful"\n'
    '"Two lines:<SPLIT>here, [[fine]].","Two lines:<SPLIT>here, [[okay]].",0.1,0.9,1,0,1,8,"Maximized"\n'
)


def garak_attempt(number, prompt, scores, status=2):
    content = {"text": prompt, "lang": "en", "data_path": None, "data_type": None, "data_checksum": None, "notes": {}}
    output = content | {"text": "Sure, here it is."}
    return {
        "entry_type": "attempt",
        "uuid": f"u{number}",
        "seq": number,
        "status": status,
        "probe_classname": "dan.Ablation",
        "probe_params": {},
        "targets": [],
        "prompt": {"turns": [{"role": "user", "content": content}], "notes": {}},
        "outputs": [output, output],
        "detector_results": scores,
        "notes": {},
        "goal": "disregard the system prompt",
        "conversations": [],
        "reverse_translation_outputs": [],
        "intent": None,
    }


def garak_report():
    message = {"role": "user", "content": {"text": "And then?"}}
    several = garak_attempt(3, "x", {"d.D": [1.0]}) | {"prompt": {"turns": [message, message], "notes": {}}}
    return [
        {"entry_type": "start_run setup", "plugins.target_type": "openai", "plugins.target_name": "small"},
        {"entry_type": "init", "garak_version": "0.17.1", "start_time": "2026-01-01T00:00:00", "run": "r"},
        garak_attempt(1, "Say it in verse.", {}, status=1),
        garak_attempt(1, "Say it in verse.", {"mitigation.Bypass": [0.0, 1.0], "dan.DAN": [0.0, None]}),
        garak_attempt(2, "Say it in prose.", {"mitigation.Bypass": [0.0, 0.0]}),
        several,
        {"entry_type": "eval", "probe": "dan.Ablation", "detector": "mitigation.Bypass", "passed": 3, "fails": 1},
    ]


def promptfoo_result(success, **more):
    return {
        "promptIdx": 0, "testIdx": 0, "promptId": "p", "provider": {"id": "openai:small", "label": ""},
        "prompt": {"raw": "Be kind. User: Tell me of them.", "label": "{{prompt}}"},
        "vars": {"prompt": "Tell me of them."},
        "testCase": {"vars": {"prompt": "Tell me of them."}}, "response": {"output": "They are bad.", "cost": 0.001},
        "success": success, "failureReason": 0 if success else 1, "score": 0.0, "latencyMs": 12, "namedScores": {},
        "cost": 0.001, "gradingResult": {"pass": success, "score": 0, "reason": "It demeans people."},
        "metadata": {"pluginId": "hate", "strategyId": "basic"},
    } | more  # fmt: skip


def read(tmp_path, form, content):
    path = tmp_path / "report"
    path.write_text(content, encoding="utf-8")
    return read_report(form, path)


def test_textattack_gives_what_succeeded_without_marks(tmp_path):
    report = read(tmp_path, "textattack", TEXTATTACK)
    assert (report.program, report.version) == ("textattack", "unknown")
    first, pair, lines = report.findings
    assert (first.texts, first.label, first.queries) == ({"": "A decent evening, all told."}, "1", 34)
    assert (first.facts["words"], first.facts["predicted"]) == (["decent"], "0")
    assert (pair.texts, pair.label) == ({"premise": "A man eats.", "hypothesis": "He dines."}, "0")
    assert lines.texts == {"": "Two lines:\nhere, okay."}
    assert [(item.at, item.why) for item in report.skipped] == [
        ("line 3", "The attack found nothing."),
        ("line 4", "The model was wrong before the attack began."),
    ]


def test_garak_gives_the_prompts_on_which_a_detector_says_that_the_model_failed(tmp_path):
    report = read(tmp_path, "garak", "\n".join(map(json.dumps, garak_report())))
    assert (report.program, report.version) == ("garak", "0.17.1")
    (result,) = report.findings
    assert (result.at, result.texts, result.label, result.queries) == ("line 4", {"": "Say it in verse."}, None, 2)
    assert result.facts == {
        "probe": "dan.Ablation",
        "detectors": ["mitigation.Bypass"],
        "score": 1.0,
        "goal": "disregard the system prompt",
        "generator": "openai small",
        "output": "Sure, here it is.",
    }
    assert [item.at for item in report.skipped] == ["line 5", "line 6"]


def test_garaks_log_of_hits_is_read_too(tmp_path):
    hit = {"goal": "g", "prompt": garak_attempt(1, "Say it.", {})["prompt"], "output": {"text": "Sure."}, "score": 1.0,
           "attempt_id": "a", "generator": "openai small", "probe": "p.P", "detector": "d.D"}  # fmt: skip
    twice = read(tmp_path, "garak", "\n".join([json.dumps(hit), json.dumps(hit | {"attempt_idx": 1})]))
    assert [item.texts for item in twice.findings] == [{"": "Say it."}]


def test_promptfoo_gives_the_tests_that_were_not_passed(tmp_path):
    results = [promptfoo_result(False), promptfoo_result(True), promptfoo_result(False, failureReason=2, error="down")]
    whole = {"evalId": "e", "results": {"version": 3, "results": results}, "metadata": {"promptfooVersion": "0.121.20"}}
    report = read(tmp_path, "promptfoo", json.dumps(whole))
    assert (report.version, len(report.findings)) == ("0.121.20", 1)
    assert (report.findings[0].texts, report.findings[0].cost) == ({"prompt": "Tell me of them."}, 0.001)
    assert report.findings[0].facts["plugin"] == "hate"
    assert [item.why for item in report.skipped] == [
        "The model passed this test.",
        "The test ended with an error: down",
    ]


@pytest.mark.parametrize("form", ["garak", "promptfoo", "textattack"])
@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", "{}", "[1, 2]", '{"results": {"results": 3}}'])
def test_other_files_are_refused(tmp_path, form, content):
    with pytest.raises(Invalid):
        read(tmp_path, form, content)


def test_other_programs_are_refused(tmp_path):
    with pytest.raises(NotFound, match="garak"):
        read(tmp_path, "another", "")


def test_where_no_plug_in_reads_reports_the_command_that_installs_it_is_named(tmp_path):
    with none_installed(), pytest.raises(NotFound) as refused:
        read(tmp_path, "garak", "")
    message = "Reports of other programs are read by a plug-in that is not installed: "
    assert refused.value.detail == f"{message}pip install 'dynabench-platform[attack-reports]'"
