"""Generated cards: front matter as people write it, in both styles, with comments, unknown keys and two line ends."""

from hypothesis import strategies as st

from dynabench.evaluate.cards.model_index import CardResult
from dynabench.evaluate.cards.yaml_text import dump_yaml

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)
WORD = st.text("abcdefgh-_/.0123456789", min_size=1, max_size=10)
VALUE = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**9), 10**9), st.just("20.0 ± 1.2"), TEXT
)
ARGS = st.one_of(st.none(), st.dictionaries(WORD, st.one_of(VALUE, st.booleans()), min_size=1, max_size=3))
OPTIONAL = st.one_of(st.none(), WORD)


@st.composite
def results(draw):
    url = draw(st.one_of(st.none(), st.just("https://example.org/board")))
    return CardResult(
        task_type=draw(WORD), dataset_type=draw(WORD), dataset_name=draw(TEXT), metric_type=draw(WORD),
        metric_value=draw(VALUE), task_name=draw(OPTIONAL), dataset_config=draw(OPTIONAL),
        dataset_split=draw(OPTIONAL), dataset_revision=draw(OPTIONAL), dataset_args=draw(ARGS),
        metric_name=draw(OPTIONAL), metric_config=draw(OPTIONAL), metric_args=draw(ARGS),
        verified=draw(st.one_of(st.none(), st.booleans())), verify_token=draw(OPTIONAL),
        source_name=draw(OPTIONAL) if url else None, source_url=url,
    )  # fmt: skip


def result_lists(most=6):
    return st.lists(results(), min_size=1, max_size=most, unique_by=lambda result: result.identity)


OTHER_KEYS = st.dictionaries(
    st.sampled_from(["language", "license", "topics", "widget", "datasets", "extra", "\N{SNOWMAN}", "model_type"]),
    st.recursive(
        st.one_of(VALUE, st.none(), st.booleans(), st.dates(), st.just("several\nlines\n\nof text")),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORD, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)
COMMENTS = st.lists(st.sampled_from(["# a comment", "", "   ", "#: ---", "  # indented"]), max_size=3)


@st.composite
def cards(draw, index=None):
    """The text of a card with other keys, comments between them, and the given `model-index` among them."""
    keys = list(draw(OTHER_KEYS).items())
    if index is not None:
        keys.insert(draw(st.integers(0, len(keys))), ("model-index", index))
    lines = draw(COMMENTS)
    for key, value in keys:
        lines += dump_yaml({key: value}).splitlines() if draw(st.booleans()) else indented(key, value)
        lines += draw(COMMENTS)
    body = draw(st.sampled_from(["", "\n# Title\n\ntext\n", "no rule\n---\nrule\n", "\ttabs \n\n\n"]))
    text = "\n".join(["---", *lines, "---", body])
    end = draw(st.sampled_from(["\n", "\r\n"]))  # the hub ends no front matter at a lone carriage return
    return draw(st.sampled_from(["", "\ufeff", "\n"])) + text.replace("\n", end)


def indented(key, value):
    """The value's lines two columns further in, where it is a list."""
    written = dump_yaml({key: value}).splitlines()
    return [written[0], *("  " + line for line in written[1:])] if isinstance(value, list) else written
