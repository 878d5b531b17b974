"""Feeds from databases: deliveries are closed periods of a watermark column.

    connection          one connection, read-only
    periods             periods of a watermark: what one delivery is
    sources, selection  which rows are those of a role, and which of a delivery
    cells               from a driver's values to cells
    feed                the reader of a database
    omop                the OMOP common data model

Belongs here: reading tables, views and queries over any SQLAlchemy URL (`feed.py`), and the OMOP common data model
(`omop.py`). Does not belong here: what a row may hold (`corpora/rows.py`), or the warehouse, which is no source.
"""
