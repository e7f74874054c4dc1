"""Boards over the scores of a task: ranks, weights, comparisons, snapshots and forks."""
