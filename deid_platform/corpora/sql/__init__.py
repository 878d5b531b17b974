"""Feeds from databases: deliveries are closed periods of a watermark column.

Belongs here: reading tables, views and queries over any SQLAlchemy URL (`feed.py`), and the OMOP common data model
(`omop.py`). Does not belong here: what a row may hold (`corpora/rows.py`), or the warehouse, which is no source.
"""
