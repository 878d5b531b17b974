-- Releases whose rows go little by little once they have expired.

-- Up to which note the rows of an expired release are gone, and when the last one went.
ALTER TABLE ctl.release
    ADD COLUMN forgotten_feed text NOT NULL DEFAULT '',
    ADD COLUMN forgotten_note text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN forgotten_at   timestamptz;
UPDATE ctl.release SET forgotten_at = expired_at;
