"""What every model keeps, whatever its backend. A backend joins by a file `models_<kind>.py` here; see `table`."""
