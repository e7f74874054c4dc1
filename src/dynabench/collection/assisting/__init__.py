"""Help with writing: suggestions that people in some arms of a round may ask for, and what became of them."""
