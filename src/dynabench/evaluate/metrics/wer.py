"""Word error rate."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.texts.edits import ErrorRate, word_errors
from dynabench.language import N_


class Wer(ErrorRate):
    """Word errors for each word of the references."""

    card = Card(
        description=N_(
            "Substituted, deleted and inserted words for each word of the references, all texts together: the usual "
            "measure of speech recognition."
        ),
        formula=r"\mathrm{WER} = \frac{S + D + I}{H + S + D}",
        inputs={"predictions": "recognised texts", "references": "right texts"},
        options={"concatenate_texts": "True aligns all texts as one, so that words may move to a neighbouring row"},
        outputs=(
            Output("wer", "word error rate", 0, None, "lower"),
            Output("substitutions", "words taken for others", 0, None, "lower"),
            Output("deletions", "words left out", 0, None, "lower"),
            Output("insertions", "words added", 0, None, "lower"),
            Output("hits", "right words", 0, None, "higher"),
        ),
        examples=(
            Example(
                "Four errors in eight words",
                {
                    "predictions": ["this is the prediction", "there is an other sample"],
                    "references": ["this is the reference", "there is another one"],
                },
                {"wer": 0.5, "substitutions": 3, "deletions": 0, "insertions": 1, "hits": 5},
            ),
            Example(
                "Two words where none was said",
                {"predictions": ["hello there", "yes"], "references": ["", "yes"]},
                {"wer": 2.0, "insertions": 2, "hits": 1},
            ),
            Example(
                "Numbers are no texts",
                {"predictions": [3], "references": ["three"]},
                error="row 0 is 3, not a text",
            ),
        ),
        limits=(
            "Upper and lower case, punctuation and spelling count, so normalise both sides alike before. More than 1 "
            "where much is inserted. Words are what white space separates, which does not suit languages that "
            "write without it: take the character error rate there. Where all references are empty, each inserted "
            "word counts as one whole error. The split of errors into kinds is that of one of several shortest "
            "alignments. Hugging Face evaluate joins texts with concatenate_texts only under jiwer before 4."
        ),
        citation=(
            "Morris, Maier and Green, From WER and RIL to MER and WIL: improved evaluation measures for connected "
            "speech recognition, Interspeech 2004."
        ),
        tasks=("automatic-speech-recognition",),
    )
    count = staticmethod(word_errors)
    between = " "
