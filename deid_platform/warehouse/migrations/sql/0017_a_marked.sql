-- Notes that research sees and in which a reviewer marked an identifier as missed, until an officer acts.

-- In which note a mark stands: a mark names its place by a keyed digest alone. The key under each secret in use.
CREATE TABLE ctl.marked_note (
    missed   text NOT NULL CHECK (missed ~ '^[0-9a-f]{32}$'),
    feed     text NOT NULL,
    note_key text COLLATE "C" NOT NULL CHECK (note_key ~ '^n_[a-z2-7]{26}$'),
    actor    text NOT NULL DEFAULT session_user,
    at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (missed, feed, note_key)
);

-- Why a note stays although it was marked. A mark may stand in a note of each feed.
CREATE TABLE ctl.mark_dismissal (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    missed text NOT NULL,
    feed   text NOT NULL,
    who    text NOT NULL,
    reason text NOT NULL,
    actor  text NOT NULL DEFAULT session_user,
    at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX mark_dismissal_of ON ctl.mark_dismissal (missed, feed);
