"""Pay: schemes of rounds, a ledger of payments, hourly pay, budgets."""
