"""Intake of files of rows: one reader for all kinds of files, one mapping of columns, one report of refused rows."""
