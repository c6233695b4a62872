"""Classifiers of quality: trained from good and bad documents, evaluated on others, written with a card."""
