"""`python -m dynabench` is the `dynabench` command."""

from dynabench.cli import main

main()
