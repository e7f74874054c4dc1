"""Classes: a teacher makes one, students join with a code and need no mail address."""
