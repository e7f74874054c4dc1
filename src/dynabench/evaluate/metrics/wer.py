"""Word error rate."""

from dynabench.evaluate.texts.edits import ErrorRate, word_errors


class Wer(ErrorRate):
    """Word errors for each word of the references."""

    count = staticmethod(word_errors)
    between = " "
