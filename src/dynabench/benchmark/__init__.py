"""Boards, and the rules on what is shown that boards, evaluations, datasets and submissions share."""
