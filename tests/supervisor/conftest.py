"""Supervisors that tests start."""

from tests.supervisor import processes

supervise = processes.supervise
