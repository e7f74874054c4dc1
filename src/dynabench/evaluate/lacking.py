"""What is needed and not installed here."""


class Lacking(ValueError):
    """A library that an option or a model needs is not installed; the message says how to install it."""
