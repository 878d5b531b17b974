"""Signatures under dossiers: the server verifies each before it counts, whoever enters it."""

from __future__ import annotations

import base64
import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from sqlalchemy import text

from deid_platform.errors import Code, DeidError
from deid_platform.oversight.signing import Statement, public_key, sign
from deid_platform.warehouse.migrate import configure, migrate, register_signer
from deid_platform.warehouse.officer.dossiers import record_dossier, record_signature, signed, signers
from deid_platform.warehouse.officer.releases import activate_release
from deid_platform.warehouse.server.roles import Role

DIGEST = "a" * 64
TODAY = datetime.now(tz=UTC).date()
STATEMENT = Statement(
    "r1", DIGEST, "fit", 'P. \u00d6ffiz"ier', "line 1\nline 2\t\u2028 \\ / \x07 \x7f end", TODAY, date(2099, 1, 1)
)
# RFC 8032, 7.1: secret key and message.
VECTORS = (
    ("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", ""),
    ("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72"),
    ("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82"),
)


# The eight points of small order, and two that are written otherwise than RFC 8032 has it.
SMALL = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


@pytest.fixture
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


@pytest.fixture
def dossier(scene):
    scene.publish("1", [scene.note(1)])
    record_dossier(scene.warehouse.engine(Role.OFFICER), "r1", DIGEST)
    return scene


def enter(scene, statement: Statement, signature: str, public: str) -> None:
    said = {name: getattr(statement, name) for name in ("who", "conclusion", "reason", "signed_on", "reassess_by")}
    record_signature(
        scene.warehouse.engine(Role.OFFICER), statement.dossier, **said, public_key=public, signature=signature
    )


def refused(scene, statement: Statement, signature: str, public: str) -> str | None:
    with pytest.raises(DeidError) as caught:
        enter(scene, statement, signature, public)
    assert caught.value.code is Code.SIGNATURE_INVALID
    assert signed(scene.warehouse.engine(Role.OFFICER), "r1") is None
    return caught.value.ref


def standing(scene) -> str:
    with scene.warehouse.begin(Role.DEMO_ANALYST) as connection:
        return str(connection.execute(text("SELECT standing FROM quality.determination")).scalar_one())


def changed(data: bytes, at: int) -> bytes:
    return bytes(byte ^ (1 << at % 8 if place == at // 8 else 0) for place, byte in enumerate(data))


@pytest.mark.parametrize(("secret", "message"), VECTORS, ids=["empty", "one byte", "two bytes"])
def test_the_server_verifies_as_the_library_does(warehouse, secret, message):
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
    said, public = bytes.fromhex(message), key.public_key().public_bytes_raw()
    signature, random_ = key.sign(said), random.Random(message)
    cases = [(said, signature, public), (said + b"x", signature, public), (said, signature[:63], public)]
    cases += [(said, changed(signature, random_.randrange(512)), public) for _ in range(5)]
    cases += [(said, signature, changed(public, random_.randrange(255))) for _ in range(5)]
    with warehouse.administer() as connection:
        for case in cases:
            found = connection.execute(
                text("SELECT ctl.is_signature(:m, :s, :k)"), dict(zip("msk", case, strict=True))
            ).scalar()
            try:
                Ed25519PublicKey.from_public_bytes(case[2]).verify(case[1], case[0])
            except (InvalidSignature, ValueError):
                assert found is False
            else:
                assert found is True


def test_a_signature_counts_once_the_server_has_verified_it(dossier, key):
    assert standing(dossier) == "not determined"
    enter(dossier, STATEMENT, sign(STATEMENT, key), public_key(key))
    found = signed(dossier.warehouse.engine(Role.OFFICER), "r1")
    assert found is not None and (found.valid, found.who, found.reason) == (True, STATEMENT.who, STATEMENT.reason)
    assert standing(dossier) == "in force"


@pytest.mark.parametrize(
    "change",
    [
        {"conclusion": "unfit"},
        {"who": "Q. Officer"},
        {"reason": "another reason"},
        {"reassess_by": date(2098, 1, 1)},
        {"signed_on": TODAY - timedelta(days=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_officer_s_login_enters_no_other_statement_than_the_key_signed(dossier, key, change):
    signature = sign(STATEMENT, key)
    assert refused(dossier, replace(STATEMENT, **change), signature, public_key(key)) == "signature"


@pytest.mark.parametrize("signature", ["", "signature", "%%%", base64.b64encode(bytes(64)).decode()])
def test_nor_any_string(dossier, key, signature):
    assert refused(dossier, STATEMENT, signature, public_key(key)) == "signature"
    assert refused(dossier, STATEMENT, sign(STATEMENT, key), signature) == "signature"


@pytest.mark.parametrize("days", [-2, 2])
def test_nor_of_another_day(dossier, key, days):
    other = replace(STATEMENT, signed_on=TODAY + timedelta(days=days))
    assert refused(dossier, other, sign(other, key), public_key(key)) == "day"


def test_once_the_administrator_names_signers_no_other_key_counts(dossier, key):
    admin, officer = dossier.warehouse.admin_engine(), dossier.warehouse.engine(Role.OFFICER)
    other = Ed25519PrivateKey.generate()
    enter(dossier, STATEMENT, sign(STATEMENT, other), public_key(other))
    assert standing(dossier) == "in force"
    register_signer(admin, public_key(key), f" {STATEMENT.who}\n")
    assert [(it.who, it.ended_at) for it in signers(officer)] == [(STATEMENT.who, None)]
    assert standing(dossier) == "invalid"
    with pytest.raises(DeidError, match="key"):
        enter(dossier, STATEMENT, sign(STATEMENT, other), public_key(other))
    enter(dossier, STATEMENT, sign(STATEMENT, key), public_key(key))
    assert standing(dossier) == "in force"
    register_signer(admin, public_key(key), STATEMENT.who, ends=True)
    assert standing(dossier) == "in force"  # what was signed until then
    with pytest.raises(DeidError, match="key"):
        enter(dossier, STATEMENT, sign(STATEMENT, key), public_key(key))
    assert {"signer-registered", "signer-ended"} <= set(dossier.events())


def test_a_key_s_signer_signs_in_no_other_name(dossier, key):
    admin = dossier.warehouse.admin_engine()
    enter(dossier, STATEMENT, sign(STATEMENT, key), public_key(key))
    register_signer(admin, public_key(key), "Zoe OHara")
    assert standing(dossier) == "invalid"  # signed as somebody else before
    for who in (STATEMENT.who, "Zoe O'Hara", "zoe ohara"):
        other = replace(STATEMENT, who=who)
        with pytest.raises(DeidError) as caught:
            enter(dossier, other, sign(other, key), public_key(key))
        assert (caught.value.code, caught.value.ref) == (Code.SIGNATURE_INVALID, "who")
    own = replace(STATEMENT, who="Zoe OHara")
    enter(dossier, own, sign(own, key), public_key(key))
    assert standing(dossier) == "in force"


@pytest.mark.parametrize("blank", [" ", "\t", "\r\n", "\u00a0", "\u3000", "\x1f"], ids=ascii)
def test_white_space_around_a_name_is_no_part_of_it(dossier, key, blank):
    register_signer(dossier.warehouse.admin_engine(), public_key(key), f"{blank}P. Officer{blank}")
    own = replace(STATEMENT, who="P. Officer", reason="line 1\nline 2")
    around = replace(own, who=f"{blank}{own.who}{blank}", reason=f"{blank}{own.reason}{blank}")
    enter(dossier, around, sign(own, key), public_key(key))
    found = signed(dossier.warehouse.engine(Role.OFFICER), "r1")
    assert found is not None and (found.who, found.reason, found.valid) == (own.who, own.reason, True)


@pytest.mark.parametrize(
    "character", ["\t", "\n", "\x07", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\u200b", "\ufeff"], ids=ascii
)
def test_a_name_with_control_characters_is_refused(dossier, key, character):
    other = replace(STATEMENT, who=f"P.{character}Officer")
    for call in (
        lambda: enter(dossier, other, sign(other, key), public_key(key)),
        lambda: register_signer(dossier.warehouse.admin_engine(), public_key(key), other.who),
    ):
        with pytest.raises(DeidError) as caught:
            call()
        assert (caught.value.code, caught.value.ref) == (Code.WAIVER_INVALID, "who")


@pytest.mark.parametrize(
    "who", ["Zo\u00eb \u00d6z-O'Hara", "\u5f20\u4f1f", "\u0646\u0627\u0645\u200c\u062e\u0627\u0646", "A. B., MD (2nd)"]
)
def test_a_name_of_any_writing_stands(dossier, key, who):
    other = replace(STATEMENT, who=who)
    enter(dossier, other, sign(other, key), public_key(key))
    assert standing(dossier) == "in force"


def test_key_and_signature_stand_in_one_form_alone(dossier, key):
    signature, public = sign(STATEMENT, key), public_key(key)
    last = "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

    def otherwise(said: str) -> list[str]:
        body = said.rstrip("=")
        same = [f"{body[:-1]}{c}{said[len(body) :]}" for c in last if c != body[-1]]
        same = [it for it in same if base64.b64decode(it) == base64.b64decode(said)]
        assert same
        return [f" {said}", f"{said}\n", f"{said[:9]} {said[9:]}", f"{said[:76]}\n{said[76:]}", same[0]]

    for other in otherwise(signature):
        assert refused(dossier, STATEMENT, other, public) == "signature"
    for other in otherwise(public):
        assert refused(dossier, STATEMENT, signature, other) == "signature"
        with pytest.raises(DeidError, match="key"):
            register_signer(dossier.warehouse.admin_engine(), other, "P. Officer")
    enter(dossier, STATEMENT, signature, public)


@pytest.mark.parametrize("point", SMALL, ids=lambda point: f"{point[:4]}-{point[-2:]}")
def test_a_key_of_small_order_is_no_key(dossier, point):
    public = base64.b64encode(bytes.fromhex(point)).decode()
    with pytest.raises(DeidError) as caught:
        register_signer(dossier.warehouse.admin_engine(), public, "P. Officer")
    assert (caught.value.code, caught.value.ref) == (Code.SIGNATURE_INVALID, "key")
    # R is the identity and s is 0: with such a key, what anybody writes is a signature of one message in eight.
    forged = base64.b64encode(bytes([1]) + bytes(63)).decode()
    for day in range(1, 17) if point == SMALL[0] else (1,):
        other = replace(STATEMENT, reassess_by=date(2099, 1, day))
        assert refused(dossier, other, forged, public) == "signature"


def test_what_is_no_key_or_no_name_is_no_signer(dossier, key):
    no_point = base64.b64encode(bytes([2] + [0] * 31)).decode()
    cases = [
        (public, "P. Officer", Code.SIGNATURE_INVALID) for public in ("", "no key", public_key(key)[:20], no_point)
    ]
    for public, who, code in (*cases, (public_key(key), " ", Code.WAIVER_INVALID)):
        with pytest.raises(DeidError) as caught:
            register_signer(dossier.warehouse.admin_engine(), public, who)
        assert caught.value.code is code


@pytest.mark.parametrize("role", [Role.OFFICER, Role.PROMOTER, Role.GATEKEEPER], ids=str)
def test_no_login_names_a_signer_or_says_that_a_signature_is_one(dossier, key, role):
    for statement in (
        f"INSERT INTO ctl.signer (public_key, who) VALUES ('{public_key(key)}', 'P. Officer')",
        "INSERT INTO ctl.verified_signature VALUES (1, '2026-01-01')",
    ):
        with pytest.raises(DeidError, match="42501"), dossier.warehouse.begin(role) as connection:
            connection.execute(text(statement))


def test_of_signatures_of_before_those_that_are_one_stay_valid_and_others_show_nothing(dossier, key):
    promoter = dossier.warehouse.engine(Role.PROMOTER)
    forged = base64.b64encode(bytes(64)).decode()
    for signature, said in ((sign(STATEMENT, key), "in force"), (forged, "invalid")):
        with dossier.warehouse.administer() as connection:  # as an earlier version entered it
            connection.execute(
                text(
                    "INSERT INTO ctl.signature (dossier, who, conclusion, reason, reassess_by, public_key, signature)"
                    " VALUES (:d, :who, 'fit', :reason, :until, :key, :signature)"
                ),
                {
                    "d": DIGEST,
                    "who": STATEMENT.who,
                    "reason": STATEMENT.reason,
                    "until": STATEMENT.reassess_by,
                    "key": public_key(key),
                    "signature": signature,
                },
            )
        assert standing(dossier) == "invalid"
        migrate(dossier.warehouse.admin_engine())
        assert standing(dossier) == said
        configure(dossier.warehouse.admin_engine(), "demo", signed_dossier=True)
        with dossier.warehouse.administer() as connection:
            connection.execute(text("UPDATE ctl.release SET active = false"))
        if said == "invalid":
            with pytest.raises(DeidError) as caught:
                activate_release(promoter, "r1")
            assert caught.value.code is Code.DOSSIER_UNSIGNED
        else:
            assert activate_release(promoter, "r1")
        configure(dossier.warehouse.admin_engine(), "demo")
