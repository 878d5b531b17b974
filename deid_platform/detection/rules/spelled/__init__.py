"""Dates, ages and other numbers in words, in all languages: the table and its validators."""
