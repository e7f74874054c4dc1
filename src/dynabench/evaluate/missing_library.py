"""The error for a library that is not installed."""


class MissingLibrary(ValueError):
    """A library that an option or a model needs is not installed; the message says how to install it."""
