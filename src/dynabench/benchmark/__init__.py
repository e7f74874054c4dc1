"""Rules that boards, evaluations, datasets and submissions share."""
