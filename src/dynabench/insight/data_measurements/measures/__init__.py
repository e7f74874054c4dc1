"""Measures of a round's data."""

from dynabench.insight.data_measurements.measures import answers, artifacts, similarity, texts

MEASURES = {
    "label_balance": answers.label_balance,
    "artifacts": artifacts.artifacts,
    "telling_words": artifacts.telling_words,
    "difficulty": answers.difficulty,
    "conditions": answers.conditions,
    "similarity": similarity.similarity,
    "near_duplicates": similarity.near_duplicates,
    "diversity": similarity.diversity,
    "vocabulary": texts.vocabulary,
    "lengths": texts.lengths,
    "complexity": texts.complexity,
    "writers": answers.writers,
    "trick_words": texts.trick_words,
}
"""Every measure by name, in the order of pages."""
