-- Whether an Ed25519 signature is one (RFC 8032): the server itself sees to it, so that no login can enter another.
-- Nothing here is secret, so that nothing needs to take the same time for all.

-- A number of 32 bytes, the least first.
CREATE OR REPLACE FUNCTION ctl.number_of_bytes(p_bytes bytea) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    v numeric := 0;
BEGIN
    FOR i IN REVERSE length(p_bytes) - 1 .. 0 LOOP
        v := v * 256 + get_byte(p_bytes, i);
    END LOOP;
    RETURN v;
END $$;

CREATE OR REPLACE FUNCTION ctl.power_in_field(p_base numeric, p_exponent numeric) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p CONSTANT numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
    b numeric := p_base;
    e numeric := p_exponent;
    v numeric := 1;
BEGIN
    WHILE e > 0 LOOP
        IF mod(e, 2) = 1 THEN
            v := mod(v * b, p);
        END IF;
        b := mod(b * b, p);
        e := div(e, 2);
    END LOOP;
    RETURN v;
END $$;

-- The sum of two points of the curve in extended coordinates; also of a point and itself.
CREATE OR REPLACE FUNCTION ctl.sum_of_points(a numeric[], b numeric[]) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p CONSTANT numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
    d2 CONSTANT numeric := 16295367250680780974490674513165176452449235426866156013048779062215315747161;
    v numeric := mod((a[2] + p - a[1]) * (b[2] + p - b[1]), p);
    w numeric := mod((a[2] + a[1]) * (b[2] + b[1]), p);
    c numeric := mod(mod(a[4] * b[4], p) * d2, p);
    z numeric := mod(2 * a[3] * b[3], p);
BEGIN
    RETURN ARRAY[mod((w + p - v) * (z + p - c), p), mod((z + c) * (w + v), p),
                 mod((z + p - c) * (z + c), p), mod((w + p - v) * (w + v), p)];
END $$;

-- In the one form that signing writes: encode() breaks lines.
CREATE OR REPLACE FUNCTION ctl.as_base64(p_bytes bytea) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT translate(encode(p_bytes, 'base64'), E'\n', '')
$$;

-- The point that a public key names, its x turned round; NULL if it names none, or one of the eight of small order, with
-- which anybody makes signatures.
CREATE OR REPLACE FUNCTION ctl.point_of_key(p_public_key bytea) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p CONSTANT numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
    d CONSTANT numeric := 37095705934669439343138083508754565189542113879843219016388785533085940283555;
    root CONSTANT numeric := 19681161376707505956807079304988542015446066515923890162744021073123829784752;
    x numeric;
    y numeric;
    u numeric;
    v numeric;
    v_eight numeric[];
BEGIN
    IF length(p_public_key) <> 32 THEN
        RETURN NULL;
    END IF;
    y := ctl.number_of_bytes(set_byte(p_public_key, 31, get_byte(p_public_key, 31) & 127));
    IF y >= p THEN
        RETURN NULL;
    END IF;
    u := mod(y * y + p - 1, p);
    v := mod(mod(d * y, p) * y + 1, p);
    x := mod(mod(mod(v * v, p) * v, p) * u, p);
    x := mod(x * ctl.power_in_field(mod(mod(x * v, p) * mod(mod(v * v, p) * v, p), p), div(p - 5, 8)), p);
    IF mod(mod(x * x, p) * v, p) <> u THEN
        x := mod(x * root, p);
    END IF;
    IF mod(mod(x * x, p) * v, p) <> u OR (x = 0 AND get_byte(p_public_key, 31) >= 128) THEN
        RETURN NULL;
    END IF;
    IF (mod(x, 2) = 1) = (get_byte(p_public_key, 31) >= 128) THEN
        x := mod(p - x, p);
    END IF;
    v_eight := ARRAY[x, y, 1, mod(x * y, p)];
    FOR i IN 1 .. 3 LOOP
        v_eight := ctl.sum_of_points(v_eight, v_eight);
    END LOOP;
    IF v_eight[1] = 0 AND v_eight[2] = v_eight[3] THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY[x, y, 1, mod(x * y, p)];
END $$;

CREATE OR REPLACE FUNCTION ctl.is_signature(p_message bytea, p_signature bytea, p_public_key bytea) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    p CONSTANT numeric := 57896044618658097711785492504343953926634992332820282019728792003956564819949;
    q CONSTANT numeric := 7237005577332262213973186563042994240857116359379907606001950938285454250989;
    base numeric[] := ARRAY[
        15112221349535400772501151409588531511454012693041857206046113283949847762202,
        46316835694926478169428394003475163141307993866256225615783033603165251855960, 1];
    s numeric;
    h numeric;
    x numeric;
    y numeric;
    u numeric;
    a numeric[];
    v_both numeric[];
    v_sum numeric[] := ARRAY[0, 1, 1, 0];
    v_digits integer[] := '{}';
    v_digit integer;
BEGIN
    a := ctl.point_of_key(p_public_key);
    IF length(p_signature) <> 64 OR a IS NULL THEN
        RETURN false;
    END IF;
    s := ctl.number_of_bytes(substring(p_signature FROM 33));
    IF s >= q THEN
        RETURN false;
    END IF;
    -- The key's x is turned round: what is left of the base's multiple must be the first half.
    base := base || mod(base[1] * base[2], p);
    v_both := ctl.sum_of_points(a, base);
    h := mod(ctl.number_of_bytes(sha512(substring(p_signature FOR 32) || p_public_key || p_message)), q);
    -- s times the base and h times the other, both at once, from the highest of 253 binary digits on. A digit of 2 says
    -- that it is one of h, a digit of 1 that it is one of s.
    FOR i IN 1 .. 253 LOOP
        v_digits := array_prepend(CAST(mod(s, 2) + 2 * mod(h, 2) AS integer), v_digits);
        s := div(s, 2);
        h := div(h, 2);
    END LOOP;
    FOREACH v_digit IN ARRAY v_digits LOOP
        v_sum := ctl.sum_of_points(v_sum, v_sum);
        IF v_digit = 3 THEN
            v_sum := ctl.sum_of_points(v_sum, v_both);
        ELSIF v_digit = 2 THEN
            v_sum := ctl.sum_of_points(v_sum, a);
        ELSIF v_digit = 1 THEN
            v_sum := ctl.sum_of_points(v_sum, base);
        END IF;
    END LOOP;
    u := ctl.power_in_field(v_sum[3], p - 2);
    x := mod(v_sum[1] * u, p);
    y := mod(v_sum[2] * u, p);
    RETURN ctl.number_of_bytes(substring(p_signature FOR 32))
         = y + mod(x, 2) * 57896044618658097711785492504343953926634992332820282019728792003956564819968;
END $$;
