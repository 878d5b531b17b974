-- When notes of a delivery were hidden last, and for what: the content that was staged then, or that shows none of them.

CREATE TABLE ctl.hiding (
    delivery      text NOT NULL,
    staged_digest text NOT NULL, -- empty: no content was named
    at            timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (delivery, staged_digest)
);
-- What was hidden until now was hidden for what is staged now, or for something older.
INSERT INTO ctl.hiding (delivery, staged_digest, at)
SELECT d.delivery, coalesce(d.staged_digest, ''), max(l.at)
FROM ctl.delivery d JOIN ctl.ledger l ON l.delivery = d.delivery AND l.event IN ('hidden', 'refused', 'promoted')
GROUP BY d.delivery;
