-- The duties of a ledger in PostgreSQL: an analyst reads entries and calls one function, and can do nothing else.
--
-- Installed by the owner of the table `entries` (equipoise.ledger.postgresql); docs/ledger-postgresql.md says what it
-- stops and what it does not. Every function fixes the settings that a caller could bend: the search path (functions
-- and operators of somebody's own), how literals are read, how doubles and dates are written. ASSERT is not used,
-- because a caller can switch it off. "X IS NOT TRUE" refuses what is unknown as well as what is false.
-- Lengths are checked beside the patterns and not by counted repetitions, on which a match can take for ever.
-- Errors: EQ001 a line that is refused, EQ002 more than remains, EQ003 a history that does not hold together.

ALTER TABLE public.entries ADD COLUMN IF NOT EXISTS record text;
-- What a spend looks at is found at the same cost in a history of any length.
CREATE INDEX IF NOT EXISTS entries_by_dataset ON public.entries (dataset, number);
CREATE INDEX IF NOT EXISTS entries_limits ON public.entries (dataset, number) WHERE kind IN ('budget', 'migration');
CREATE INDEX IF NOT EXISTS entries_outcomes ON public.entries (dataset, (record::json ->> 'of')) WHERE kind = 'outcome';
-- Who appended an entry, by the server's word and not the client's.
CREATE TABLE IF NOT EXISTS public.callers (
    number integer NOT NULL,
    dataset varchar NOT NULL,
    role text NOT NULL,
    called timestamptz NOT NULL,
    PRIMARY KEY (number, dataset)
);

-- A text as Python's json.dumps writes it: plain ASCII.
CREATE OR REPLACE FUNCTION public.equipoise_quoted(plain text) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $body$
DECLARE
    quoted text := to_json(plain)::text;
BEGIN
    IF quoted COLLATE "C" ~ '^[ -~]*$' THEN
        RETURN quoted;
    END IF;
    RETURN (
        SELECT string_agg(
            CASE
                WHEN code BETWEEN 32 AND 126 THEN letter
                WHEN code < 65536 THEN '\u' || lpad(to_hex(code), 4, '0')
                ELSE '\u' || to_hex(55296 + ((code - 65536) >> 10)) || '\u' || to_hex(56320 + ((code - 65536) & 1023))
            END, '' ORDER BY place)
        FROM (
            SELECT letter, place, ascii(letter) AS code
            FROM regexp_split_to_table(quoted, '') WITH ORDINALITY AS letters(letter, place)
        ) AS coded
    );
END $body$;

-- Whether a text is what Python writes for a finite double. From 1e15 on, and below 1e16, PostgreSQL writes an exponent
-- and Python none; a few doubles beyond 2^53 differ in digits: those are refused.
CREATE OR REPLACE FUNCTION public.equipoise_is_double(given text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET extra_float_digits = 1
AS $body$
DECLARE
    shown text;
BEGIN
    IF (length(given) <= 30 AND given ~ '^-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?$') IS NOT TRUE THEN
        RETURN false;
    END IF;
    -- What no double holds ends here, in an error.
    shown := (given::float8)::text;
    IF shown !~ '[.e]' THEN
        shown := shown || '.0';
    END IF;
    RETURN (shown = given AND given !~ 'e\+15$') OR (given ~ '^-?[1-9][0-9]{15}\.0$' AND given::numeric = given::float8::numeric);
END $body$;

-- A JSON value as `equipoise` writes records: keys sorted, each once, no blanks, numbers as Python writes them.
CREATE OR REPLACE FUNCTION public.equipoise_canonical(given json, depth integer) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $body$
DECLARE
    sort text := json_typeof(given);
    plain text := given #>> '{}';
BEGIN
    IF depth > 50 THEN
        RETURN NULL;
    ELSIF sort = 'object' THEN
        IF (SELECT count(*) > count(DISTINCT key) FROM json_object_keys(given) AS key) THEN
            RETURN NULL;
        END IF;
        -- Materialized: each part is worked out once, and not once for every mention. An unknown part makes the whole
        -- unknown, which string_agg alone would pass over.
        RETURN (
            WITH members AS MATERIALIZED (
                SELECT public.equipoise_quoted(key) || ':' || public.equipoise_canonical(value, depth + 1) AS part, key
                FROM json_each(given)
            )
            SELECT CASE WHEN count(*) = count(part)
                THEN '{' || coalesce(string_agg(part, ',' ORDER BY key COLLATE "C"), '') || '}' END
            FROM members
        );
    ELSIF sort = 'array' THEN
        RETURN (
            WITH members AS MATERIALIZED (
                SELECT place, public.equipoise_canonical(value, depth + 1) AS part
                FROM json_array_elements(given) WITH ORDINALITY AS listed(value, place)
            )
            SELECT CASE WHEN count(*) = count(part) THEN '[' || coalesce(string_agg(part, ',' ORDER BY place), '') || ']' END
            FROM members
        );
    ELSIF sort = 'string' THEN
        RETURN public.equipoise_quoted(plain);
    ELSIF sort = 'number' THEN
        IF length(plain) <= 30 AND (plain ~ '^(0|-?[1-9][0-9]*)$' OR public.equipoise_is_double(plain)) THEN
            RETURN plain;
        END IF;
        RETURN NULL;
    END IF;
    RETURN given::text;
END $body$;

-- The two numbers of an amount; NULL unless they are texts of decimals, at least 0, as Python's Decimal writes them, and
-- multiples of 1e-400: sums with anything finer would be longer than a reader takes, and nobody could spend any more.
CREATE OR REPLACE FUNCTION public.equipoise_amount(given json) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $body$
DECLARE
    part text;
    shape text[];
BEGIN
    IF (json_typeof(given) = 'object'
        AND (SELECT array_agg(key ORDER BY key) FROM json_object_keys(given) AS key) = ARRAY['amount', 'delta']
    ) IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    FOREACH part IN ARRAY ARRAY[given ->> 'amount', given ->> 'delta'] LOOP
        shape := regexp_match(part, '^(?:0|[1-9][0-9]*)(?:\.([0-9]+))?(?:E([-+])([1-9][0-9]{0,2}))?$');
        IF (length(part) <= 700 AND shape IS NOT NULL) IS NOT TRUE THEN
            RETURN NULL;
        ELSIF scale(part::numeric) > 400 THEN
            RETURN NULL;
        END IF;
        -- Python writes an exponent where it must, and nowhere else.
        IF (shape[2] IS NULL AND part ~ '^0\.0{6}[0-9]')
            OR (shape[2] IS NOT NULL AND (part !~ '^[0-9](\.|E)' OR part ~ '^0\.'))
            OR (shape[2] = '-' AND shape[3]::integer < 7)
            OR (shape[2] = '+' AND shape[3]::integer <= coalesce(length(shape[1]), 0)) THEN
            RETURN NULL;
        END IF;
    END LOOP;
    IF json_typeof(given -> 'amount') <> 'string' OR json_typeof(given -> 'delta') <> 'string' THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY[(given ->> 'amount')::numeric, (given ->> 'delta')::numeric];
END $body$;

-- The line that an entry is sealed over.
CREATE OR REPLACE FUNCTION public.equipoise_line(entry public.entries) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on
AS $body$
BEGIN
    RETURN '[' || entry.number
        || ',' || public.equipoise_quoted(entry.dataset) || ',' || public.equipoise_quoted(entry.kind)
        || ',' || public.equipoise_quoted(entry.epsilon) || ',' || public.equipoise_quoted(entry.delta)
        || ',' || public.equipoise_quoted(entry.certificate) || ',' || public.equipoise_quoted(entry.made)
        || ',' || public.equipoise_quoted(entry.previous)
        || CASE WHEN entry.record IS NULL THEN '' ELSE ',' || public.equipoise_quoted(entry.record) END || ']';
END $body$;

-- Appends a spend, or what became of one. `line` is the JSON list that the entry is sealed over; `rests_on` is empty
-- (the name of the function in everybody's rights has two arguments). Returns the digest of the entry.
CREATE OR REPLACE FUNCTION public.equipoise_append(line text, rests_on text DEFAULT '') RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET standard_conforming_strings = on SET extra_float_digits = 1
SET datestyle = 'ISO, YMD'
AS $body$
DECLARE
    field text[];
    fresh public.entries%ROWTYPE;
    latest public.entries%ROWTYPE;
    bound public.entries%ROWTYPE;
    subject public.entries%ROWTYPE;
    origin text;
    keys text[];
    neighbours text[];
    told json;
    cost numeric[];
    before numeric[] := ARRAY[0, 0];
    after numeric[];
    most numeric[];
    fault text;
BEGIN
    fault := CASE
        -- A stricter isolation would look at the history as it was before the lock was granted.
        WHEN current_setting('transaction_isolation') <> 'read committed' THEN 'a transaction that is not READ COMMITTED'
        WHEN (octet_length(line) <= 1048576) IS NOT TRUE THEN 'no line, or one of more than a mebibyte'
        WHEN line COLLATE "C" !~ '^\[[ -~]*\]$' THEN 'a line that is no JSON list in plain ASCII'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
    END IF;
    -- What the caller set may be weaker. It can be set back before the commit: that is the caller's loss (docs).
    IF current_setting('synchronous_commit') IN ('off', 'local') THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    -- A transaction that has notified cannot be prepared: prepared, it would hold the lock without a connection.
    PERFORM pg_notify('equipoise', '');
    -- The letters "equipois", as in equipoise.ledger.store.
    PERFORM pg_advisory_xact_lock(7309752765917391219);

    SELECT array_agg(value ORDER BY place) INTO field
    FROM json_array_elements_text(line::json) WITH ORDINALITY AS listed(value, place);
    fault := CASE
        WHEN cardinality(field) NOT IN (8, 9) THEN 'a line that has neither eight fields nor nine'
        WHEN (field[1] ~ '^[1-9][0-9]{0,8}$') IS NOT TRUE THEN 'a number that is none'
        WHEN (field[3] IN ('spend', 'outcome')) IS NOT TRUE
            THEN 'an entry that is neither a spend nor an outcome: budgets, migrations and recoveries are the owner''s'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
    END IF;
    fresh.number := field[1]::integer;
    fresh.dataset := field[2];
    fresh.kind := field[3];
    fresh.epsilon := field[4];
    fresh.delta := field[5];
    fresh.certificate := field[6];
    fresh.made := field[7];
    fresh.previous := field[8];
    fresh.record := field[9];
    fault := CASE
        WHEN (public.equipoise_line(fresh) = line) IS NOT TRUE THEN 'a line that is not written as equipoise writes it'
        WHEN fresh.made !~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3])(:[0-5][0-9]){2}\+00:00$'
            OR fresh.made::timestamptz IS NULL THEN 'a time that is none'
        WHEN fresh.certificate !~ '^[0-9a-f]{64}$' AND (fresh.kind = 'spend' OR fresh.certificate <> '')
            THEN 'a certificate''s digest that is none'
        WHEN fresh.kind = 'outcome' AND (fresh.epsilon <> '0.0' OR fresh.delta <> '0.0')
            THEN 'an outcome that spends'
        WHEN NOT public.equipoise_is_double(fresh.epsilon) OR NOT public.equipoise_is_double(fresh.delta)
            THEN 'an epsilon or a delta that is no amount'
        -- The bounds of equipoise.vocabulary.numbers; a minus before a zero is refused too.
        WHEN fresh.kind = 'spend' AND (fresh.epsilon::float8 < 1e-100 OR fresh.epsilon::float8 > 1e15
            OR fresh.delta ~ '^-' OR fresh.delta::float8 >= 1) THEN 'an epsilon or a delta that is no amount'
        WHEN coalesce(rests_on, '') <> '' THEN 'grounds: they are in the record'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
    END IF;

    -- Where the history stands, now that nobody else can append.
    SELECT * INTO latest FROM public.entries AS e
    WHERE e.dataset = fresh.dataset ORDER BY e.number DESC LIMIT 1;
    SELECT * INTO bound FROM public.entries AS e
    WHERE e.dataset = fresh.dataset AND e.kind IN ('budget', 'migration') ORDER BY e.number DESC LIMIT 1;
    fault := CASE
        WHEN latest.number IS NULL OR bound.number IS NULL
            THEN 'a spend of a dataset without a budget: creating one is the owner''s'
        WHEN fresh.number <> latest.number + 1 THEN 'entry ' || fresh.number || ' after entry ' || latest.number
        WHEN fresh.previous <> latest.digest THEN 'an entry that does not follow the one before it'
        WHEN fresh.record IS NULL THEN 'an entry without a record'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
    END IF;
    -- The total is in the last entry; where entries have no record, as in 0.1.0 and 0.2.0, it is their sum.
    IF latest.kind <> 'budget' AND latest.record IS NOT NULL THEN
        before := public.equipoise_amount(latest.record::json -> 'spent');
    ELSIF latest.record IS NULL THEN
        SELECT ARRAY[coalesce(sum(e.epsilon::numeric), 0), coalesce(sum(e.delta::numeric), 0)] INTO before
        FROM public.entries AS e WHERE e.dataset = fresh.dataset AND e.kind = 'spend';
    END IF;
    most := CASE
        WHEN bound.record IS NOT NULL THEN public.equipoise_amount(bound.record::json -> 'limit')
        WHEN public.equipoise_is_double(bound.epsilon) AND public.equipoise_is_double(bound.delta)
            THEN ARRAY[bound.epsilon::numeric, bound.delta::numeric]
    END;
    IF (encode(sha256(convert_to(public.equipoise_line(latest), 'UTF8')), 'hex') = latest.digest
        AND before[1] >= 0 AND before[1] < 'Infinity' AND before[2] >= 0 AND before[2] < 'Infinity'
        AND most[1] >= 0 AND most[2] >= 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'the history does not hold together at entry %', latest.number USING ERRCODE = 'EQ003';
    END IF;

    cost := ARRAY[fresh.epsilon::numeric, fresh.delta::numeric];
    told := fresh.record::json;
    IF (json_typeof(told) = 'object' AND public.equipoise_canonical(told, 0) = fresh.record) IS NOT TRUE THEN
        RAISE EXCEPTION 'the ledger refuses a record that is not written as equipoise writes it' USING ERRCODE = 'EQ001';
    END IF;
    IF fresh.kind = 'spend' AND (bound.record IS NULL OR bound.record::json ->> 'currency' = 'basic')
        AND public.equipoise_amount(told -> 'cost') IS DISTINCT FROM cost THEN
        RAISE EXCEPTION 'the ledger refuses a cost that is not epsilon and delta' USING ERRCODE = 'EQ001';
    ELSIF fresh.kind = 'spend' THEN
        cost := public.equipoise_amount(told -> 'cost');
    END IF;
    -- What neighbours are for the entries before: the last record says it. Where entries have none, as in 0.1.0 and
    -- 0.2.0, the table of grounds does, where there is one (equipoise.ledger.grounds): what says nothing is about rows.
    IF latest.record IS NOT NULL THEN
        neighbours := ARRAY[latest.record::json ->> 'adjacency'];
    -- A view of somebody else's would run that person's code with the owner's rights.
    ELSIF EXISTS (
        SELECT 1 FROM pg_class AS c WHERE c.oid = to_regclass('public.grounds') AND c.relkind = 'r'
            AND c.relowner = (SELECT o.relowner FROM pg_class AS o WHERE o.oid = to_regclass('public.entries'))
    ) THEN
        SELECT array_agg(DISTINCT CASE WHEN strpos(g.grounds, '"adjacency": "replace-one-person"') > 0
            THEN 'replace-one-person' ELSE 'replace-one' END) INTO neighbours
        FROM public.entries AS e LEFT JOIN public.grounds AS g ON g.dataset = e.dataset AND g.number = e.number
        WHERE e.dataset = fresh.dataset AND e.kind = 'spend';
    ELSIF EXISTS (SELECT 1 FROM public.entries AS e WHERE e.dataset = fresh.dataset AND e.kind = 'spend') THEN
        neighbours := ARRAY['replace-one'];
    END IF;
    after := public.equipoise_amount(told -> 'spent');
    SELECT e.record INTO origin FROM public.entries AS e WHERE e.dataset = fresh.dataset AND e.number = 1;
    SELECT array_agg(key ORDER BY key COLLATE "C") INTO keys FROM json_object_keys(told) AS key;
    fault := CASE
        WHEN keys <> CASE fresh.kind
            WHEN 'spend' THEN ARRAY['adjacency', 'certificate', 'cost', 'release', 'software', 'spent', 'under']
            ELSE ARRAY['adjacency'] || CASE WHEN told -> 'files' IS NULL THEN ARRAY[]::text[] ELSE ARRAY['files'] END
                || ARRAY['of', 'outcome', 'release', 'spent', 'under']
        END THEN 'a record that does not say what it must, and nothing else'
        WHEN told ->> 'under' IS DISTINCT FROM bound.number::text OR json_typeof(told -> 'under') <> 'number'
            THEN 'an entry under another limit than the last one that was set'
        -- Those of equipoise.certify.certificate: with any others the first spend would shut out all others.
        WHEN (json_typeof(told -> 'adjacency') = 'string'
            AND told ->> 'adjacency' IN ('replace-one', 'replace-one-person')) IS NOT TRUE
            THEN 'an entry about neighbours that nobody knows'
        WHEN told ->> 'adjacency' <> ANY (neighbours)
            THEN 'an entry about other neighbours than those before it'
        -- The bounds of equipoise.ledger.currencies.base: a free line could else make every later total longer.
        WHEN (cost[1] >= 0 AND cost[2] >= 0 AND (fresh.kind = 'outcome' OR greatest(cost[1], cost[2]) >= 1E-30)) IS NOT TRUE
            THEN 'a spend that says no cost, or next to none'
        WHEN (scale(cost[1]) <= 60 AND scale(cost[2]) <= 60) IS NOT TRUE THEN 'a cost with digits beyond 1E-60'
        WHEN after IS DISTINCT FROM ARRAY[before[1] + cost[1], before[2] + cost[2]]
            THEN 'a total that is not the one before and the cost'
        WHEN (json_typeof(told -> 'release') = 'string' AND length(told ->> 'release') <= 200
            AND told ->> 'release' COLLATE "C" ~ '^[!-~]+$') IS NOT TRUE
            THEN 'a release id that is none'
        WHEN fresh.kind = 'spend' AND (
            json_typeof(told -> 'certificate') = 'object' AND json_typeof(told -> 'software') = 'object'
        ) IS NOT TRUE THEN 'a spend that does not say its certificate and software'
        -- Both are in the normal form of names; an id that an earlier version wrote may not be, and is left to `verify`.
        WHEN fresh.kind = 'spend' AND origin IS NOT NULL AND told #>> '{certificate,terms,ledger}' <> fresh.dataset
            THEN 'a certificate that was planned for another dataset'
        -- A reader looks for the end of the certificate from behind, over the software: that must be flat.
        WHEN fresh.kind = 'spend' AND EXISTS (
            SELECT 1 FROM json_each(told -> 'software') AS part WHERE json_typeof(part.value) <> 'string'
        ) THEN 'software whose version is no text'
    END;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
    END IF;
    IF (after[1] <= most[1] AND after[2] <= most[2]) IS NOT TRUE THEN
        -- Of an outcome, too: a history that is over its budget takes nothing more.
        RAISE EXCEPTION 'the ledger refuses more than remains' USING ERRCODE = 'EQ002';
    END IF;
    IF fresh.kind = 'outcome' THEN
        IF (told ->> 'of' ~ '^[1-9][0-9]{0,8}$' AND json_typeof(told -> 'of') = 'number') IS TRUE THEN
            SELECT * INTO subject FROM public.entries AS e
            WHERE e.dataset = fresh.dataset AND e.number = (told ->> 'of')::integer AND e.kind = 'spend';
        END IF;
        fault := CASE
            WHEN subject.number IS NULL THEN 'an outcome of no spend'
            WHEN (subject.record::json ->> 'release' = told ->> 'release') IS NOT TRUE THEN 'an outcome of another release'
            WHEN (told ->> 'outcome' = CASE fresh.certificate WHEN '' THEN 'failed' ELSE 'released' END) IS NOT TRUE
                THEN 'an outcome that is neither released nor failed'
            WHEN told -> 'files' IS NOT NULL AND (fresh.certificate <> '' AND json_typeof(told -> 'files') = 'string'
                AND told ->> 'files' ~ '^[0-9a-f]{64}$') IS NOT TRUE THEN 'a digest of files that is none'
            WHEN EXISTS (
                SELECT 1 FROM public.entries AS e
                WHERE e.dataset = fresh.dataset AND e.kind = 'outcome' AND e.record::json ->> 'of' = told ->> 'of'
            ) THEN 'a second outcome of one spend'
        END;
        IF fault IS NOT NULL THEN
            RAISE EXCEPTION 'the ledger refuses %', fault USING ERRCODE = 'EQ001';
        END IF;
    END IF;

    IF EXISTS (SELECT 1 FROM public.callers AS c WHERE c.dataset = fresh.dataset AND c.number = fresh.number) THEN
        RAISE EXCEPTION 'entry % was there before, and is gone', fresh.number USING ERRCODE = 'EQ003';
    END IF;

    fresh.digest := encode(sha256(convert_to(line, 'UTF8')), 'hex');
    INSERT INTO public.entries (number, dataset, kind, epsilon, delta, certificate, made, previous, record, digest)
    VALUES (fresh.number, fresh.dataset, fresh.kind, fresh.epsilon, fresh.delta, fresh.certificate, fresh.made,
        fresh.previous, fresh.record, fresh.digest);
    INSERT INTO public.callers VALUES (fresh.number, fresh.dataset, session_user, clock_timestamp());
    RETURN fresh.digest;
END $body$;

REVOKE ALL ON FUNCTION public.equipoise_quoted(text), public.equipoise_is_double(text),
    public.equipoise_canonical(json, integer), public.equipoise_amount(json), public.equipoise_line(public.entries),
    public.equipoise_append(text, text) FROM PUBLIC;

-- Ledgers of 0.1.0 and 0.2.0 let spenders insert. Those who could may now call the function, and keep reading.
DO $body$
DECLARE
    held record;
BEGIN
    FOR held IN
        SELECT c.oid::regclass::text AS relation, r.rolname AS role,
            bool_or(a.privilege_type = 'INSERT' AND c.relname = 'entries') AS spends
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
        WHERE c.oid IN (to_regclass('public.entries'), to_regclass('public.grounds'), to_regclass('public.callers'))
            AND a.grantee <> c.relowner AND a.privilege_type <> 'SELECT'
        GROUP BY c.oid, r.rolname
    LOOP
        EXECUTE format(
            'REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON %s FROM %s',
            held.relation, coalesce(quote_ident(held.role), 'PUBLIC')
        );
        IF held.spends AND held.role IS NOT NULL THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION public.equipoise_append(text, text) TO %I', held.role);
        END IF;
    END LOOP;
END $body$;
