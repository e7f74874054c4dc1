"""Predictors: models of transformers run natively, pipelines and other callables, models with a card."""
