"""The pages of the evaluation library, as browsers without scripts see them."""

import contextlib
import html
import json
import re
from urllib.parse import urlencode

import psutil
import pytest

from dynabench.evaluate import loading
from dynabench.kit import security
from dynabench.site.cards import library, worker
from dynabench.site.cards.calculator import Calculator
from dynabench.site.cards.views import formula_as_mathml

F1 = "/evaluate/metric/f1"
FOUR = {"column.predictions": "cat\ndog\ndog\ncat", "column.references": "cat\ndog\ncat\ncat"}


def submit(browser, path, files=None, htmx=False, **fields):
    headers = {"X-CSRF-Token": browser.token("/evaluate")} | ({"HX-Request": "true"} if htmx else {})
    return browser.client.post(path, data=fields, files=files, headers=headers)


def numbers(page):
    return re.findall(r'class="calc-number"[^>]*><strong[^>]*>([^<]*)', page) + re.findall(
        r'<td class="num" title="[^"]*">([^<]*)', page
    )


def test_the_list_has_every_module_and_links_to_its_card(client):
    page = client.get("/evaluate").text
    for kind, name in loading.builtin_modules():
        assert f'href="/evaluate/{kind}/{name}"' in page


def test_words_kinds_and_tasks_narrow_the_list_by_the_address(client):
    assert 'href="/evaluate/metric/f1"' in client.get("/evaluate?q=harmonic+recall").text
    assert 'href="/evaluate/metric/accuracy"' not in client.get("/evaluate?q=harmonic+recall").text
    assert 'href="/evaluate/metric/f1"' not in client.get("/evaluate?kind=comparison").text
    tagged = client.get("/evaluate?task=image-classification").text
    assert 'href="/evaluate/metric/accuracy"' in tagged
    assert 'href="/evaluate/metric/f1"' not in tagged
    nothing = client.get("/evaluate?q=there+is+no+such+thing")
    assert "No matching modules" in nothing.text


def test_typing_brings_the_list_alone(client):
    part = client.get("/evaluate?q=recall", headers={"HX-Request": "true"}).text
    assert "<html" not in part
    assert 'id="found"' in part


@pytest.mark.release
def test_every_card_is_shown_with_its_limits_and_a_form_or_the_reason_for_none(client):
    for entry in library.all_entries():
        response = client.get(f"/evaluate/{entry.kind}/{entry.name}")
        assert response.status_code == 200, entry
        answer = html.unescape(re.sub(r"</?code>", "`", response.text))
        assert entry.card.limits in answer, entry
        assert ('id="compute"' in response.text) == (not entry.closed), entry
        assert entry.closed or "No result yet" not in response.text, entry
        assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:", response.text), entry


def test_every_formula_is_drawn_or_told_as_text():
    for entry in library.all_entries():
        as_mathml = formula_as_mathml(entry.card.formula)
        assert "<math" in as_mathml or "formula-text" in as_mathml, entry
        if "\\frac" in entry.card.formula:
            assert "<mfrac" in as_mathml, entry


def test_a_card_that_is_not_there_is_not_found(client):
    assert client.get("/evaluate/metric/nothing").status_code == 404
    assert client.get("/evaluate/comparison/f1").status_code == 404


@pytest.mark.release
def test_the_first_example_is_in_the_form_with_its_result(client):
    page = client.get("/evaluate/metric/accuracy").text
    assert "0\n1\n2\n0\n1\n2</textarea>" in page
    assert numbers(page) == ["0.5000"]


def test_an_example_that_is_refused_says_why_beside_the_field(client):
    page = client.get("/evaluate/metric/accuracy?example=2").text
    assert re.search(r'id="f-predictions-error"[^>]*data-error\s*>.*?Row 0 is 0.9, which is no label', page, re.DOTALL)
    assert re.search(r'id="f-predictions"[^>]*aria-invalid="true"', page)


def test_what_is_typed_is_computed_with_its_options(browser):
    page = submit(browser(), F1, **FOUR, **{"option.average": "macro", "option.pos_label": "1"})
    assert page.status_code == 200
    assert numbers(page.text) == ["0.7333"]
    assert "cat\ndog\ndog\ncat</textarea>" in page.text


def test_a_small_input_is_a_link_that_shows_the_same_again(browser, client):
    fields = FOUR | {"option.average": "macro", "interval": "true"}
    page = submit(browser(), F1, htmx=True, **fields)
    link = page.headers["HX-Push-Url"]
    assert html.escape(link) in page.text
    again = client.get(link)
    assert numbers(again.text) == numbers(page.text)
    assert "95% interval" in again.text
    assert "csrf" not in link


def test_a_long_input_has_no_link(browser):
    rows = "\n".join(["0", "1"] * 900)
    page = submit(browser(), F1, **{"column.predictions": rows, "column.references": rows})
    assert numbers(page.text) == ["1"]
    assert "Link to this result" not in page.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", "references,predictions\r\n1,1\r\n0,1\r\n"),
        ("rows.csv", "\ufeffpredictions;references\n1;1\n1;0\n"),
        ("rows.json", '{"predictions": [1, 1], "references": [1, 0]}'),
        ("rows.json", '[{"predictions": 1, "references": 1}, {"predictions": 1, "references": 0, "more": 2}]'),
        ("rows.jsonl", '{"predictions": 1, "references": 1}\n{"predictions": 1, "references": 0}\n'),
    ],
)
def test_tables_are_read_from_a_file_and_from_the_field(browser, name, content):
    content = content.replace(', "more": 2', "")
    mine = browser()
    for files, fields in (({"file": (name, content.encode())}, {}), (None, {"table": content})):
        page = submit(mine, "/evaluate/metric/accuracy", files, **fields, **{"option.normalize": "true"})
        assert numbers(page.text) == ["0.5000"], page.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "has no column predictions and no references"),
        (b"predictions,references\n1\n", "Row 0 has 1 cells, the header has 2"),
        (b"[1, 2]", "give each row as an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"predictions": NaN, "references": 1}]', "no number that can be computed with"),
        (b"\xff\xfe\x00", "not a UTF-8 text file"),
        (b'"predictions","references\n1,2\n', "cannot be read"),
        (b"predictions,predictions\n1,2\n", "same name"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_beside_it(browser, content, message):
    page = submit(browser(), "/evaluate/metric/accuracy", {"file": ("x", content)})
    assert page.status_code == 422
    assert message.casefold() in html.unescape(page.text).casefold()


def test_the_result_comes_as_a_file(browser):
    answer = submit(browser(), "/evaluate/metric/accuracy", **FOUR, **{"as": "json", "option.normalize": "true"})
    assert answer.headers["content-disposition"] == 'attachment; filename="accuracy.json"'
    assert answer.json() == {"accuracy": 0.75}


def test_long_lists_of_a_card_are_folded_and_options_that_differ_are_named(client):
    page = client.get("/evaluate/metric/trec_eval").text
    assert page.count("more</summary>") == 2, "outputs and values of the result"
    assert "no more" not in page
    reliability = client.get("/evaluate/metric/rl_reliability").text
    folded = re.search(r"<details class=\"calc-table\" ><summary>Options <code[^>]*>(.*?)</code>", reliability)
    assert folded
    assert "eval_points = [400]" in folded[1]
    assert "alpha" not in folded[1], "it has its default"
    few = client.get(F1).text
    assert "<summary>Options" not in few


def test_options_that_are_wrong_are_not_folded(browser):
    fields = {"column.timesteps": "[1, 2]", "column.rewards": "[1, 2]", "option.alpha": "many"}
    page = submit(browser(), "/evaluate/metric/rl_reliability", **fields)
    assert page.status_code == 422
    assert '<details class="calc-table" open><summary>Options' in page.text


def test_a_stale_form_computes_nothing(client):
    assert client.post(F1, data=FOUR).status_code == 403


def test_what_people_paste_is_shown_as_text(client):
    evil = "<script>alert(1)</script>"
    fields = {"column.predictions": evil, "column.references": "</textarea><b>", "option.average": "macro"}
    page = client.get(f"{F1}?{urlencode(fields)}").text
    assert evil not in page
    assert "</textarea><b>" not in page


@pytest.mark.release
def test_computing_is_limited_to_so_many_a_minute(app, client):
    app.state.settings.rate_limit = True
    link = f"{F1}?{urlencode({'column.predictions': '1', 'column.references': '1'})}"
    app.state.limiter = security.Limiter(clock=lambda: 0.0)  # one a second would come back
    assert [client.get(link).status_code for _ in range(61)] == [200] * 60 + [429]
    assert client.get("/evaluate").status_code == 200


@pytest.mark.slow
def test_pictures_and_tasks_are_named_in_the_language_of_each_reader(client):
    """The result of an example is cached, but not for readers of another language."""
    pages = [
        client.get("/evaluate/metric/accuracy", headers={"Accept-Language": item}).text for item in ("en", "es", "ar")
    ]
    for page, result, axis, task in zip(
        pages,
        ("is most often confused", "La clase que más se confunde es", "أكثر ما يُخلط بغيره هو"),
        ("Reference", "Referencia", "المرجع"),
        ("text classification", "clasificación de texto", "تصنيف النصوص"),
        strict=True,
    ):
        spec = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)[1]
        assert result in page
        assert axis in {scale.get("title") for scale in json.loads(html.unescape(spec))["axes"]}
        assert task in page
    listed = client.get("/evaluate?q=clasificación+de+texto", headers={"Accept-Language": "es"}).text
    assert "/evaluate/metric/accuracy" in listed


def _stop(process):
    """No answer comes at all."""
    process.suspend()


def _starve(process):
    """Its children end without an answer, before they have read what they are asked."""
    process.rlimit(psutil.RLIMIT_AS, (worker.MAX_MEMORY - (1 << 20),) * 2)


@pytest.mark.release
def test_an_example_that_could_not_be_computed_once_is_computed_for_the_next_reader(app, client):
    """A failure on a busy machine is no property of the module."""
    app.state.calculator = Calculator(seconds=1)

    def computed(path):
        """Read the page until its example is computed: a second may be too short on a busy machine."""
        return any(numbers(client.get(path).text) for _ in range(60))

    try:
        assert computed("/evaluate/metric/f1")  # the process that computes has started
        for harm, path in ((_starve, "/evaluate/metric/accuracy"), (_stop, "/evaluate/metric/recall")):
            [process] = [item for item in psutil.Process().children() if item.cmdline()[-1:] == ["1"]]
            harm(process)
            assert numbers(client.get(path).text) == []
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
                process.wait()
            assert computed(path)
    finally:
        app.state.calculator.close()
