"""The database server, and who connects to it.

    server      the embedded PostgreSQL
    roles       the warehouse's roles; `logins` readers' own
    connection  how each role connects, and how its errors are reported
    bootstrap   roles and database of a new warehouse

Does not belong here: what is stored (`warehouse/gate`, `warehouse/readers`).
"""
