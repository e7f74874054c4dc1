"""Tests of classes, teams, competitions and inspiration."""
