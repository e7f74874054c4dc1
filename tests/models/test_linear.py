import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from dynabench.kit.errors import Invalid
from dynabench.models import fitted
from dynabench.models.backends import linear
from dynabench.models.backends.linear import LinearModel
from dynabench.models.protocol import Attributable
from dynabench.models.training import recipes, rows
from tests.large_data import folder_with

from .texts import HARD

CARD = {"task": "sentiment", "inputs": ["statement"], "answer": "label", "licence": "CC0-1.0"}
PAIRS = CARD | {"task": "nli", "inputs": ["premise", "hypothesis"]}
TWO = ("negative", "positive")

CLASSIFIERS = {
    "logistic": lambda: LogisticRegression(C=3, max_iter=200),
    "logistic without intercept": lambda: LogisticRegression(fit_intercept=False, max_iter=200),
    "support vectors": lambda: LinearSVC(),
    "ridge": lambda: RidgeClassifier(),
    "sgd hinge": lambda: SGDClassifier(random_state=0),
    "sgd logistic": lambda: SGDClassifier(loss="log_loss", random_state=0),
    "sgd huber": lambda: SGDClassifier(loss="modified_huber", random_state=0),
}
VECTORISERS = {
    "tf-idf": lambda: TfidfVectorizer(),
    "counts": lambda: CountVectorizer(ngram_range=(1, 2), stop_words="english", max_features=3000),
    "characters": lambda: TfidfVectorizer(
        analyzer="char", ngram_range=(1, 3), sublinear_tf=True, strip_accents="ascii"
    ),
    "characters of words": lambda: TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 5), norm="l1", min_df=5),
    "no case": lambda: CountVectorizer(lowercase=False, binary=True, token_pattern=r"(?u)[^\s]+", ngram_range=(2, 3)),
    "bare": lambda: TfidfVectorizer(strip_accents="unicode", use_idf=False, norm=None, token_pattern=r"\w+"),
}


@pytest.fixture(scope="session")
def stored(reviews, tmp_path_factory):
    """A fitted pipeline and its folder, opened; made once each."""
    created = {}

    def pair(vectoriser, classifier, two=False):
        key = vectoriser, classifier, two
        if key not in created:
            texts, labels = reviews
            ats = [at for at, label in enumerate(labels) if label in TWO or not two]
            pipeline = Pipeline([("v", VECTORISERS[vectoriser]()), ("c", CLASSIFIERS[classifier]())])
            pipeline.fit([texts[at] for at in ats], [labels[at] for at in ats])
            folder = fitted.save(tmp_path_factory.mktemp("linear") / "model", pipeline, **CARD)
            created[key] = pipeline, LinearModel.open(folder)
        return created[key]

    return pair


def same(pipeline, model, texts, questions=None):
    """Compare both answers; `asked` is what the pipeline is given for the texts' inputs."""
    inputs = [{"statement": text} for text in texts] if questions is None else texts
    outputs, values = model.predict(inputs), (texts if questions is None else questions)
    margins = np.atleast_2d(np.asarray(pipeline.decision_function(values)).reshape(len(inputs), -1))
    sure = np.abs(margins[:, 0]) > 1e-9 if margins.shape[1] == 1 else np.ptp(np.sort(margins)[:, -2:], axis=1) > 1e-9
    predictions = pipeline.predict(values)
    assert [str(item) for item in predictions[sure]] == [
        output.answer["label"] for output, known_values in zip(outputs, sure, strict=True) if known_values
    ]
    if hasattr(pipeline, "predict_proba"):
        result = np.array([[first.probabilities[label] for label in model.card.labels] for first in outputs])
        assert result == pytest.approx(pipeline.predict_proba(values), abs=1e-6)
    else:
        assert all(single.probabilities is None for single in outputs)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_answers_as_scikit_learn_does(classifier, two, stored, reviews):
    same(*stored("tf-idf", classifier, two), reviews[0][:50])


@pytest.mark.parametrize("vectoriser", VECTORISERS)
def test_every_vectoriser_counts_as_scikit_learn_does(vectoriser, stored, reviews):
    same(*stored(vectoriser, "sgd logistic"), [*reviews[0][:50], *HARD])


TEXT = st.lists(
    st.one_of(
        st.sampled_from(
            ["good", "bad film", "İΣ ΑΣ", "ﬁne", "e\u0301", "Ç\u0327\u0301", "\u0085", "\x1f", "  ", "한글"]
        ),
        st.text(max_size=12),
    ),
    max_size=12,
).map("".join)


@given(TEXT, st.sampled_from(list(VECTORISERS)))
def test_on_any_text_too_and_the_words_shares_add_up(stored, text, vectoriser):
    pipeline, model = stored(vectoriser, "sgd logistic")
    text = text.encode("utf-8", "replace").decode()
    same(pipeline, model, [text])
    result = model.attribute({"statement": text}, "negative", "exact")
    assert all(text[word.start : word.end] == word.text for word in result.fields["statement"])
    if result.fields["statement"]:
        assert result.completeness_error < 1e-5


WAYS = st.fixed_dictionaries(
    {
        "analyzer": st.sampled_from(["word", "char", "char_wb"]),
        "ngram_range": st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda pair: (pair[0], sum(pair))),
        "lowercase": st.booleans(),
        "strip_accents": st.sampled_from([None, "ascii", "unicode"]),
        "token_pattern": st.sampled_from([linear.WORD, r"\b\w+\b", r"[a-z']+", r"\S+", r"#?\w{2,9}", r"."]),
        "stop_words": st.sampled_from([None, "english", ["good", "a"]]),
        "binary": st.booleans(),
        "use_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
        "norm": st.sampled_from([None, "l1", "l2"]),
    }
)


@pytest.mark.release
@given(WAYS, st.lists(TEXT, min_size=2, max_size=6), TEXT)
@pytest.mark.filterwarnings("ignore:.*token_pattern.*:UserWarning", "ignore:.*stop_words.*:UserWarning")
def test_amounts_are_scikit_learns_whatever_the_settings(ways, texts, text):
    vectoriser = TfidfVectorizer(**ways)
    vectoriser.fit([*texts, "a good film of 'cats' b c d e and #dogs, trees, houses, gardens"])
    part = fitted._parts([vectoriser], ["statement"], " ", ["statement"])[0]
    counted = linear.Terms(part.how, {term: at for at, term in enumerate(part.terms)}, part.idf)
    columns, amounts = counted.amounts(counted.counts(text))
    result = np.zeros(len(part.terms))
    result[columns] = amounts
    assert result == pytest.approx(vectoriser.transform([text]).toarray()[0], abs=1e-9)


def test_it_is_a_model_that_explains_itself_in_the_catalog(stored):
    _, model = stored("tf-idf", "logistic")
    assert isinstance(model, Attributable)
    assert model.card.methods == ("exact",)
    inputs = {"statement": "A touching, wonderful film, but never too long."}
    result = model.attribute(inputs, "positive", "exact")
    weights = {word.text: word.weight for word in result.fields["statement"]}
    assert max(map(abs, weights.values())) == 1
    assert weights["A"] == 0
    with pytest.raises(Invalid, match="label"):
        model.attribute(inputs, "good", "exact")
    with pytest.raises(Invalid, match="method"):
        model.attribute(inputs, "positive", "gradient")
    with pytest.raises(Invalid, match="A text is needed"):
        model.predict([{"statement": 3}])


@pytest.fixture(scope="module")
def pairs():
    recipe = recipes.load("nli-minilm")
    source = rows.read_source(recipe.test[0], folder_with(*recipe.test[0].files), recipe)[:300]
    return [list(row.inputs.values()) for row in source], [row.label for row in source]


def test_inputs_joined_or_each_with_a_vectoriser_of_its_own(pairs, tmp_path):
    texts, labels = pairs
    zips = [dict(zip(PAIRS["inputs"], pair, strict=True)) for pair in texts]
    joined = Pipeline([("v", CountVectorizer()), ("w", TfidfTransformer(sublinear_tf=True)), ("c", LinearSVC())])
    joined.fit([" || ".join(pair) for pair in texts], labels)
    folder = fitted.save(tmp_path / "joined", joined, separator=" || ", **PAIRS)
    same(joined, LinearModel.open(folder), zips[:50], [" || ".join(pair) for pair in texts[:50]])

    characters = Pipeline([("n", CountVectorizer(analyzer="char", ngram_range=(2, 3))), ("w", TfidfTransformer())])
    both = FeatureUnion([("words", TfidfVectorizer(ngram_range=(1, 2))), ("letters", characters)])
    pipeline = Pipeline(
        [
            ("v", ColumnTransformer([("first", CountVectorizer(binary=True), 0), ("second", both, 1)])),
            ("c", SGDClassifier(loss="modified_huber", random_state=0)),
        ]
    )
    pipeline.fit(np.array(texts, object), labels)
    model = LinearModel.open(fitted.save(tmp_path / "each", pipeline, **PAIRS))
    same(pipeline, model, zips[:50], np.array(texts[:50], object))
    for inputs in zips[:10]:
        result = model.attribute(inputs, "neutral", "exact")
        assert result.completeness_error < 1e-6
        assert all(result.fields[name] for name in PAIRS["inputs"])


def test_classes_get_the_tasks_labels(reviews, tmp_path):
    texts, labels = reviews
    numbers = [TWO.index(label) if label in TWO else 2 for label in labels]
    pipeline = Pipeline([("v", TfidfVectorizer()), ("c", LogisticRegression())]).fit(texts, numbers)
    named = dict(enumerate((*TWO, "neutral")))
    model = LinearModel.open(fitted.save(tmp_path / "named", pipeline, labels=named, summary="Of reviews.", **CARD))
    assert model.card.labels == (*TWO, "neutral")
    assert model.card.summary == "Of reviews."
    assert [named[item] for item in pipeline.predict(texts[:30])] == [
        prediction.answer["label"] for prediction in model.predict([{"statement": text} for text in texts[:30]])
    ]
    with pytest.raises(Invalid, match="class 2 has no name"):
        fitted.save(tmp_path / "unnamed", pipeline, labels={0: "no", 1: "yes"}, **CARD)


def fit(*steps):
    return Pipeline([(str(at), step) for at, step in enumerate(steps)]).fit(["a good film", "a bad film"], [0, 1])


UNSTORABLE = {
    "a tokenizer": (lambda: fit(CountVectorizer(tokenizer=str.split, token_pattern=None), LinearSVC()), "is code"),
    "an analyzer": (lambda: fit(CountVectorizer(analyzer=str.split), LinearSVC()), "is code"),
    "a preprocessor": (lambda: fit(CountVectorizer(preprocessor=str.lower), LinearSVC()), "is code"),
    "groups": (lambda: fit(CountVectorizer(token_pattern=r"(?u)\b(\w\w)+\b"), LinearSVC()), "without groups"),
    "a scaler": (lambda: fit(CountVectorizer(), MaxAbsScaler(), LinearSVC()), "MaxAbsScaler"),
    "another classifier": (lambda: fit(CountVectorizer(), MultinomialNB()), "MultinomialNB, which lacks coef_"),
    "no vectoriser": (lambda: Pipeline([("c", LinearSVC())]), "NoneType|lacks"),
    "nothing fitted": (lambda: Pipeline([("v", CountVectorizer()), ("c", LinearSVC())]), "not fitted"),
    "a weighted union": (
        lambda: fit(FeatureUnion([("a", CountVectorizer())], transformer_weights={"a": 2}), LinearSVC()),
        "with weights",
    ),
}


@pytest.mark.parametrize("name", UNSTORABLE)
def test_what_cannot_be_stored_is_refused_and_nothing_written(name, tmp_path):
    make, answer = UNSTORABLE[name]
    with pytest.raises(Invalid, match=answer):
        fitted.save(tmp_path / "model", make(), **CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "pattern",
    [r"(a+)+$", r"a+b", r"\w+\w+", r"[a-z]*x?", r"(?=a)b", r"(a)\1", r"a|b", r"\w{1,99}\w{1,99}x", r"a+?"],
)
def test_token_patterns_that_might_take_for_ever_are_refused(pattern):
    with pytest.raises(ValueError, match="token pattern"):
        linear.check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["", r"[a-", r"a{5,2}", r"x{9999}", r"\w+\b\b", r"\S+\b", r"\q"])
def test_token_patterns_that_are_none_are_refused(pattern):
    with pytest.raises(ValueError, match="token pattern"):
        linear.check_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", [linear.WORD, r"\b\w+\b", r"[^\W\d_]{2,}", r"(?ui)#?[a-z'-]+", r"\d{1,3}", r"\w{2,20}"]
)
def test_usual_token_patterns_are_taken(pattern):
    linear.check_pattern(pattern)
