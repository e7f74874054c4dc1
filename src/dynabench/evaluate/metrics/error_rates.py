"""Word and character error rates."""

from dynabench.evaluate.texts.edits import ErrorRate, character_errors, word_errors


class Wer(ErrorRate, name="wer"):
    """Word errors for each word of the references."""

    count = staticmethod(word_errors)
    between = " "


class Cer(ErrorRate, name="cer"):
    """Character errors for each character of the references."""

    count = staticmethod(character_errors)
    between = ""
