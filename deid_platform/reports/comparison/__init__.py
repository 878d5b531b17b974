"""Detectors side by side: tables for a terminal, records, and one HTML page with the places where they differ.

    tables  counts alone, for a terminal and for the page
    page    one HTML file, with text of notes where detectors differ

Belongs here: how a comparison is shown. Does not belong here: what is counted (`evaluation/comparison/comparison.py`).
"""

from deid_platform.reports.comparison.page import comparison_html
from deid_platform.reports.comparison.tables import comparison_records, comparison_tables

__all__ = ["comparison_html", "comparison_records", "comparison_tables"]
