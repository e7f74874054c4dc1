"""Tests of the administrators' pages."""
