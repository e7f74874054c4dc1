"""Recognition of people: public profiles, the hall of fame, and badges."""
