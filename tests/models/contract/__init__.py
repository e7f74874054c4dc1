"""Promises that models of each backend keep. A backend joins by a file `models_<kind>.py` here; see `table`."""
