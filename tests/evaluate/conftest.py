"""What all tests of evaluation share."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)  # how long one example takes says nothing on a busy machine
settings.load_profile("unhurried")
