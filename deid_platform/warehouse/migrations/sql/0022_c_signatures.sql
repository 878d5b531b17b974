-- Of a function that takes the day that is signed by now; code/ makes it anew.
DROP FUNCTION IF EXISTS ctl.sign_dossier;

-- Signatures that the server itself has verified, with the day that they state. Those of before are verified by code/.
CREATE TABLE ctl.verified_signature (
    signature bigint PRIMARY KEY REFERENCES ctl.signature,
    signed_on date NOT NULL
);

-- Whose signatures count, as the administrator says. While nobody is named, those of any key do.
CREATE TABLE ctl.signer (
    public_key text PRIMARY KEY CHECK (octet_length(decode(public_key, 'base64')) = 32),
    who        text NOT NULL CHECK (btrim(who) <> ''),
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz -- signatures until then go on counting
);
