"""Releases of rounds: checked, divided, written as files that never change, and scored in part by nobody's eyes."""
