"""Character error rate."""

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.texts.edits import ErrorRate, character_errors
from dynabench.language import N_


class Cer(ErrorRate):
    """Character errors for each character of the references."""

    card = Card(
        description=N_(
            "Substituted, deleted and inserted characters for each character of the references, all texts together; "
            "spaces between words count, those at the ends do not."
        ),
        formula=r"\mathrm{CER} = \frac{S + D + I}{H + S + D}",
        inputs={"predictions": "recognised texts", "references": "right texts"},
        options={"concatenate_texts": "True aligns all texts as one, written after each other without a space"},
        outputs=(
            Output("cer", "character error rate", 0, None, "lower"),
            Output("substitutions", "characters taken for others", 0, None, "lower"),
            Output("deletions", "characters left out", 0, None, "lower"),
            Output("insertions", "characters added", 0, None, "lower"),
            Output("hits", "right characters", 0, None, "higher"),
        ),
        examples=(
            Example(
                "Fourteen errors in 41 characters",
                {
                    "predictions": ["this is the prediction", "there is an other sample"],
                    "references": ["this is the reference", "there is another one"],
                },
                {"cer": 14 / 41},
            ),
            Example(
                "Texts cut at another place, aligned as one",
                {
                    "predictions": ["My hovercraft is full", " of eels"],
                    "references": ["My hovercraft", "is full of eels"],
                },
                {"cer": 2 / 28},
                {"concatenate_texts": True},
            ),
            Example(
                "A prediction for each reference",
                {"predictions": ["a", "b"], "references": ["a"]},
                error="predictions has 2, references has 1",
            ),
        ),
        limits=(
            "Upper and lower case, punctuation and accents count, so normalise both sides alike before; characters "
            "are code points, of which an accented letter or an emoji may have several. More than 1 where much is "
            "inserted. Where all references are empty, each inserted character counts as one whole error. Hugging Face "
            "evaluate joins texts with concatenate_texts only under jiwer before 4."
        ),
        citation=(
            "Morris, Maier and Green, From WER and RIL to MER and WIL: improved evaluation measures for connected "
            "speech recognition, Interspeech 2004."
        ),
        tasks=("automatic-speech-recognition", "image-to-text"),
    )
    count = staticmethod(character_errors)
    between = ""
