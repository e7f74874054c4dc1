"""The builder's commands of `dynabench model`, one file each."""
