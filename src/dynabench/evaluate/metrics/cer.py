"""Character error rate."""

from dynabench.evaluate.texts.edits import ErrorRate, character_errors


class Cer(ErrorRate):
    """Character errors for each character of the references."""

    count = staticmethod(character_errors)
    between = ""
