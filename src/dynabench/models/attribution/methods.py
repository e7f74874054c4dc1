"""The ways to explain a model over the shared encoder, by name."""

from dynabench.models.attribution import gradient, integrated

METHODS = {gradient.METHOD: gradient.explain, integrated.METHOD: integrated.explain}
