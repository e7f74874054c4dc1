"""Marks the name or number in the sentence that shares most words with the question. Replace it by your model."""

import json
import re
from pathlib import Path
from typing import Any


class Model:
    """The platform makes one, then calls `predict` with up to 32 inputs at a time."""

    def __init__(self, folder: str) -> None:
        settings = json.loads(Path(folder, "words.json").read_text(encoding="utf-8"))
        self.inputs, self.answer = settings["inputs"], settings["answer"]

    def predict(self, batch: list[dict[str, str]]) -> list[dict[str, Any]]:
        """For each input a list of spans of the last field: offsets in characters, and the text there."""
        return [{self.answer: self.mark(inputs)} for inputs in batch]

    def mark(self, inputs: dict[str, str]) -> list[dict[str, Any]]:
        """One span, or none where the text is empty."""
        *others, passage_field = self.inputs
        question_words = {word for name in others for word in re.findall(r"\w+", inputs[name].casefold())}
        text = inputs[passage_field]
        sentences = [sentence for sentence in re.finditer(r"[^.!?\n]+", text) if sentence[0].strip()]
        if not sentences:
            return []
        best = max(
            sentences, key=lambda sentence: len(question_words & set(re.findall(r"\w+", sentence[0].casefold())))
        )
        new = [word for word in re.finditer(r"\w+", best[0]) if word[0].casefold() not in question_words]
        word = next((word for word in new if word[0][:1].isupper() or word[0].isdigit()), new[-1] if new else None)
        start, end = (best.start() + word.start(), best.start() + word.end()) if word else best.span()
        return [{"start": start, "end": end, "text": text[start:end]}]
