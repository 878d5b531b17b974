-- Withdrawals that hold before their delivery's run has staged them.

-- What the files of deliveries that arrived withdraw, until the gate lets the delivery through that was made from those
-- files. Rows only ever come and go whole and no two are kept apart, so that writing one waits for nobody.
CREATE TABLE research.arrived_withdrawal (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind         text NOT NULL CHECK (kind IN ('note', 'patient')),
    key          text COLLATE "C" NOT NULL,
    feed         text NOT NULL,
    delivery_seq bigint NOT NULL,
    delivery     text NOT NULL,
    key_id       text NOT NULL, -- of the secret that the key was made with
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (starts_with(delivery, feed || '@'))
);
CREATE INDEX arrived_withdrawal_by_key ON research.arrived_withdrawal (kind, key);
CREATE INDEX arrived_withdrawal_by_delivery ON research.arrived_withdrawal (delivery);

-- What was read last of each place that says who leaves: a delivery, or the list of opt-outs. A keyed digest, so that what
-- has not changed is not read again.
CREATE TABLE research.withdrawal_source (
    source text PRIMARY KEY,
    marker text NOT NULL
);

CREATE INDEX ledger_by_delivery ON ctl.ledger (delivery, event);
