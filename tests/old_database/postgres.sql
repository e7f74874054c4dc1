SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.acts (
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    person_id bigint,
    kind character varying(40) NOT NULL,
    subject jsonb NOT NULL,
    task_id character varying(60)
);

CREATE SEQUENCE public.acts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.acts_id_seq OWNED BY public.acts.id;

CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);

CREATE TABLE public.announcements (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    text text NOT NULL,
    until timestamp with time zone NOT NULL,
    told integer NOT NULL,
    created_by bigint,
    created_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.announcements_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.announcements_id_seq OWNED BY public.announcements.id;

CREATE TABLE public.announcements_seen (
    announcement_id bigint NOT NULL,
    person_id bigint NOT NULL
);

CREATE TABLE public.assignments (
    round_id bigint NOT NULL,
    person_id bigint NOT NULL,
    arm character varying(40) NOT NULL,
    place integer NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.assistances (
    example_id bigint NOT NULL,
    shown integer NOT NULL,
    outcome character varying(10) NOT NULL,
    distance integer,
    provider character varying(40) NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    text character varying NOT NULL
);

CREATE TABLE public.attributions (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    model character varying(100) NOT NULL,
    method character varying(40) NOT NULL,
    label character varying(200) NOT NULL,
    fields jsonb NOT NULL,
    completeness_error double precision,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.attributions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.attributions_id_seq OWNED BY public.attributions.id;

CREATE TABLE public.bans (
    task_id character varying(60) NOT NULL,
    person_id bigint NOT NULL,
    reason character varying(500) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.breakdowns (
    round_id bigint NOT NULL,
    name character varying(10) NOT NULL,
    value character varying(100) NOT NULL,
    counts bytea NOT NULL
);

CREATE TABLE public.bulk_acts (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    kind character varying(10) NOT NULL,
    value character varying(1000) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL,
    undone_at timestamp with time zone
);

CREATE SEQUENCE public.bulk_acts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.bulk_acts_id_seq OWNED BY public.bulk_acts.id;

CREATE TABLE public.bulk_members (
    bulk_id bigint NOT NULL,
    example_id bigint NOT NULL
);

CREATE TABLE public.contexts (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    "values" jsonb NOT NULL,
    tag character varying(100) NOT NULL,
    digest character varying(64) NOT NULL,
    draw integer NOT NULL,
    used integer NOT NULL,
    fooled integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    good integer DEFAULT 0 NOT NULL,
    failed integer DEFAULT 0 NOT NULL,
    doubt integer DEFAULT 500 NOT NULL,
    weight double precision DEFAULT '1'::double precision NOT NULL,
    clock double precision DEFAULT '0'::double precision NOT NULL,
    retired_at timestamp with time zone
);

CREATE SEQUENCE public.contexts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.contexts_id_seq OWNED BY public.contexts.id;

CREATE TABLE public.conversation_replies (
    turn_id bigint NOT NULL,
    side integer NOT NULL,
    text text NOT NULL,
    state character varying(10) NOT NULL,
    reason character varying(500) NOT NULL,
    rating integer,
    first_ms double precision,
    whole_ms double precision
);

CREATE TABLE public.conversation_turns (
    id bigint NOT NULL,
    conversation_id bigint NOT NULL,
    number integer NOT NULL,
    said text NOT NULL,
    key character varying(100) NOT NULL,
    request character varying(64) NOT NULL,
    state character varying(10) NOT NULL,
    attempt integer NOT NULL,
    stop boolean NOT NULL,
    choice character varying(10) NOT NULL,
    continued integer,
    at timestamp with time zone NOT NULL,
    beat_at timestamp with time zone NOT NULL,
    chosen_at timestamp with time zone
);

CREATE SEQUENCE public.conversation_turns_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.conversation_turns_id_seq OWNED BY public.conversation_turns.id;

CREATE TABLE public.conversations (
    id bigint NOT NULL,
    handout_id bigint NOT NULL,
    round_id bigint NOT NULL,
    person_id bigint NOT NULL,
    sides jsonb NOT NULL,
    example_id bigint,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.conversations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.conversations_id_seq OWNED BY public.conversations.id;

CREATE TABLE public.cycle_candidates (
    turn_id bigint NOT NULL,
    "position" integer NOT NULL,
    name character varying(64) NOT NULL,
    method character varying(10) NOT NULL,
    seed integer NOT NULL,
    state character varying(10) NOT NULL,
    reason text NOT NULL,
    version character varying(64) NOT NULL,
    submission_id bigint,
    seconds double precision,
    rows integer
);

CREATE TABLE public.cycle_turns (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    round_id bigint NOT NULL,
    state character varying(10) NOT NULL,
    step character varying(10) NOT NULL,
    plan jsonb NOT NULL,
    present jsonb NOT NULL,
    outside jsonb NOT NULL,
    report jsonb NOT NULL,
    reason text NOT NULL,
    attempt integer NOT NULL,
    job_id character varying(36),
    next_id bigint,
    back_id bigint,
    created_by bigint,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone
);

CREATE SEQUENCE public.cycle_turns_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.cycle_turns_id_seq OWNED BY public.cycle_turns.id;

CREATE TABLE public.dataset_versions (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    number integer NOT NULL,
    state character varying(10) NOT NULL,
    digest character varying(64) NOT NULL,
    salt character varying(64) NOT NULL,
    rows integer NOT NULL,
    slices jsonb NOT NULL,
    reason text NOT NULL,
    job_id character varying(36),
    created_by bigint,
    created_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.dataset_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.dataset_versions_id_seq OWNED BY public.dataset_versions.id;

CREATE TABLE public.datasets (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    name character varying(62) NOT NULL,
    title character varying(200) NOT NULL,
    card text NOT NULL,
    licence character varying(100) NOT NULL,
    source character varying(500) NOT NULL,
    languages jsonb NOT NULL,
    kind character varying(10) NOT NULL,
    visibility character varying(10) NOT NULL,
    round_id bigint,
    weight integer NOT NULL,
    version_id bigint,
    created_by bigint,
    created_at timestamp with time zone NOT NULL,
    retired_at timestamp with time zone
);

CREATE SEQUENCE public.datasets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.datasets_id_seq OWNED BY public.datasets.id;

CREATE TABLE public.dismissals (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    dismissed boolean NOT NULL,
    reason character varying(500) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.dismissals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.dismissals_id_seq OWNED BY public.dismissals.id;

CREATE TABLE public.evaluations (
    id bigint NOT NULL,
    submission_id bigint NOT NULL,
    version_id bigint NOT NULL,
    state character varying(10) NOT NULL,
    attempt integer NOT NULL,
    rows integer NOT NULL,
    rows_done integer NOT NULL,
    code character varying(30) NOT NULL,
    reason text NOT NULL,
    log text NOT NULL,
    job_id character varying(36),
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);

CREATE SEQUENCE public.evaluations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.evaluations_id_seq OWNED BY public.evaluations.id;

CREATE TABLE public.examples (
    id bigint NOT NULL,
    round_id bigint NOT NULL,
    context_id bigint NOT NULL,
    handout_id bigint NOT NULL,
    author_id bigint NOT NULL,
    made_from bigint,
    version_id bigint NOT NULL,
    input jsonb NOT NULL,
    answer jsonb NOT NULL,
    fooled boolean,
    source character varying(10) NOT NULL,
    start character varying(10) NOT NULL,
    attempt integer NOT NULL,
    seconds double precision NOT NULL,
    latency_ms double precision NOT NULL,
    key character varying(100) NOT NULL,
    request character varying(64) NOT NULL,
    at timestamp with time zone NOT NULL,
    uid character varying(64) DEFAULT ''::character varying NOT NULL,
    arm character varying(40) DEFAULT ''::character varying NOT NULL,
    edit_distance integer
);

CREATE SEQUENCE public.examples_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.examples_id_seq OWNED BY public.examples.id;

CREATE TABLE public.explanations (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    "values" jsonb NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.explanations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.explanations_id_seq OWNED BY public.explanations.id;

CREATE TABLE public.forks (
    slug character varying(40) NOT NULL,
    task_id character varying(60) NOT NULL,
    title character varying(200) NOT NULL,
    note character varying(1000) NOT NULL,
    weights jsonb NOT NULL,
    person_id bigint,
    made_at timestamp with time zone NOT NULL
);

CREATE TABLE public.handouts (
    id bigint NOT NULL,
    round_id bigint NOT NULL,
    context_id bigint NOT NULL,
    person_id bigint NOT NULL,
    goal jsonb,
    start character varying(10) NOT NULL,
    initial jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    arm character varying(40) DEFAULT ''::character varying NOT NULL,
    seed_id bigint,
    made_from bigint,
    link jsonb
);

CREATE SEQUENCE public.handouts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.handouts_id_seq OWNED BY public.handouts.id;

CREATE TABLE public.hidings (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    hidden boolean NOT NULL,
    reason character varying(500) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.hidings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.hidings_id_seq OWNED BY public.hidings.id;

CREATE TABLE public.invitations (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    role character varying(20) NOT NULL,
    note character varying(100) NOT NULL,
    digest character varying(64) NOT NULL,
    uses integer NOT NULL,
    most_uses integer NOT NULL,
    created_by bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    round_id bigint
);

CREATE SEQUENCE public.invitations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.invitations_id_seq OWNED BY public.invitations.id;

CREATE TABLE public.jobs (
    id character varying(36) NOT NULL,
    kind character varying(40) NOT NULL,
    payload jsonb NOT NULL,
    person_id bigint,
    created_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    done jsonb,
    due_at timestamp with time zone
);

CREATE TABLE public.judgements (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    prediction_id bigint,
    by character varying(10) NOT NULL,
    person_id bigint,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    fooled boolean,
    said jsonb,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.judgements_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.judgements_id_seq OWNED BY public.judgements.id;

CREATE TABLE public.labels (
    example_id bigint NOT NULL,
    name character varying(40) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.mailings (
    id bigint NOT NULL,
    person_id bigint NOT NULL,
    kind character varying(10) NOT NULL,
    state character varying(10) NOT NULL,
    tries integer NOT NULL,
    reason character varying(300) NOT NULL,
    job_id character varying(36),
    created_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.mailings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.mailings_id_seq OWNED BY public.mailings.id;

CREATE TABLE public.measured (
    round_id bigint NOT NULL,
    state character varying(64) NOT NULL,
    examples integer NOT NULL,
    total integer NOT NULL,
    found jsonb NOT NULL,
    at timestamp with time zone,
    job_id character varying(36)
);

CREATE TABLE public.media (
    digest character varying(64) NOT NULL,
    kind character varying(10) NOT NULL,
    type character varying(40) NOT NULL,
    size bigint NOT NULL,
    width integer,
    height integer,
    seconds double precision,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.media_uploads (
    id bigint NOT NULL,
    digest character varying(64) NOT NULL,
    task_id character varying(60) NOT NULL,
    person_id bigint,
    name character varying(200) NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.media_uploads_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.media_uploads_id_seq OWNED BY public.media_uploads.id;

CREATE TABLE public.media_uses (
    id bigint NOT NULL,
    digest character varying(64) NOT NULL,
    task_id character varying(60) NOT NULL,
    context_id bigint,
    example_id bigint,
    CONSTRAINT ck_media_uses_one CHECK (((context_id IS NULL) <> (example_id IS NULL)))
);

CREATE SEQUENCE public.media_uses_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.media_uses_id_seq OWNED BY public.media_uses.id;

CREATE TABLE public.model_listings (
    name character varying(100) NOT NULL,
    visibility character varying(10) NOT NULL,
    keeper_id bigint,
    note character varying(500) NOT NULL,
    changed_at timestamp with time zone NOT NULL
);

CREATE TABLE public.near_bands (
    task_id character varying(60) NOT NULL,
    band bigint NOT NULL,
    example_id bigint NOT NULL
);

CREATE TABLE public.notes (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    text character varying(1000) NOT NULL,
    by bigint,
    at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone
);

CREATE SEQUENCE public.notes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.notes_id_seq OWNED BY public.notes.id;

CREATE TABLE public.notice_wishes (
    person_id bigint NOT NULL,
    address character varying(254) NOT NULL,
    verified_at timestamp with time zone,
    channels jsonb NOT NULL,
    problem character varying(300) NOT NULL
);

CREATE TABLE public.notices (
    id bigint NOT NULL,
    person_id bigint NOT NULL,
    kind character varying(20) NOT NULL,
    text text NOT NULL,
    at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone,
    link character varying(200) DEFAULT ''::character varying NOT NULL,
    outside text DEFAULT ''::text NOT NULL,
    mailing_id bigint,
    phrases jsonb
);

CREATE SEQUENCE public.notices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.notices_id_seq OWNED BY public.notices.id;

CREATE TABLE public.people (
    id bigint NOT NULL,
    username character varying(40) NOT NULL,
    email character varying(254) NOT NULL,
    password_hash character varying(200) NOT NULL,
    pseudonym character varying(40) NOT NULL,
    admin boolean NOT NULL,
    terms character varying(20) NOT NULL,
    agreed_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    imported_as character varying(64),
    language character varying(12) DEFAULT ''::character varying NOT NULL
);

CREATE SEQUENCE public.people_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.people_id_seq OWNED BY public.people.id;

CREATE TABLE public.predictions (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    "position" integer NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    answer jsonb NOT NULL,
    probabilities jsonb,
    fooled boolean,
    latency_ms double precision NOT NULL
);

CREATE SEQUENCE public.predictions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.predictions_id_seq OWNED BY public.predictions.id;

CREATE TABLE public.proposals (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    source text NOT NULL,
    note character varying(1000) NOT NULL,
    state character varying(10) NOT NULL,
    reason character varying(500) NOT NULL,
    person_id bigint NOT NULL,
    decided_by bigint,
    created_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone
);

CREATE SEQUENCE public.proposals_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.proposals_id_seq OWNED BY public.proposals.id;

CREATE TABLE public.proposed (
    example_id bigint NOT NULL,
    round_id bigint NOT NULL,
    name character varying(60) NOT NULL,
    version character varying(60) NOT NULL,
    queries bigint NOT NULL,
    cost double precision NOT NULL,
    facts jsonb NOT NULL
);

CREATE TABLE public.records (
    evaluation_id bigint NOT NULL,
    document jsonb NOT NULL,
    signature character varying(128) NOT NULL,
    made_at timestamp with time zone NOT NULL
);

CREATE TABLE public.refused_rows (
    job_id character varying(36) NOT NULL,
    "row" bigint NOT NULL,
    message text NOT NULL,
    "values" jsonb
);

CREATE TABLE public.released_examples (
    example_id bigint NOT NULL,
    round_id bigint NOT NULL,
    part character varying(10) NOT NULL
);

CREATE TABLE public.releases (
    id bigint NOT NULL,
    round_id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    state character varying(10) NOT NULL,
    rules jsonb NOT NULL,
    anyway boolean NOT NULL,
    report jsonb NOT NULL,
    manifest jsonb NOT NULL,
    digest character varying(64) NOT NULL,
    reason text NOT NULL,
    test_id bigint,
    hidden_id bigint,
    job_id character varying(36),
    created_by bigint,
    created_at timestamp with time zone NOT NULL,
    released_at timestamp with time zone
);

CREATE SEQUENCE public.releases_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.releases_id_seq OWNED BY public.releases.id;

CREATE TABLE public.reports (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    form character varying(20) NOT NULL,
    source character varying(520) NOT NULL,
    document jsonb NOT NULL,
    left_out integer NOT NULL,
    digest character varying(64) NOT NULL,
    person_id bigint,
    made_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone
);

CREATE SEQUENCE public.reports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.reports_id_seq OWNED BY public.reports.id;

CREATE TABLE public.reservations (
    example_id bigint NOT NULL,
    person_id bigint NOT NULL,
    mode character varying(10) NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.retractions (
    example_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.roles (
    task_id character varying(60) NOT NULL,
    person_id bigint NOT NULL,
    role character varying(20) NOT NULL
);

CREATE TABLE public.round_contexts (
    round_id bigint NOT NULL,
    context_id bigint NOT NULL
);

CREATE TABLE public.round_parents (
    round_id bigint NOT NULL,
    parent_id bigint NOT NULL
);

CREATE TABLE public.round_people (
    round_id bigint NOT NULL,
    person_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.rounds (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    number integer NOT NULL,
    version_id bigint NOT NULL,
    state character varying(10) NOT NULL,
    fooled_when character varying(10) NOT NULL,
    opened_at timestamp with time zone,
    closed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    arms jsonb DEFAULT '[]'::jsonb NOT NULL,
    assign character varying(10) DEFAULT 'item'::character varying NOT NULL,
    seed integer DEFAULT 0 NOT NULL,
    judge jsonb,
    plan jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE SEQUENCE public.rounds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.rounds_id_seq OWNED BY public.rounds.id;

CREATE TABLE public.scores (
    id bigint NOT NULL,
    evaluation_id bigint NOT NULL,
    metric character varying(60) NOT NULL,
    version integer NOT NULL,
    slice character varying(200) NOT NULL,
    value double precision NOT NULL,
    low double precision,
    high double precision,
    n integer NOT NULL,
    replicates bytea,
    made_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.scores_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.scores_id_seq OWNED BY public.scores.id;

CREATE TABLE public.search_news (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    terms text NOT NULL
);

CREATE SEQUENCE public.search_news_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.search_news_id_seq OWNED BY public.search_news.id;

CREATE TABLE public.search_postings (
    term character varying(80) NOT NULL,
    block integer NOT NULL,
    members bytea NOT NULL
);

CREATE TABLE public.secret_fingerprints (
    id bigint NOT NULL,
    fingerprint character varying(64) NOT NULL,
    noted_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.secret_fingerprints_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.secret_fingerprints_id_seq OWNED BY public.secret_fingerprints.id;

CREATE TABLE public.seed_predictions (
    seed_id bigint NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    answer jsonb NOT NULL,
    probabilities jsonb,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.seeds (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    context_id bigint NOT NULL,
    input jsonb NOT NULL,
    answer jsonb,
    made_from bigint,
    tag character varying(100) NOT NULL,
    digest character varying(64) NOT NULL,
    draw integer NOT NULL,
    used integer NOT NULL,
    created_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.seeds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.seeds_id_seq OWNED BY public.seeds.id;

CREATE TABLE public.sessions (
    digest character varying(64) NOT NULL,
    person_id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);

CREATE TABLE public.shards (
    evaluation_id bigint NOT NULL,
    part character varying(10) NOT NULL,
    number integer NOT NULL,
    first integer NOT NULL,
    rows integer NOT NULL,
    digest character varying(64) NOT NULL,
    seconds double precision NOT NULL,
    done_at timestamp with time zone NOT NULL
);

CREATE TABLE public.sheets (
    id bigint NOT NULL,
    handout_id bigint NOT NULL,
    person_id bigint NOT NULL,
    words jsonb NOT NULL,
    sides jsonb NOT NULL,
    key character varying(100) NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.sheets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.sheets_id_seq OWNED BY public.sheets.id;

CREATE TABLE public.skips (
    example_id bigint NOT NULL,
    person_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.snapshots (
    slug character varying(40) NOT NULL,
    task_id character varying(60) NOT NULL,
    title character varying(200) NOT NULL,
    document jsonb NOT NULL,
    digest character varying(64) NOT NULL,
    person_id bigint,
    made_at timestamp with time zone NOT NULL
);

CREATE TABLE public.standings (
    example_id bigint NOT NULL,
    round_id bigint NOT NULL,
    author_id bigint NOT NULL,
    fooled boolean,
    verdict character varying(10) NOT NULL,
    votes integer NOT NULL,
    retracted boolean NOT NULL,
    open boolean NOT NULL,
    draw integer NOT NULL,
    blind integer NOT NULL,
    blind_right integer NOT NULL,
    targets integer NOT NULL,
    targets_right integer NOT NULL,
    hidden boolean DEFAULT false NOT NULL,
    withheld boolean DEFAULT false NOT NULL
);

CREATE TABLE public.submissions (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    kind character varying(12) NOT NULL,
    name character varying(100) NOT NULL,
    reference character varying(500) NOT NULL,
    source jsonb NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    inside boolean NOT NULL,
    card jsonb NOT NULL,
    readme text NOT NULL,
    visibility character varying(10) NOT NULL,
    state character varying(10) NOT NULL,
    code character varying(30) NOT NULL,
    reason text NOT NULL,
    report jsonb NOT NULL,
    log text NOT NULL,
    attempt integer NOT NULL,
    job_id character varying(36),
    person_id bigint,
    created_at timestamp with time zone NOT NULL,
    ready_at timestamp with time zone,
    withdrawn_at timestamp with time zone
);

CREATE SEQUENCE public.submissions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.submissions_id_seq OWNED BY public.submissions.id;

CREATE TABLE public.suggestions (
    id bigint NOT NULL,
    handout_id bigint NOT NULL,
    person_id bigint NOT NULL,
    asking integer NOT NULL,
    provider character varying(40) NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL,
    field character varying(40) NOT NULL,
    text character varying NOT NULL,
    about jsonb NOT NULL,
    latency_ms double precision NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.suggestions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.suggestions_id_seq OWNED BY public.suggestions.id;

CREATE TABLE public.tallies (
    round_id bigint CONSTRAINT tallies_round_id_not_null1 NOT NULL,
    person_id bigint CONSTRAINT tallies_person_id_not_null1 NOT NULL,
    day character varying(10) CONSTRAINT tallies_day_not_null1 NOT NULL,
    start character varying(10) CONSTRAINT tallies_start_not_null1 NOT NULL,
    arm character varying(40) NOT NULL,
    source character varying(10) CONSTRAINT tallies_source_not_null1 NOT NULL,
    examples integer CONSTRAINT tallies_examples_not_null1 NOT NULL,
    fooled integer CONSTRAINT tallies_fooled_not_null1 NOT NULL,
    validated integer CONSTRAINT tallies_validated_not_null1 NOT NULL,
    resolved integer CONSTRAINT tallies_resolved_not_null1 NOT NULL,
    retracted integer CONSTRAINT tallies_retracted_not_null1 NOT NULL,
    hidden integer NOT NULL,
    unknown integer DEFAULT 0 NOT NULL
);

CREATE TABLE public.tally_news (
    id bigint NOT NULL,
    round_id bigint NOT NULL,
    told text NOT NULL
);

CREATE SEQUENCE public.tally_news_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.tally_news_id_seq OWNED BY public.tally_news.id;

CREATE TABLE public.targets (
    id bigint NOT NULL,
    round_id bigint NOT NULL,
    "position" integer NOT NULL,
    model character varying(100) NOT NULL,
    version character varying(64) NOT NULL
);

CREATE SEQUENCE public.targets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.targets_id_seq OWNED BY public.targets.id;

CREATE TABLE public.task_versions (
    id bigint NOT NULL,
    task_id character varying(60) NOT NULL,
    number integer NOT NULL,
    source text NOT NULL,
    created_by bigint,
    created_at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.task_versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.task_versions_id_seq OWNED BY public.task_versions.id;

CREATE TABLE public.tasks (
    id character varying(60) NOT NULL,
    version_id bigint,
    created_at timestamp with time zone NOT NULL
);

CREATE TABLE public.tokens (
    id bigint NOT NULL,
    person_id bigint NOT NULL,
    name character varying(60) NOT NULL,
    prefix character varying(12) NOT NULL,
    digest character varying(64) NOT NULL,
    created_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    scopes jsonb DEFAULT '["read", "annotate", "manage", "account"]'::jsonb NOT NULL
);

CREATE SEQUENCE public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.tokens_id_seq OWNED BY public.tokens.id;

CREATE TABLE public.twins (
    id bigint NOT NULL,
    version_id bigint NOT NULL,
    axis character varying(12) NOT NULL,
    origin character varying(10) NOT NULL,
    state character varying(10) NOT NULL,
    seed integer NOT NULL,
    digest character varying(64) NOT NULL,
    rows integer NOT NULL,
    transformations jsonb NOT NULL,
    reason text NOT NULL,
    job_id character varying(36),
    created_at timestamp with time zone NOT NULL,
    replaced_at timestamp with time zone
);

CREATE SEQUENCE public.twins_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.twins_id_seq OWNED BY public.twins.id;

CREATE TABLE public.undos (
    validation_id bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.uploaded_bytes (
    person_id bigint NOT NULL,
    size bigint NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE TABLE public.validations (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    person_id bigint NOT NULL,
    vote character varying(10) NOT NULL,
    blind_answer jsonb,
    by_owner boolean NOT NULL,
    "values" jsonb NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.validations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.validations_id_seq OWNED BY public.validations.id;

CREATE TABLE public.verdict_events (
    id bigint NOT NULL,
    example_id bigint NOT NULL,
    verdict character varying(10) NOT NULL,
    at timestamp with time zone NOT NULL
);

CREATE SEQUENCE public.verdict_events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.verdict_events_id_seq OWNED BY public.verdict_events.id;

CREATE TABLE public.webhook_deliveries (
    id bigint NOT NULL,
    hook_id bigint NOT NULL,
    event character varying(40) NOT NULL,
    message character varying(40) NOT NULL,
    body text NOT NULL,
    state character varying(10) NOT NULL,
    tries integer NOT NULL,
    job_id character varying(36),
    created_at timestamp with time zone NOT NULL,
    due_at timestamp with time zone
);

CREATE SEQUENCE public.webhook_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.webhook_deliveries_id_seq OWNED BY public.webhook_deliveries.id;

CREATE TABLE public.webhook_tries (
    id bigint NOT NULL,
    delivery_id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    status integer,
    ms integer NOT NULL,
    answer character varying(300) NOT NULL
);

CREATE SEQUENCE public.webhook_tries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.webhook_tries_id_seq OWNED BY public.webhook_tries.id;

CREATE TABLE public.webhooks (
    id bigint NOT NULL,
    person_id bigint,
    task_id character varying(60),
    url character varying(500) NOT NULL,
    events jsonb NOT NULL,
    salt character varying(64) NOT NULL,
    created_by bigint,
    created_at timestamp with time zone NOT NULL,
    failing_since timestamp with time zone,
    off_at timestamp with time zone,
    reason character varying(300) NOT NULL
);

CREATE SEQUENCE public.webhooks_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

ALTER SEQUENCE public.webhooks_id_seq OWNED BY public.webhooks.id;

ALTER TABLE ONLY public.acts ALTER COLUMN id SET DEFAULT nextval('public.acts_id_seq'::regclass);

ALTER TABLE ONLY public.announcements ALTER COLUMN id SET DEFAULT nextval('public.announcements_id_seq'::regclass);

ALTER TABLE ONLY public.attributions ALTER COLUMN id SET DEFAULT nextval('public.attributions_id_seq'::regclass);

ALTER TABLE ONLY public.bulk_acts ALTER COLUMN id SET DEFAULT nextval('public.bulk_acts_id_seq'::regclass);

ALTER TABLE ONLY public.contexts ALTER COLUMN id SET DEFAULT nextval('public.contexts_id_seq'::regclass);

ALTER TABLE ONLY public.conversation_turns ALTER COLUMN id SET DEFAULT nextval('public.conversation_turns_id_seq'::regclass);

ALTER TABLE ONLY public.conversations ALTER COLUMN id SET DEFAULT nextval('public.conversations_id_seq'::regclass);

ALTER TABLE ONLY public.cycle_turns ALTER COLUMN id SET DEFAULT nextval('public.cycle_turns_id_seq'::regclass);

ALTER TABLE ONLY public.dataset_versions ALTER COLUMN id SET DEFAULT nextval('public.dataset_versions_id_seq'::regclass);

ALTER TABLE ONLY public.datasets ALTER COLUMN id SET DEFAULT nextval('public.datasets_id_seq'::regclass);

ALTER TABLE ONLY public.dismissals ALTER COLUMN id SET DEFAULT nextval('public.dismissals_id_seq'::regclass);

ALTER TABLE ONLY public.evaluations ALTER COLUMN id SET DEFAULT nextval('public.evaluations_id_seq'::regclass);

ALTER TABLE ONLY public.examples ALTER COLUMN id SET DEFAULT nextval('public.examples_id_seq'::regclass);

ALTER TABLE ONLY public.explanations ALTER COLUMN id SET DEFAULT nextval('public.explanations_id_seq'::regclass);

ALTER TABLE ONLY public.handouts ALTER COLUMN id SET DEFAULT nextval('public.handouts_id_seq'::regclass);

ALTER TABLE ONLY public.hidings ALTER COLUMN id SET DEFAULT nextval('public.hidings_id_seq'::regclass);

ALTER TABLE ONLY public.invitations ALTER COLUMN id SET DEFAULT nextval('public.invitations_id_seq'::regclass);

ALTER TABLE ONLY public.judgements ALTER COLUMN id SET DEFAULT nextval('public.judgements_id_seq'::regclass);

ALTER TABLE ONLY public.mailings ALTER COLUMN id SET DEFAULT nextval('public.mailings_id_seq'::regclass);

ALTER TABLE ONLY public.media_uploads ALTER COLUMN id SET DEFAULT nextval('public.media_uploads_id_seq'::regclass);

ALTER TABLE ONLY public.media_uses ALTER COLUMN id SET DEFAULT nextval('public.media_uses_id_seq'::regclass);

ALTER TABLE ONLY public.notes ALTER COLUMN id SET DEFAULT nextval('public.notes_id_seq'::regclass);

ALTER TABLE ONLY public.notices ALTER COLUMN id SET DEFAULT nextval('public.notices_id_seq'::regclass);

ALTER TABLE ONLY public.people ALTER COLUMN id SET DEFAULT nextval('public.people_id_seq'::regclass);

ALTER TABLE ONLY public.predictions ALTER COLUMN id SET DEFAULT nextval('public.predictions_id_seq'::regclass);

ALTER TABLE ONLY public.proposals ALTER COLUMN id SET DEFAULT nextval('public.proposals_id_seq'::regclass);

ALTER TABLE ONLY public.releases ALTER COLUMN id SET DEFAULT nextval('public.releases_id_seq'::regclass);

ALTER TABLE ONLY public.reports ALTER COLUMN id SET DEFAULT nextval('public.reports_id_seq'::regclass);

ALTER TABLE ONLY public.rounds ALTER COLUMN id SET DEFAULT nextval('public.rounds_id_seq'::regclass);

ALTER TABLE ONLY public.scores ALTER COLUMN id SET DEFAULT nextval('public.scores_id_seq'::regclass);

ALTER TABLE ONLY public.search_news ALTER COLUMN id SET DEFAULT nextval('public.search_news_id_seq'::regclass);

ALTER TABLE ONLY public.secret_fingerprints ALTER COLUMN id SET DEFAULT nextval('public.secret_fingerprints_id_seq'::regclass);

ALTER TABLE ONLY public.seeds ALTER COLUMN id SET DEFAULT nextval('public.seeds_id_seq'::regclass);

ALTER TABLE ONLY public.sheets ALTER COLUMN id SET DEFAULT nextval('public.sheets_id_seq'::regclass);

ALTER TABLE ONLY public.submissions ALTER COLUMN id SET DEFAULT nextval('public.submissions_id_seq'::regclass);

ALTER TABLE ONLY public.suggestions ALTER COLUMN id SET DEFAULT nextval('public.suggestions_id_seq'::regclass);

ALTER TABLE ONLY public.tally_news ALTER COLUMN id SET DEFAULT nextval('public.tally_news_id_seq'::regclass);

ALTER TABLE ONLY public.targets ALTER COLUMN id SET DEFAULT nextval('public.targets_id_seq'::regclass);

ALTER TABLE ONLY public.task_versions ALTER COLUMN id SET DEFAULT nextval('public.task_versions_id_seq'::regclass);

ALTER TABLE ONLY public.tokens ALTER COLUMN id SET DEFAULT nextval('public.tokens_id_seq'::regclass);

ALTER TABLE ONLY public.twins ALTER COLUMN id SET DEFAULT nextval('public.twins_id_seq'::regclass);

ALTER TABLE ONLY public.validations ALTER COLUMN id SET DEFAULT nextval('public.validations_id_seq'::regclass);

ALTER TABLE ONLY public.verdict_events ALTER COLUMN id SET DEFAULT nextval('public.verdict_events_id_seq'::regclass);

ALTER TABLE ONLY public.webhook_deliveries ALTER COLUMN id SET DEFAULT nextval('public.webhook_deliveries_id_seq'::regclass);

ALTER TABLE ONLY public.webhook_tries ALTER COLUMN id SET DEFAULT nextval('public.webhook_tries_id_seq'::regclass);

ALTER TABLE ONLY public.webhooks ALTER COLUMN id SET DEFAULT nextval('public.webhooks_id_seq'::regclass);

INSERT INTO public.acts VALUES (1, '2026-11-25 16:45:36.737707+00', NULL, 'task.saved', '{"task": "sentiment", "version": 1}', 'sentiment');
INSERT INTO public.acts VALUES (2, '2026-11-25 16:45:36.830654+00', NULL, 'task.saved', '{"task": "nli", "version": 1}', 'nli');

INSERT INTO public.alembic_version VALUES ('0033');

INSERT INTO public.announcements VALUES (1, 'nli', 'text of announcements', '2026-01-02 03:04:05+00', 0, 2, '2026-01-02 03:04:05+00');

INSERT INTO public.announcements_seen VALUES (1, 2);

INSERT INTO public.assignments VALUES (1, 2, 'arm of assignments', 1, '2026-01-02 03:04:05+00');

INSERT INTO public.assistances VALUES (1, 1, 'outcome of', NULL, '', '', '', '');

INSERT INTO public.attributions VALUES (1, 1, 'model of attributions', 'method of attributions', 'label of attributions', '{}', NULL, '2026-01-02 03:04:05+00');

INSERT INTO public.bans VALUES ('nli', 7, 'Spam.', NULL, '2026-11-25 16:45:37.428195+00');

INSERT INTO public.breakdowns VALUES (1, 'none', 'none', '\x00');

INSERT INTO public.bulk_acts VALUES (1, 'nli', 'kind of bu', '', 2, '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.bulk_members VALUES (1, 1);

INSERT INTO public.contexts VALUES (18, 'nli', '{"premise": "Leila drove the first half of the way and slept through most of the second."}', 'travel', 'd04de10570f5168a5ae5afd220ff1b62871925852b9b71165787e1a7ff955edb', 1747734543, 1, 1, '2026-11-25 16:45:36.851619+00', 1, 0, 450, 1, 1.0083850067913545, NULL);
INSERT INTO public.contexts VALUES (102, 'checks', '{"premise": "Scene 9: Copper river ribbon orbit mirror walnut basket magnet cactus."}', 'c9', '0000000000000000000000000000000000000000000000000000000000000013', 9, 0, 0, '2026-11-25 16:45:49.357326+00', 2, 1, 500, 1, 2.3727090430524678, NULL);

INSERT INTO public.conversation_replies VALUES (1, 1, '', 'writing', '', NULL, NULL, NULL);

INSERT INTO public.conversation_turns VALUES (1, 1, 1, 'Good morning.', 'key of conversation_turns', 'request of conversation_turns', 'done', 1, false, '', NULL, '2026-01-02 03:04:05+00', '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.conversations VALUES (1, 1, 1, 2, '{}', 1, '2026-01-02 03:04:05+00');

INSERT INTO public.cycle_candidates VALUES (1, 1, 'name of cycle_candidates', 'method of ', 1, 'waiting', '', '', 1, NULL, NULL);

INSERT INTO public.cycle_turns VALUES (1, 'done', 3, 'done', 'close', '{}', '[]', '[]', '{}', '', 1, NULL, NULL, NULL, NULL, '2026-11-25 16:45:44.002297+00', NULL);

INSERT INTO public.dataset_versions VALUES (1, 1, 1, 'ready', '0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075', 'b1a52e854bb2c87d3acebe4aa6c0f0a44a7e113a6ed366853259786b1a80417a', 40, '{}', '', NULL, NULL, '2026-11-25 16:45:37.484586+00');
INSERT INTO public.dataset_versions VALUES (2, 2, 1, 'ready', 'dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1', '8a03135bbf30d186f2f1036cd2e597a99ae421a96b34199bdd7b6d6f1190ed67', 40, '{}', '', NULL, NULL, '2026-11-25 16:45:37.49737+00');
INSERT INTO public.dataset_versions VALUES (3, 3, 1, 'ready', 'ca7fbd0dcb2d7bebb7b57b4459ad38c074ed68067738aa0ed4692c0191aba398', '8958eac94aabc2aa95f41f919214b539be646c645821a12ab4967afecdad77e0', 1, '{}', '', NULL, NULL, '2026-11-25 16:45:43.617758+00');
INSERT INTO public.dataset_versions VALUES (7, 7, 1, 'ready', '2b254fde95dc974dfeba492b5863227f170ae6725e93930e929e865e8060ab63', 'c7dc791a32ddeadfdb91e25ea51d59ddd192109b23117119ba1f6a6b9aa137a9', 2, '{"c3": 2, "fooled": 2, "start=blank": 2}', '', NULL, NULL, '2026-11-25 16:45:50.310854+00');
INSERT INTO public.dataset_versions VALUES (6, 6, 1, 'ready', '992111e78dd87db64024f02a7bb81b2c2067b97448e36056f35a3bdebba1c922', 'da60c37775ae844624f9a069c019e6a84a188ab7c68b16c196b0629f72a3f278', 2, '{"c7": 2, "fooled": 2, "start=blank": 2}', '', NULL, NULL, '2026-11-25 16:45:50.293299+00');

INSERT INTO public.datasets VALUES (1, 'nli', 'first', 'First', '', 'CC-BY-4.0', '', '[]', 'rows', 'public', NULL, 5, 1, NULL, '2026-11-25 16:45:37.483165+00', NULL);
INSERT INTO public.datasets VALUES (2, 'nli', 'second', 'Second', '', 'CC-BY-4.0', '', '[]', 'rows', 'public', NULL, 5, 2, NULL, '2026-11-25 16:45:37.497057+00', NULL);
INSERT INTO public.datasets VALUES (3, 'nli', 'small', '', '', '', '', '[]', 'rows', 'public', NULL, 5, 3, NULL, '2026-11-25 16:45:43.61738+00', NULL);
INSERT INTO public.datasets VALUES (7, 'checks', 'round-1-hidden', 'Round 1, hidden part', 'The part hidden of the release of round 1.', 'CC-BY-4.0', '', '[]', 'secret', 'hidden', NULL, 5, 7, NULL, '2026-11-25 16:45:50.31014+00', NULL);
INSERT INTO public.datasets VALUES (6, 'checks', 'round-1', 'Round 1, test part', 'The part test of the release of round 1.', 'CC-BY-4.0', '', '[]', 'round', 'public', 4, 5, 6, NULL, '2026-11-25 16:45:50.278227+00', NULL);

INSERT INTO public.dismissals VALUES (1, 1, false, 'reason of dismissals', 2, '2026-01-02 03:04:05+00');

INSERT INTO public.evaluations VALUES (1, 1, 1, 'done', 1, 40, 40, '', '', '', NULL, '2026-11-25 16:45:37.524518+00', '2026-11-25 16:45:37.523212+00', '2026-11-25 16:45:37.523216+00');
INSERT INTO public.evaluations VALUES (2, 1, 2, 'done', 1, 40, 40, '', '', '', NULL, '2026-11-25 16:45:37.526675+00', '2026-11-25 16:45:37.526489+00', '2026-11-25 16:45:37.526491+00');

INSERT INTO public.examples VALUES (1, 1, 18, 1, 2, NULL, 2, '{"hypothesis": "This is so."}', '{"label": "contradiction"}', true, 'person', 'blank', 1, 0.021706, 4.21940700016421, '919e3b2be373418eb3769c6e575a918e', '8b8ace99d4e993bfe2cd150e9b5b0bf7e17fdec9a5cbe563ad20d7cfe1187069', '2026-11-25 16:45:43.540934+00', '7356a5328c86485fb5c8c78e3189982f', '', NULL);
INSERT INTO public.examples VALUES (40, 4, 102, 40, 20, NULL, 14, '{"hypothesis": "Violin velvet pillow pocket ribbon orbit saddle signal harbour."}', '{"label": "contradiction"}', false, 'person', 'blank', 1, 30, 1, '91', '1da51b8d8ff98f6a48f80ae79fe3ca6c26e1abb7b7d125259255d6d2b875ea08', '2026-03-01 09:41:07.75+00', '42862c4922314828baffd77990595b07', '', NULL);
INSERT INTO public.examples VALUES (41, 4, 102, 41, 20, NULL, 14, '{"hypothesis": "Candle harbour velvet orbit glacier anchor copper comet lantern."}', '{"label": "entailment"}', true, 'person', 'blank', 1, 30.666666666666668, 1, '93', '6e4001871c0cf27c7634ef1dc478408f642410fd3a444e2a88e301f5c4a35a4d', '2026-03-01 09:41:22.25+00', 'd591ba9423b348cc9b3b30cd23e89dc7', '', NULL);

INSERT INTO public.explanations VALUES (1, 1, '{}', '2026-01-02 03:04:05+00');

INSERT INTO public.forks VALUES ('slug of forks', 'nli', 'title of forks', '', '{}', 2, '2026-01-02 03:04:05+00');

INSERT INTO public.handouts VALUES (1, 1, 18, 2, '{"label": "contradiction"}', 'blank', '{}', '2026-11-25 16:45:43.519228+00', '', NULL, NULL, 'null');
INSERT INTO public.handouts VALUES (40, 4, 102, 20, 'null', 'blank', '{}', '2026-03-01 09:40:37.75+00', '', NULL, NULL, 'null');
INSERT INTO public.handouts VALUES (41, 4, 102, 20, 'null', 'blank', '{}', '2026-03-01 09:40:51.583333+00', '', NULL, NULL, 'null');

INSERT INTO public.hidings VALUES (1, 1, false, '', 2, '2026-01-02 03:04:05+00');

INSERT INTO public.invitations VALUES (1, 'nli', 'role of invitations', '', 'digest of invitations', 0, 1, 2, '2026-01-02 03:04:05+00', '2026-01-02 03:04:05+00', NULL, NULL);

INSERT INTO public.jobs VALUES ('eefe2078-5955-4ec2-920c-920a97818d85', 'import_contexts', '{"file": "/srv/dynabench/uploads/file.jsonl", "name": "c.jsonl", "task": "nli", "person": 5, "columns": null}', 5, '2026-11-25 16:45:43.598054+00', NULL, 'null', NULL);
INSERT INTO public.jobs VALUES ('b0e95ceb-0c5c-4ddf-8f96-b7b2e5e33099', 'import_data', '{"hub": {"split": "", "config": "", "dataset": "some/data", "revision": ""}, "into": "examples", "name": "some/data", "task": "nli", "format": "anli", "person": 5, "mapping": null}', 5, '2026-11-25 16:45:43.612945+00', NULL, 'null', NULL);

INSERT INTO public.judgements VALUES (1, 1, 1, 'by of judg', 2, '', '', NULL, 'null', '2026-01-02 03:04:05+00');

INSERT INTO public.labels VALUES (1, 'curious', 2, '2026-01-02 03:04:05+00');

INSERT INTO public.mailings VALUES (1, 2, 'notices', 'gathering', 0, '', NULL, '2026-01-02 03:04:05+00');

INSERT INTO public.measured VALUES (1, '', 0, 0, '{"writers": {"note": "", "people": 9, "tables": [], "figures": [{"n": null, "low": null, "high": null, "kind": "number", "name": "writers", "label": "Writers", "value": 9.0}], "finding": "Nine writers"}}', '2026-11-25 16:45:44.470854+00', NULL);

INSERT INTO public.media VALUES ('2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855', 'image', 'image/png', 78, 12, 8, NULL, '2026-11-25 16:45:44.204886+00');

INSERT INTO public.media_uploads VALUES (1, '2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855', 'nli', NULL, '', '2026-11-25 16:45:44.206609+00');

INSERT INTO public.media_uses VALUES (1, '2815119bd3c54f65f3856970510a6bbae27959bbad4a57387af1ca7429a72855', 'nli', 18, NULL);

INSERT INTO public.model_listings VALUES ('name of model_listings', 'public', 2, '', '2026-01-02 03:04:05+00');

INSERT INTO public.near_bands VALUES ('task_id of near_bands', 1, 1);

INSERT INTO public.notes VALUES (1, 1, 'A note of the owner.', 2, '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.notice_wishes VALUES (2, '', NULL, '{}', '');

INSERT INTO public.notices VALUES (1, 7, 'ban', 'You may no longer write or check examples for Natural language inference: Spam.', '2026-11-25 16:45:37.455674+00', NULL, '', '', NULL, '{"text": null, "outside": null}');

INSERT INTO public.people VALUES (2, 'ada', 'ada@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.157995+00', '2026-11-25 16:45:33.175451+00', NULL, NULL, '');
INSERT INTO public.people VALUES (20, 'person85', '85@example.org', '', '', false, '1', '2026-11-25 16:45:49.35624+00', '2026-11-25 16:45:49.356706+00', NULL, NULL, '');
INSERT INTO public.people VALUES (11, 'person4', '4@example.org', '', '', false, '1', '2026-11-25 16:45:46.15702+00', '2026-11-25 16:45:46.157183+00', NULL, NULL, '');
INSERT INTO public.people VALUES (1, 'mia', 'mia@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.123732+00', '2026-11-25 16:45:33.125444+00', NULL, NULL, '');
INSERT INTO public.people VALUES (3, 'eva', 'eva@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.199345+00', '2026-11-25 16:45:33.200112+00', NULL, NULL, '');
INSERT INTO public.people VALUES (7, 'bea', 'bea@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.264851+00', '2026-11-25 16:45:33.265172+00', NULL, NULL, '');
INSERT INTO public.people VALUES (5, 'olga', 'olga@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.236453+00', '2026-11-25 16:45:33.236937+00', NULL, NULL, '');
INSERT INTO public.people VALUES (4, 'moe', 'moe@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', false, '2026-11', '2026-11-25 16:45:33.208468+00', '2026-11-25 16:45:33.209044+00', NULL, NULL, '');
INSERT INTO public.people VALUES (6, 'root', 'root@example.org', '$argon2id$v=19$m=19456,t=1,p=1$JY5bs/Pu/D8I5GigOajwQA$UiilJzWAPXlMKl3dSLGRUBJk64lmAlysle94CFrLnus', '', true, '2026-11', '2026-11-25 16:45:33.238741+00', '2026-11-25 16:45:33.262584+00', NULL, NULL, '');
INSERT INTO public.people VALUES (8, 'person1', '1@example.org', '', '', false, '1', '2026-11-25 16:45:46.155341+00', '2026-11-25 16:45:46.155662+00', NULL, NULL, '');
INSERT INTO public.people VALUES (9, 'person2', '2@example.org', '', '', false, '1', '2026-11-25 16:45:46.1562+00', '2026-11-25 16:45:46.156385+00', NULL, NULL, '');
INSERT INTO public.people VALUES (10, 'person3', '3@example.org', '', '', false, '1', '2026-11-25 16:45:46.156624+00', '2026-11-25 16:45:46.156794+00', NULL, NULL, '');

INSERT INTO public.predictions VALUES (1, 1, 0, 'nli-a', '035b907a44a6c58f', '{"label": "entailment"}', '{"neutral": 0.1, "entailment": 0.8, "contradiction": 0.1}', true, 4.142);
INSERT INTO public.predictions VALUES (40, 40, 0, 'm', '1', '{"label": "contradiction"}', 'null', false, 1);
INSERT INTO public.predictions VALUES (41, 41, 0, 'm', '1', '{"label": "neutral"}', 'null', true, 1);

INSERT INTO public.proposals VALUES (1, 'task_id of proposals', 'source of proposals', '', 'waiting', '', 2, 2, '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.proposed VALUES (1, 1, 'name of proposed', 'version of proposed', 1, 1, '{}');

INSERT INTO public.records VALUES (1, '{"key": "fTGmIIvWfvhh0DiqLWIEj6PYbIJYQYQ1kgwERHPaygQ=", "code": "0.1.0", "rows": 40, "task": "nli", "asked": true, "model": {"kind": "installed", "name": "model-0", "version": "0000000000000000"}, "seeds": {"sample": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075", "replicates": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075"}, "format": "dynabench-record-1", "python": "3.11.7", "scores": [{"n": 40, "low": 0.75, "high": 0.975, "value": 0.875, "metric": "accuracy", "version": 1}, {"n": 40, "low": 0.8, "high": 0.975, "value": 0.9, "metric": "fairness", "version": 1}, {"n": 40, "low": 0.875, "high": 1.0, "value": 0.95, "metric": "robustness", "version": 1}, {"n": 3, "low": 100.0, "high": 100.0, "value": 100.0, "metric": "throughput", "version": 1}, {"n": 3, "low": 1.0, "high": 1.0, "value": 1.0, "metric": "memory", "version": 1}], "shards": [{"part": "rows", "rows": 20, "first": 0, "digest": "7834ec710038e8525cf7d24d6eacde7f2dd017664238de8a67128646918f40b7", "number": 0}, {"part": "rows", "rows": 20, "first": 20, "digest": "55dfd4a3ba653c4bf92c33c90d5094da7c321b6c5d0f8e46b51300dab4168e07", "number": 1}], "attempt": 1, "dataset": {"name": "first", "rows": 40, "digest": "0645bd8019a1390290c75042b76e8568ba49f8e76e477ddbea4bc9c32b78a075", "version": 1, "visibility": "public"}, "machine": {"cores": 2, "threads": null, "platform": "Linux-6.18.44-fc-v669-x86_64-with-glibc2.36", "processor": "AMD EPYC", "accelerator": null, "memory_in_bytes": 25276502016}, "made_at": "2026-11-25T16:45:45.900567+00:00", "repeats": 3, "libraries": {"peft": "0.21.2", "numpy": "2.4.6", "torch": "2.13.0+cpu", "tokenizers": "0.23.3", "onnxruntime": "1.31.1", "safetensors": "0.8.0", "transformers": "5.23.0"}, "batch_size": 32, "evaluation": 1, "answered_at": "2026-11-25T16:45:45.647631+00:00"}', 'vcrKMjQZOLDdWSbqEtd7yQdl+DZzaBWeVl/YqapLhMjdiVxX3b3TUodww5RTB2j3LP6ZZcadXNue+LUvkn4kAA==', '2026-11-25 16:45:45.92446+00');
INSERT INTO public.records VALUES (2, '{"key": "fTGmIIvWfvhh0DiqLWIEj6PYbIJYQYQ1kgwERHPaygQ=", "code": "0.1.0", "rows": 40, "task": "nli", "asked": true, "model": {"kind": "installed", "name": "model-0", "version": "0000000000000000"}, "seeds": {"sample": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1", "replicates": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1"}, "format": "dynabench-record-1", "python": "3.11.7", "scores": [{"n": 40, "low": 0.725, "high": 0.95, "value": 0.85, "metric": "accuracy", "version": 1}, {"n": 40, "low": 0.8, "high": 0.975, "value": 0.9, "metric": "fairness", "version": 1}, {"n": 40, "low": 0.825, "high": 1.0, "value": 0.925, "metric": "robustness", "version": 1}, {"n": 3, "low": 100.0, "high": 100.0, "value": 100.0, "metric": "throughput", "version": 1}, {"n": 3, "low": 1.0, "high": 1.0, "value": 1.0, "metric": "memory", "version": 1}], "shards": [{"part": "rows", "rows": 20, "first": 0, "digest": "9074616bd77d27f49dcb62b4a63b386f3eb198aa0dc08e5cacc12658be437a93", "number": 0}, {"part": "rows", "rows": 20, "first": 20, "digest": "a6f86500a5f25e77e92744747b2b2a03417d4fb936398467327a1b73c24bcc9d", "number": 1}], "attempt": 1, "dataset": {"name": "second", "rows": 40, "digest": "dc40f504fe9a201b7605ffcb0a03a3eccbeca46b978dfce696d4b7c369444fc1", "version": 1, "visibility": "public"}, "machine": {"cores": 2, "threads": null, "platform": "Linux-6.18.44-fc-v669-x86_64-with-glibc2.36", "processor": "AMD EPYC", "accelerator": null, "memory_in_bytes": 25276502016}, "made_at": "2026-11-25T16:45:45.951134+00:00", "repeats": 3, "libraries": {"peft": "0.21.2", "numpy": "2.4.6", "torch": "2.13.0+cpu", "tokenizers": "0.23.3", "onnxruntime": "1.31.1", "safetensors": "0.8.0", "transformers": "5.23.0"}, "batch_size": 32, "evaluation": 2, "answered_at": "2026-11-25T16:45:45.755872+00:00"}', '31VOa2o8SP656q13GR9OHkG/Q5oO1158Cczza6b+SYyAx8hPz6sWcWksIBSsZAUmCR8RaI75SoBOmQcPVrw+BQ==', '2026-11-25 16:45:45.957999+00');

INSERT INTO public.refused_rows VALUES ('eefe2078-5955-4ec2-920c-920a97818d85', 1, 'message of refused_rows', 'null');

INSERT INTO public.released_examples VALUES (40, 4, 'unverified');
INSERT INTO public.released_examples VALUES (41, 4, 'rejected');

INSERT INTO public.releases VALUES (1, 3, 'done', 'ready', '{}', false, '{}', '{"task": "done", "files": [{"path": "README.md", "rows": null, "bytes": 3, "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"}, {"path": "data/test.jsonl", "rows": null, "bytes": 3, "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"}], "round": 1, "rules": {}, "canary": "", "format": "dynabench-release", "version": 1, "examples": {}, "closed_at": "2026-01-01"}', '750e5112ed0c3d7713280e5726ff0c16042d0196458060d66761d81c6b180c01', '', NULL, NULL, NULL, NULL, '2026-11-25 16:45:44.000284+00', '2026-11-25 16:45:43.966859+00');
INSERT INTO public.releases VALUES (2, 4, 'checks', 'ready', '{"dev": 0.1, "seed": 0, "test": 0.1, "train": 0.7, "hidden": 0.1, "disjoint": ["writers", "contexts"], "unverified": "apart", "near_duplicate": 0.8}', true, '{"held": ["writers", "contexts"], "flags": 0, "leaks": [{"part": "dev", "writers": 0, "contexts": 0, "examples": 2, "near_duplicates": 0}, {"part": "test", "writers": 0, "contexts": 0, "examples": 4, "near_duplicates": 0}], "parts": {"dev": 2, "test": 2, "train": 14, "hidden": 2, "rejected": 10, "unverified": 10}, "labels": {"dev": {"entailment": 1, "contradiction": 1}, "test": {"neutral": 1, "contradiction": 1}, "train": {"neutral": 5, "entailment": 5, "contradiction": 4}, "hidden": {"neutral": 1, "entailment": 1}, "rejected": {"neutral": 3, "entailment": 4, "contradiction": 3}, "unverified": {"neutral": 3, "entailment": 3, "contradiction": 4}}, "waiting": 0, "writers": {"dev": 1, "test": 1, "train": 7, "hidden": 1, "rejected": 10, "unverified": 10}, "disjoint": ["writers", "contexts"], "findings": [], "duplicates": 0}', '{"task": "checks", "files": [{"path": "LICENSE.md", "rows": null, "bytes": 324, "sha256": "daac881f2d4b7172c0e615150aa864e8bb2961e69bd9d33276b533130048e564"}, {"path": "README.md", "rows": null, "bytes": 3275, "sha256": "56295c1390f207706300e1786b4854a9c4287b7bc5d92073d144edaf1c7dffcd"}, {"path": "croissant.json", "rows": null, "bytes": 46644, "sha256": "125923e16d82aad3a02e5843f6bc392be68ea1f03525f8c3c8a364952cc0eef6"}, {"path": "data/dev.jsonl", "rows": 2, "bytes": 2491, "sha256": "305272704e113b06b28bb696e89e7d0ed1e64ad2dd4b938d6d088c1d24d0b0fa"}, {"path": "data/dev.parquet", "rows": 2, "bytes": 17651, "sha256": "c7fd3ba174e914cebdea36b1181162dc9b3239ee3103d324ac9a3e5cbb0eb762"}, {"path": "data/rejected.jsonl", "rows": 10, "bytes": 12297, "sha256": "2aaa6f609a045fd1ef0ffebb383aee35651d8a232a9c744f19d49e34a5e1ed12"}, {"path": "data/rejected.parquet", "rows": 10, "bytes": 18711, "sha256": "b98d3a898f219d7ddb2da452808c6d34691afd012afc025331802d7c2fda85bd"}, {"path": "data/test.jsonl", "rows": 2, "bytes": 2493, "sha256": "692cd676f9563848293a752fcc44d7361085c334f4647112d972e0047e3c95f2"}, {"path": "data/test.parquet", "rows": 2, "bytes": 17653, "sha256": "747653fced67b1e8a3cb459e7bd94e3e14b6d68e9df9289c2f2f58d3caf9c5db"}, {"path": "data/train.jsonl", "rows": 14, "bytes": 17438, "sha256": "d4b8ea66e3dd4827a04856df8c5fda9eb736615c82059ae35f83e1a97b86366c"}, {"path": "data/train.parquet", "rows": 14, "bytes": 18890, "sha256": "5c320eda88dfa9ae5b63a8d333e5af8c87b92ec0d0d464887b811bbe899c4042"}, {"path": "data/unverified.jsonl", "rows": 10, "bytes": 9093, "sha256": "384a2b4ec2643f1a37fae05f7366c6c7803aaf616ac74f762272c82e3a03f7b8"}, {"path": "data/unverified.parquet", "rows": 10, "bytes": 18218, "sha256": "501b75388e8bbab70223e9d803563fcbb66ea7ffe68558c1b5a8def88bcb57aa"}, {"path": "datasheet.md", "rows": null, "bytes": 3176, "sha256": "c80ce68c7a64cdac64222c121708389d89e0b397873bfdbbc4cf271dae535e31"}, {"path": "eval.yaml", "rows": null, "bytes": 580, "sha256": "eb59fe6f39fe99f6ef26cb9394ff4eef31488742eede848307bab9cefab34ee7"}, {"path": "round.json", "rows": null, "bytes": 518, "sha256": "6483076ca59673179ae580061b8860342189e437c24a954fad794748befcfc7b"}, {"path": "task.yaml", "rows": null, "bytes": 473, "sha256": "5c31fc0db587352663d3f7a06653a280168be864af8b160999021299f987b903"}], "round": 1, "rules": {"dev": 0.1, "seed": 0, "test": 0.1, "train": 0.7, "hidden": 0.1, "disjoint": ["writers", "contexts"], "unverified": "apart", "near_duplicate": 0.8}, "canary": "948cdfd0-c5aa-4654-aad7-b2bd47588112", "format": "dynabench-release", "version": 1, "examples": {"dev": 2, "test": 2, "train": 14, "hidden": 2, "rejected": 10, "unverified": 10}, "closed_at": "2026-11-25T16:45:49.668406Z"}', '67e705818b9efbf6fc1b1f257ef75820d7db33b03ecb76ae980fc4802e7dc191', '', 6, 7, NULL, NULL, '2026-11-25 16:45:49.755887+00', '2026-11-25 16:45:50.359053+00');

INSERT INTO public.reports VALUES (1, 'nli', 'form of reports', 'source of reports', '{}', 0, 'digest of reports', 2, '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.reservations VALUES (1, 2, 'mode of re', '2026-01-02 03:04:05+00');

INSERT INTO public.retractions VALUES (1, '2026-01-02 03:04:05+00');

INSERT INTO public.roles VALUES ('nli', 2, 'annotator');
INSERT INTO public.roles VALUES ('nli', 3, 'expert');
INSERT INTO public.roles VALUES ('nli', 4, 'moderator');
INSERT INTO public.roles VALUES ('nli', 5, 'owner');
INSERT INTO public.roles VALUES ('nli', 7, 'annotator');
INSERT INTO public.roles VALUES ('done', 5, 'owner');
INSERT INTO public.roles VALUES ('checks', 8, 'owner');

INSERT INTO public.round_contexts VALUES (1, 18);

INSERT INTO public.round_parents VALUES (1, 1);

INSERT INTO public.round_people VALUES (1, 2, '2026-01-02 03:04:05+00');

INSERT INTO public.rounds VALUES (1, 'nli', 1, 2, 'open', 'any', '2026-11-25 16:45:38.040411+00', NULL, '2026-11-25 16:45:37.975014+00', '[]', 'item', 501651836, 'null', '{}');
INSERT INTO public.rounds VALUES (4, 'checks', 1, 14, 'released', 'any', NULL, '2026-11-25 16:45:49.668406+00', '2026-11-25 16:45:46.154396+00', '[]', 'item', 1399890737, 'null', '{}');
INSERT INTO public.rounds VALUES (3, 'done', 1, 13, 'released', 'any', NULL, '2026-11-25 16:45:43.964878+00', '2026-11-25 16:45:43.966253+00', '[]', 'item', 1690677779, 'null', '{}');
INSERT INTO public.rounds VALUES (2, 'sentiment', 1, 1, 'open', 'any', '2026-11-25 16:45:38.145906+00', NULL, '2026-11-25 16:45:38.142787+00', '[]', 'item', 1902098351, 'null', '{}');

INSERT INTO public.scores VALUES (1, 1, 'accuracy', 1, '', 0.875, 0.75, 0.975, 40, '\x0000603f3333733fcdcc4c3fcdcc4c3fcdcc4c3f0000603f6666663f6666663f3333533f9a99593f6666663f3333533fcdcc6c3f9a99793f6666663f3333533f3333733f0000603f6666663f0000603f6666663f9a99793f3333733f3333533f3333733f0000603f6666663f6666663f9a99393fcdcc4c3f9a99593f3333533f0000603fcdcc6c3f6666663fcdcc6c3f6666663f3333533f0000603f9a99593f6666663f0000603f0000603fcdcc6c3f0000603f3333533fcdcc4c3f6666663f9a99593fcdcc6c3f3333533f0000603f0000603f9a99593f3333533f9a99593fcdcc6c3f6666663f0000403f9a99793f9a99593f9a99593f9a99593f9a99593f6666463fcdcc4c3f3333533fcdcc4c3f9a99593f0000603f9a99593f0000603f3333533f3333533fcdcc4c3f9a99593f3333533f6666663f9a99793f0000403f0000603f6666663fcdcc6c3f6666663f9a99593f0000603f0000603f0000603f6666663f3333733f9a99593f0000603fcdcc6c3f3333733f9a99393f3333533f0000603f6666663f3333733f3333733f3333733f9a99793fcdcc4c3fcdcc6c3f3333733f0000603f6666463f0000603fcdcc6c3fcdcc6c3f0000603f9a99593f0000603f6666663fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3f6666663f9a99593f3333533f9a99593f3333533f9a99593f9a99593f0000603fcdcc4c3f6666663fcdcc6c3f6666663fcdcc6c3f6666663fcdcc4c3f9a99593f6666663f6666663fcdcc6c3f0000603f6666663fcdcc6c3f0000603f6666663f0000603f0000603fcdcc4c3f6666463f9a99593f9a99393f6666663fcdcc4c3f9a99593f0000603f6666663f3333733f0000603f9a99593fcdcc6c3f0000603f6666663f9a99593f9a99393f3333533fcdcc6c3f0000603fcdcc6c3f0000603f0000603f6666663f6666663f6666463f6666663f9a99593f0000603f3333533f9a99593f0000403f3333533f9a99393fcdcc4c3fcdcc6c3f0000603f3333533f0000603f0000603fcdcc6c3f9a99593f3333533f0000603f0000603f6666663f3333533f6666663f0000603f9a99593fcdcc6c3f6666463f0000603f9a99593f9a99793f3333533fcdcc6c3f0000603fcdcc6c3f6666663fcdcc6c3f6666663f6666663f9a99593f9a99793f3333733f0000403f9a99593fcdcc6c3f3333533f6666463f6666663fcdcc6c3f0000603f3333533f3333533fcdcc4c3f3333533f6666663f3333533f6666663f6666463f0000603f3333733fcdcc4c3f3333533f0000803f0000603f3333533fcdcc6c3f0000603fcdcc6c3f6666463f9a99593f0000603f3333533f9a99793f9a99593f0000603f6666663f3333533fcdcc6c3f3333533f9a99593fcdcc4c3f0000603f6666663f9a99593f3333533fcdcc6c3f9a99793fcdcc6c3f9a99593f3333533f3333733fcdcc6c3f6666663f3333733f9a99593fcdcc4c3fcdcc6c3fcdcc4c3fcdcc4c3f0000603f0000603f0000603f6666663f6666663f6666663f6666663f0000603f9a99593f6666463f3333533fcdcc4c3fcdcc4c3f0000603fcdcc6c3f0000603fcdcc6c3f9a99593f3333733f9a99593f6666663f0000603f6666663fcdcc6c3f3333533f9a99593fcdcc6c3f6666663fcdcc4c3f6666663fcdcc6c3fcdcc6c3f3333533f0000603f9a99593f9a99593f0000603fcdcc6c3f9a99593f0000603f9a99593fcdcc4c3f3333533f9a99593fcdcc6c3f3333733f3333733f0000603f6666663f6666463f3333533f3333533f0000603f0000603f9a99793f6666663f9a99593fcdcc6c3f0000403f0000603fcdcc6c3f3333533f3333733f6666463f9a99793f9a99593f0000603f9a99793f0000603f0000603f0000603fcdcc6c3f0000603fcdcc4c3f0000603f0000603f0000603f6666663f9a99593f3333533f9a99593f3333533f3333533f6666663f6666663f0000603f3333733f6666663f0000603f9a99593f6666463f6666463f6666663fcdcc6c3fcdcc6c3fcdcc6c3f6666663f0000603f9a99593f0000403f6666663f9a99593f9a99593fcdcc6c3f9a99593f0000603f9a99593f0000603f3333533f0000603f3333533f3333533f0000603f0000603fcdcc4c3f9a99593f6666463fcdcc4c3fcdcc6c3f9a99593f9a99593fcdcc4c3fcdcc4c3f6666663f6666663f0000603f3333533f6666663f6666663f3333533f0000603f3333533f6666663f0000603fcdcc4c3f0000603f3333533f9a99793f0000603fcdcc6c3f0000603f0000603f0000603f6666663f9a99593f6666663f3333533fcdcc6c3f0000603f9a99593f0000603fcdcc6c3f6666663fcdcc4c3fcdcc6c3fcdcc4c3f0000603f0000603f6666663f9a99593f3333733f9a99393f6666663f0000603fcdcc6c3f0000603f9a99593f6666663f9a99593f0000603f0000603f3333733fcdcc6c3f6666463f9a99593f0000603fcdcc6c3f0000603f6666463fcdcc4c3f6666463f3333533fcdcc6c3f3333533f3333733fcdcc6c3f3333533f9a99593f3333333f6666663f0000603f3333733f6666463f3333533f9a99593f6666663f6666663f9a99793f9a99593fcdcc6c3f3333733f9a99593fcdcc6c3f0000603f0000603f0000803f0000603f6666463f6666663f0000603f6666663f3333733f0000603f9a99793f6666663fcdcc6c3f3333733fcdcc4c3fcdcc6c3f9a99593f3333533f9a99393f6666663f3333533fcdcc6c3f0000603f3333533f3333533f6666663f0000603f9a99793f0000603f6666663f0000603f9a99593f6666463f3333733f6666663f0000603f3333733fcdcc6c3f6666663f0000603fcdcc6c3f0000603f9a99593f9a99593f6666663f0000403fcdcc6c3f9a99593fcdcc4c3f9a99793fcdcc6c3f6666663f3333533fcdcc6c3f3333533f3333533fcdcc6c3f0000603fcdcc6c3f6666663f3333533f6666663f9a99593f6666663fcdcc6c3f9a99593fcdcc6c3f0000603f6666663f6666663f3333533f0000603f0000603fcdcc4c3f9a99593fcdcc4c3fcdcc6c3f6666663f3333533f0000603fcdcc4c3f3333733f9a99593f0000603f9a99593fcdcc4c3f6666663f6666663f3333733f9a99593fcdcc6c3f9a99593f0000603f3333533f0000603fcdcc4c3f9a99793f3333533f0000603f0000603fcdcc6c3f6666463fcdcc6c3f3333533f0000603fcdcc6c3f6666663fcdcc6c3f9a99593f6666663f9a99593f3333533f0000603fcdcc4c3f3333733f3333533f0000603f9a99593f3333733fcdcc6c3fcdcc6c3f6666663f0000603f9a99593f3333533f3333533f3333533f3333733f6666663f9a99593f9a99593f9a99793f0000603f9a99593f6666663f3333533fcdcc4c3f3333533f6666463f0000803f6666663f6666663fcdcc6c3fcdcc6c3f6666663fcdcc4c3fcdcc4c3f6666663f3333533f6666663fcdcc4c3f9a99793fcdcc4c3f6666663f9a99593f6666663f6666663f0000403f6666663f6666663f6666663fcdcc4c3f9a99593fcdcc4c3f3333533f6666663fcdcc6c3f9a99593f6666663f6666663f0000603f3333533f6666663f9a99593f6666663fcdcc6c3fcdcc6c3f0000603f3333533f9a99593f9a99593f6666663f3333733f6666663fcdcc4c3f3333533fcdcc6c3f9a99593f3333533f3333533f0000603fcdcc6c3f6666663f0000603f6666663fcdcc6c3f9a99593fcdcc6c3f6666663f0000603f9a99593fcdcc6c3f9a99593f9a99593f0000603f3333533f6666463f0000603f6666463f0000603f0000603f3333533f6666663fcdcc4c3f3333733fcdcc6c3fcdcc4c3fcdcc4c3fcdcc6c3f3333533f0000603f6666663f9a99793f6666663f3333533f3333533f6666663f3333733f0000603f3333533f0000403fcdcc4c3fcdcc6c3f9a99793f0000603f0000603f0000603f6666663f3333533f9a99593f9a99593f0000603f0000603f6666663f3333533fcdcc6c3f9a99593f0000603fcdcc6c3f6666663f6666663f9a99593f3333733f9a99593f3333733f9a99593f0000603f6666663f3333533f6666663f3333533f3333733f3333733fcdcc6c3f6666663f3333533f3333733f9a99593fcdcc4c3f9a99793f6666663f6666663f9a99793f0000803f9a99593f0000603f6666663f3333533f9a99593f0000603f9a99593f6666463f6666663f0000603f3333733f3333733f0000603f0000603f3333533f9a99593f6666463f9a99793f9a99593f9a99593f3333733f3333733fcdcc4c3f0000603f0000603f0000603f9a99593f0000603fcdcc4c3f0000603f9a99593f6666663f6666663f6666663f6666663f9a99593f9a99593f6666663f9a99593f3333733f9a99593f6666663f3333733f3333533f6666663f6666463f9a99793fcdcc4c3f6666663fcdcc6c3f0000403f0000603fcdcc4c3fcdcc6c3f6666663f3333533f6666663f3333733fcdcc6c3f6666663f9a99593f9a99593f6666663f6666663f0000403f3333533f3333533f0000603f0000603f0000603f6666663f9a99593f6666663f9a99793f0000603f3333533f0000603f3333733f6666663f6666663f3333533f3333533f6666663f6666663f3333533fcdcc6c3fcdcc4c3f6666663f9a99793f3333733f0000603f9a99593f6666663f0000603f9a99593f3333533f9a99793f0000603f3333733fcdcc6c3f0000603f0000603f0000803fcdcc6c3f6666663f3333533f0000603f3333733f6666663f0000603f3333733f3333733fcdcc6c3fcdcc6c3f9a99793f6666663fcdcc6c3f6666463f0000603f6666663f3333533f6666663f0000603f0000603f9a99593f9a99593f3333533fcdcc4c3f0000603fcdcc6c3f3333533f0000603f9a99593f0000603f9a99593fcdcc4c3f9a99393f9a99593f0000603f6666663f9a99793f0000403f6666663f6666663f0000603f6666663f3333733f0000603fcdcc6c3f9a99593fcdcc4c3f9a99593f0000603f0000603f6666663f9a99593f9a99593fcdcc6c3fcdcc6c3f0000603f0000803f3333733f0000603f3333533f6666463f6666663fcdcc6c3fcdcc6c3f9a99593f0000603fcdcc6c3f6666663f3333533fcdcc6c3fcdcc6c3f9a99593fcdcc4c3f6666663fcdcc6c3f3333733f6666663fcdcc6c3f0000603f6666663f9a99793f6666663f6666663f9a99593fcdcc6c3f0000603f3333733f0000603f3333533f9a99593fcdcc6c3fcdcc6c3f3333533f9a99593f0000603f6666463f9a99593f0000603f6666663f0000403f9a99593f9a99793f6666663f9a99593f6666663f9a99593f0000403f0000603f3333533f6666663f9a99593fcdcc6c3f0000603f6666663f9a99593fcdcc4c3fcdcc6c3f3333533fcdcc4c3f6666663f3333533f9a99593fcdcc6c3f0000603f0000603f3333533f0000603f6666663f9a99393f6666663f0000603f0000603f6666663fcdcc6c3fcdcc6c3fcdcc6c3f0000403f3333533f6666663f0000603fcdcc4c3f3333533f0000403fcdcc4c3fcdcc6c3f0000603f9a99593f0000603fcdcc6c3f9a99793f9a99593f9a99593f', '2026-11-25 16:45:37.529784+00');
INSERT INTO public.scores VALUES (2, 1, 'fairness', 1, '', 0.9, 0.8, 0.975, 40, '\xcdcc6c3f9a99593f9a99793f9a99793f6666663f0000603fcdcc6c3f3333733f0000603f9a99593f0000603f3333533f0000603fcdcc4c3fcdcc4c3f3333733f6666663f0000603f6666663f0000603fcdcc6c3f6666463f6666663f0000403f6666663f0000603f0000603f9a99793f3333733fcdcc6c3f3333733f9a99793f3333533f3333733f9a99593f3333533f3333533f9a99793f9a99593f3333733f3333533f3333733f0000603fcdcc6c3f6666663f9a99593f9a99793f0000603fcdcc6c3f3333733f9a99793f6666663f0000603f9a99593f6666663f3333733fcdcc6c3f9a99593f0000603f6666663f6666663f3333733fcdcc6c3f0000803f3333733fcdcc6c3f9a99593f0000603f0000603fcdcc6c3fcdcc6c3f6666463f3333733f0000603f6666663f9a99593f3333733fcdcc4c3fcdcc6c3f0000803fcdcc6c3fcdcc6c3f9a99593f6666663f6666663f0000603f3333533fcdcc6c3f9a99593f6666663f0000603fcdcc6c3f3333733f6666463f0000603f3333733f6666663f9a99593f9a99793f0000603f6666663f9a99593f6666463f9a99593f6666663fcdcc6c3fcdcc6c3fcdcc4c3fcdcc6c3f6666663fcdcc6c3f0000603fcdcc6c3fcdcc6c3fcdcc6c3f6666663fcdcc6c3f6666663fcdcc6c3f3333733fcdcc6c3fcdcc6c3f0000603fcdcc6c3f0000603f3333733f9a99793f3333533f3333733f9a99793f0000603f6666663f6666663fcdcc6c3f0000603f3333533f6666663f9a99793f9a99593f0000603f0000603f0000603f6666663f6666663f3333733f3333733fcdcc6c3f6666663f0000603f0000603f9a99793f6666663f6666663f6666663fcdcc6c3f0000603f3333733f6666663fcdcc6c3f0000603f6666463f3333533f6666663f9a99793f9a99793f6666663f6666663f3333733f6666663f0000603f3333733fcdcc6c3f6666663fcdcc6c3f9a99793f9a99593f9a99793f6666663f9a99593f3333533f9a99593f6666663fcdcc6c3f0000603fcdcc4c3f3333733f6666663f3333533f6666663f0000603f6666663f9a99793fcdcc6c3fcdcc6c3f3333533f0000603f9a99593f9a99593f3333733f9a99593f9a99793f9a99593f9a99793f3333733f6666663f0000803fcdcc6c3fcdcc4c3fcdcc6c3f0000603f9a99593f3333533f0000603f0000603f9a99593fcdcc6c3f6666663f3333733f3333533f6666663f9a99593fcdcc6c3f3333533f9a99593f0000603f3333733f3333733f3333733fcdcc6c3f9a99793f3333733f6666663fcdcc6c3f6666663fcdcc6c3f3333733f6666663fcdcc6c3fcdcc6c3f6666663fcdcc6c3f6666663f0000603fcdcc6c3f0000603fcdcc6c3f3333733f6666663f3333733f3333733fcdcc4c3fcdcc4c3f9a99793fcdcc6c3f9a99593f6666663f9a99793f0000603f3333533fcdcc6c3fcdcc6c3f6666663f9a99593f3333733fcdcc6c3f0000603f9a99593fcdcc6c3f9a99593f0000603f0000603f0000403f6666663fcdcc4c3fcdcc6c3f3333733fcdcc6c3f0000603fcdcc6c3f9a99593f3333533f6666663f0000603f3333533fcdcc6c3f6666663fcdcc6c3f3333733f6666663f3333533f3333733f0000603f9a99593f9a99793f9a99593f9a99793f0000603fcdcc6c3f6666663f9a99793f0000603fcdcc6c3fcdcc6c3f9a99793f9a99793fcdcc6c3f3333733f9a99593f3333733f6666663f6666663fcdcc4c3f0000603f6666663f6666663f6666663f6666663f0000403f9a99593fcdcc6c3f9a99593f9a99593f9a99793fcdcc6c3f3333533fcdcc6c3f9a99593fcdcc6c3fcdcc6c3f3333733f3333533f9a99593f3333733f9a99593f0000603f9a99793f0000603f3333533f0000603fcdcc6c3f6666463f3333733f3333733fcdcc6c3f6666663f6666663f6666663f0000603fcdcc4c3f9a99793f9a99593f6666663fcdcc6c3f6666663f9a99593f3333733f6666663f3333733fcdcc6c3f6666663f9a99593f6666663f3333733fcdcc6c3f0000603fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3f6666663fcdcc6c3f6666663f9a99793f9a99593f0000603f9a99593f3333733fcdcc6c3f3333533f9a99593f6666663f6666663fcdcc6c3fcdcc6c3f6666663f3333733f9a99793f6666663f0000603f6666463fcdcc6c3f6666663f9a99593f6666663f3333733f6666663f0000603f9a99793fcdcc6c3fcdcc6c3f3333733f9a99593f9a99593f0000603fcdcc6c3fcdcc6c3fcdcc6c3f3333533f9a99793f3333533fcdcc6c3f0000603f0000603f6666663f6666463f3333533f6666663f6666463f0000603f6666663f6666663f0000603f3333733fcdcc6c3f3333533f0000803f9a99593f6666663f0000803fcdcc6c3f6666663f0000603f6666663fcdcc6c3f0000603fcdcc6c3f6666663f9a99793fcdcc6c3fcdcc6c3f9a99793f6666663fcdcc6c3f6666663f9a99793f6666663fcdcc6c3f6666663f3333733f6666663f9a99793fcdcc4c3f0000603f3333733fcdcc6c3fcdcc6c3f9a99593f3333533f3333533fcdcc4c3f6666463f0000803f6666663f6666663f0000603fcdcc6c3f3333533f6666663f0000603fcdcc6c3f9a99593f3333533f3333533fcdcc6c3fcdcc6c3f9a99593f6666663f9a99593f9a99593f3333733f3333533f3333733f9a99593f3333533f3333533f0000803f9a99593f3333533f0000603fcdcc6c3f3333733f0000603f9a99793f9a99793fcdcc6c3f9a99793fcdcc6c3f0000603fcdcc6c3fcdcc6c3f0000603fcdcc6c3f0000603f9a99593f6666663f6666663f0000603f9a99593f9a99793f6666663fcdcc4c3f0000603fcdcc6c3f9a99793f3333733f0000603f3333733f3333733f3333533f6666663fcdcc4c3f3333733fcdcc4c3f6666663f3333733f6666463f6666663f6666663f0000603fcdcc6c3f9a99793f0000603f0000603fcdcc6c3f3333733f3333533f6666663f3333733fcdcc6c3f6666663fcdcc6c3f9a99593fcdcc6c3f3333533f0000603f0000603fcdcc6c3f0000603f3333733fcdcc6c3f0000603f6666663f6666663fcdcc6c3f6666663f0000603f3333733f6666663fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3f3333733f6666663f6666663f3333733fcdcc6c3f3333733f6666663f9a99593f0000603fcdcc6c3fcdcc6c3f0000603f6666663f6666663f0000603f9a99593fcdcc6c3f3333533fcdcc4c3f9a99593f9a99593f3333733f0000603fcdcc4c3f0000603f6666463f9a99793f3333733f6666663f3333733f3333533f0000603f0000603f0000603fcdcc6c3f3333533f3333733f3333733f6666663f0000603f9a99793f3333733f6666663fcdcc6c3fcdcc6c3fcdcc6c3f9a99793f3333533fcdcc4c3f6666663f3333733f9a99593f0000603fcdcc6c3f9a99593f3333733f3333733f9a99593fcdcc6c3f3333533f6666663f3333733f9a99593fcdcc6c3f6666663f9a99593f0000603f3333733f0000603f9a99793f3333733f6666663f9a99593fcdcc6c3fcdcc6c3f9a99593f9a99593f3333733f6666663f6666663fcdcc6c3f6666663f3333733f6666663f3333733f3333733f3333733f0000603f6666663f3333733f6666663f0000603f9a99593fcdcc6c3fcdcc6c3f6666663fcdcc6c3f6666663f9a99793f3333733f3333533f6666663f3333733f9a99793f9a99593f0000803f9a99593fcdcc6c3f3333733fcdcc6c3f9a99793f0000603f9a99793f9a99593fcdcc6c3fcdcc6c3f6666663f3333733f3333733fcdcc6c3f3333533f9a99793f9a99593f6666663fcdcc6c3f9a99593f6666663f0000603f0000803f3333533f0000603f3333733fcdcc6c3f9a99793f6666663f6666663fcdcc6c3f6666663f0000803f9a99593f0000603f9a99793fcdcc6c3f3333533f3333733fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3fcdcc6c3f0000603f3333533f3333533fcdcc6c3f9a99593fcdcc6c3f9a99593f0000603f3333533f6666663fcdcc6c3fcdcc4c3f0000603f9a99593f0000603f9a99393f9a99593f3333733f3333733f0000603f3333733f3333733fcdcc6c3f9a99793f3333733f0000603fcdcc6c3f6666663f6666663f0000603fcdcc6c3f6666663f3333533fcdcc6c3fcdcc6c3f9a99793fcdcc6c3f9a99593f6666463f6666663f6666663f9a99593f9a99593f9a99793fcdcc6c3f6666663f3333533fcdcc6c3f0000603fcdcc6c3f3333733fcdcc6c3f9a99793f0000603f9a99593f0000603fcdcc6c3f9a99793f6666663f9a99793f0000603fcdcc6c3f3333733f0000603f3333733f6666663f9a99593fcdcc6c3fcdcc6c3f0000603fcdcc6c3f3333733f3333533f3333533f0000603f6666663f6666663f6666663f0000403fcdcc6c3fcdcc6c3f0000603f6666663f9a99593f3333733f0000603fcdcc6c3fcdcc6c3f6666663f3333733f3333533f0000603f3333733fcdcc6c3f3333733f9a99793f6666663f0000603f6666663fcdcc6c3f6666663f6666663f3333733f6666663fcdcc6c3f0000603f3333733f0000603f3333533fcdcc6c3f0000603fcdcc6c3fcdcc6c3f0000603f9a99593f6666663f6666663fcdcc6c3f9a99793f9a99593fcdcc6c3f0000603f6666663f0000603f0000803fcdcc6c3f0000603f6666663fcdcc6c3f0000603f3333533fcdcc6c3fcdcc6c3f6666663f3333733f6666663f9a99593f6666663fcdcc6c3f3333733f6666663f9a99593fcdcc6c3f0000603f9a99593f9a99593f6666663fcdcc6c3fcdcc4c3f6666663f6666463f0000603f6666663f9a99593f6666663f6666663f6666663f0000803f3333533f3333533f0000603f9a99593f0000603f6666663f9a99593fcdcc4c3f9a99593f0000603f6666663f9a99593f6666663f6666663f9a99793f3333733fcdcc6c3f0000603f0000603f9a99793f6666663f0000603fcdcc6c3f6666663f3333533f3333733f0000603f6666463fcdcc6c3f0000403f0000603f3333733fcdcc6c3fcdcc6c3f3333733fcdcc6c3f9a99593f0000603f6666663f9a99593f0000603fcdcc6c3f0000603f9a99593f0000603f9a99593f6666663f9a99593f0000603f3333733fcdcc6c3f3333533f3333533fcdcc6c3f6666663f6666663f9a99793f0000603f0000603f9a99593f3333733fcdcc6c3f6666663f6666663fcdcc6c3fcdcc6c3f6666663f3333733f9a99793f6666663f6666663f6666663f0000603f3333733f3333533f9a99793f9a99793f9a99593f6666663fcdcc6c3f3333733f6666663f0000603f0000603f6666663fcdcc4c3fcdcc6c3f3333733f0000603f3333733fcdcc6c3f0000603fcdcc6c3fcdcc4c3f0000603fcdcc6c3f3333733f3333733f9a99593fcdcc6c3f6666663f6666663f9a99593f6666663f3333733f9a99793f0000603fcdcc6c3f6666663f6666663f6666663f9a99593f6666663f0000603f9a99593f0000603f0000603f6666663fcdcc6c3f3333733f0000603f0000603f6666663f9a99593f9a99793f3333733f9a99593f3333733f0000603f', '2026-11-25 16:45:37.529787+00');

INSERT INTO public.search_news VALUES (1, 1, 'leila drove the first half of way and slept through most second this is so contradiction _task_nli _author_2 _round_1 _fooled_yes _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_travel _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_11_25 _month_2026_11 _year_2026');
INSERT INTO public.search_news VALUES (69, 40, 'scene 9 copper river ribbon orbit mirror walnut basket magnet cactus violin velvet pillow pocket saddle signal harbour contradiction _task_checks _author_20 _round_1 _fooled_no _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_c9 _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_03_01 _month_2026_03 _year_2026');
INSERT INTO public.search_news VALUES (70, 41, 'scene 9 copper river ribbon orbit mirror walnut basket magnet cactus candle harbour velvet glacier anchor comet lantern entailment _task_checks _author_20 _round_1 _fooled_yes _source_person _start_blank _arm_u_e4a6a0577479b2b4 _tag_c9 _made_no _verdict_pending _retracted_no _hidden_no _flagged_no _perturbed_no _review_none _noted_no _day_2026_03_01 _month_2026_03 _year_2026');
INSERT INTO public.search_news VALUES (71, 41, '_fooled_yes _verdict_incorrect _retracted_no _hidden_no');

INSERT INTO public.search_postings VALUES ('~none', 1, '\x00');

INSERT INTO public.secret_fingerprints VALUES (1, '9b039ca66115c54a2fd4b5ac6ae5519cc25455d394681187deff72c49902a105', '2026-01-02 03:04:05+00');

INSERT INTO public.seed_predictions VALUES (1, 'model of seed_predictions', 'version of seed_predictions', '{}', 'null', '2026-01-02 03:04:05+00');

INSERT INTO public.seeds VALUES (1, 'nli', 18, '{}', 'null', 1, '', 'digest of seeds', 1, 0, '2026-01-02 03:04:05+00');

INSERT INTO public.sessions VALUES ('47cdde9c412036e3165fe9ccdad19920755276d698390ec17bfc8fd3d3f20d0a', 1, '2026-11-25 16:45:43.237412+00', '2026-12-25 16:45:43.236711+00');
INSERT INTO public.sessions VALUES ('119adb4873b1afeafeaa73dcad126da00312f27aa391ef3d1e88516c65d64856', 2, '2026-11-25 16:45:43.279297+00', '2026-12-25 16:45:43.278993+00');

INSERT INTO public.shards VALUES (1, 'rows', 0, 0, 20, '7834ec710038e8525cf7d24d6eacde7f2dd017664238de8a67128646918f40b7', 1, '2026-11-25 16:45:45.647624+00');
INSERT INTO public.shards VALUES (1, 'rows', 1, 20, 20, '55dfd4a3ba653c4bf92c33c90d5094da7c321b6c5d0f8e46b51300dab4168e07', 1, '2026-11-25 16:45:45.647631+00');

INSERT INTO public.sheets VALUES (1, 1, 2, '{}', '{}', 'key of sheets', '2026-01-02 03:04:05+00');

INSERT INTO public.skips VALUES (1, 2, '2026-01-02 03:04:05+00');

INSERT INTO public.snapshots VALUES ('nli-20261125-459e4771', 'nli', '', '{"code": "0.1.0", "rows": [{"id": 1, "held": false, "kind": "installed", "name": "model-0", "rank": null, "model": "model-0", "score": {"low": null, "high": null, "value": null}, "licence": "MIT", "metrics": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 1.0, "high": 1.0, "value": 1.0}, "accuracy": {"low": 77.5, "high": 93.75, "value": 86.25}, "fairness": {"low": 83.71875, "high": 96.25, "value": 90.0}, "robustness": {"low": 88.75, "high": 98.75, "value": 93.75}, "throughput": {"low": 100.0, "high": 100.0, "value": 100.0}}, "version": "0000000000000000", "datasets": {"films": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "first": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 1.0, "high": 1.0, "value": 1.0}, "accuracy": {"low": 75.0, "high": 97.5, "value": 87.5}, "fairness": {"low": 80.0, "high": 97.5, "value": 90.0}, "robustness": {"low": 87.5, "high": 100.0, "value": 95.0}, "throughput": {"low": 100.0, "high": 100.0, "value": 100.0}}, "small": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "third": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "second": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 1.0, "high": 1.0, "value": 1.0}, "accuracy": {"low": 72.5, "high": 95.0, "value": 85.0}, "fairness": {"low": 80.0, "high": 97.5, "value": 90.0}, "robustness": {"low": 82.5, "high": 100.0, "value": 92.5}, "throughput": {"low": 100.0, "high": 100.0, "value": 100.0}}}, "unranked": "It has no f1; give this the weight 0 to rank it.", "verified": false, "anonymous": false, "languages": ["en"], "signatures": {}, "submitted_at": "2026-11-25"}, {"id": 4, "held": false, "kind": "installed", "name": "model-0", "rank": null, "model": "model-0", "score": {"low": null, "high": null, "value": null}, "licence": "MIT", "metrics": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "version": "0000000000000000", "datasets": {"films": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "first": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "small": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "third": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "second": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}}, "unranked": "Not yet scored on First, Second.", "verified": false, "anonymous": false, "languages": ["en"], "signatures": {}, "submitted_at": "2026-11-25"}, {"id": 2, "held": false, "kind": "installed", "name": "model-1", "rank": null, "model": "model-1", "score": {"low": null, "high": null, "value": null}, "licence": "MIT", "metrics": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 2.0, "high": 2.0, "value": 2.0}, "accuracy": {"low": 69.96875, "high": 87.5, "value": 78.75}, "fairness": {"low": 73.75, "high": 90.0, "value": 82.5}, "robustness": {"low": 72.46875, "high": 88.78125, "value": 81.25}, "throughput": {"low": 90.0, "high": 90.0, "value": 90.0}}, "version": "0000000000000001", "datasets": {"films": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "first": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 2.0, "high": 2.0, "value": 2.0}, "accuracy": {"low": 60.0, "high": 87.5, "value": 75.0}, "fairness": {"low": 70.0, "high": 92.5, "value": 82.5}, "robustness": {"low": 72.5, "high": 95.0, "value": 85.0}, "throughput": {"low": 90.0, "high": 90.0, "value": 90.0}}, "small": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "third": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "second": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 2.0, "high": 2.0, "value": 2.0}, "accuracy": {"low": 70.0, "high": 92.5, "value": 82.5}, "fairness": {"low": 70.0, "high": 92.5, "value": 82.5}, "robustness": {"low": 65.0, "high": 90.0, "value": 77.5}, "throughput": {"low": 90.0, "high": 90.0, "value": 90.0}}}, "unranked": "It has no f1; give this the weight 0 to rank it.", "verified": false, "anonymous": false, "languages": ["en"], "signatures": {}, "submitted_at": "2026-11-25"}, {"id": 3, "held": false, "kind": "installed", "name": "model-2", "rank": null, "model": "model-2", "score": {"low": null, "high": null, "value": null}, "licence": "MIT", "metrics": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 3.0, "high": 3.0, "value": 3.0}, "accuracy": {"low": 58.71875, "high": 78.75, "value": 68.75}, "fairness": {"low": 61.25, "high": 81.25, "value": 71.25}, "robustness": {"low": 67.5, "high": 86.25, "value": 77.5}, "throughput": {"low": 80.0, "high": 80.0, "value": 80.0}}, "version": "0000000000000002", "datasets": {"films": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "first": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 3.0, "high": 3.0, "value": 3.0}, "accuracy": {"low": 52.5, "high": 82.5, "value": 67.5}, "fairness": {"low": 57.5, "high": 85.0625, "value": 72.5}, "robustness": {"low": 70.0, "high": 92.5, "value": 82.5}, "throughput": {"low": 80.0, "high": 80.0, "value": 80.0}}, "small": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "third": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": null, "high": null, "value": null}, "accuracy": {"low": null, "high": null, "value": null}, "fairness": {"low": null, "high": null, "value": null}, "robustness": {"low": null, "high": null, "value": null}, "throughput": {"low": null, "high": null, "value": null}}, "second": {"f1": {"low": null, "high": null, "value": null}, "memory": {"low": 3.0, "high": 3.0, "value": 3.0}, "accuracy": {"low": 55.0, "high": 82.5, "value": 70.0}, "fairness": {"low": 55.0, "high": 85.0, "value": 70.0}, "robustness": {"low": 57.5, "high": 85.0, "value": 72.5}, "throughput": {"low": 80.0, "high": 80.0, "value": 80.0}}}, "unranked": "It has no f1; give this the weight 0 to rank it.", "verified": false, "anonymous": false, "languages": ["en"], "signatures": {}, "submitted_at": "2026-11-25"}], "task": "nli", "metrics": [{"name": "accuracy", "unit": "%", "title": "Accuracy", "better": "higher"}, {"name": "f1", "unit": "%", "title": "F1", "better": "higher"}, {"name": "fairness", "unit": "%", "title": "Fairness", "better": "higher"}, {"name": "robustness", "unit": "%", "title": "Robustness", "better": "higher"}, {"name": "throughput", "unit": "examples/s", "title": "Throughput", "better": "higher"}, {"name": "memory", "unit": "GiB", "title": "Memory", "better": "lower"}], "weights": {"form": "guarded", "metrics": {"f1": 1, "memory": 1, "accuracy": 4, "fairness": 1, "robustness": 1, "throughput": 1}, "datasets": {"films": 0, "first": 5, "small": 0, "third": 5, "second": 5}}, "datasets": [{"name": "films", "rows": 1, "title": "films", "digest": "953d6713480a8e47d5de9c509eac3c5283ad3e2f6a86fb3bd49c84c635eb46a9", "version": 1, "visibility": "public"}, {"name": "first", "rows": 40, "title": "First", "digest": "0000000000000000000000000000000000000000000000000000000000000001", "version": 1, "visibility": "public"}, {"name": "second", "rows": 40, "title": "Second", "digest": "0000000000000000000000000000000000000000000000000000000000000002", "version": 1, "visibility": "public"}, {"name": "small", "rows": 1, "title": "small", "digest": "ca7fbd0dcb2d7bebb7b57b4459ad38c074ed68067738aa0ed4692c0191aba398", "version": 1, "visibility": "public"}, {"name": "third", "rows": 40, "title": "Third", "digest": "0000000000000000000000000000000000000000000000000000000000000005", "version": 1, "visibility": "public"}], "taken_at": "2026-11-25T16:45:44+00:00"}', '6ce5ab8d7258218f2a1c8b2bcb478e0386f1e9035a730e4e05b2e4c18a9a3e8e', 2, '2026-11-25 16:45:44.440553+00');

INSERT INTO public.standings VALUES (1, 1, 2, true, 'pending', 0, false, true, 1731344066, 0, 0, 1, 0, false, false);
INSERT INTO public.standings VALUES (40, 4, 20, false, 'pending', 0, false, false, 2017460176, 0, 0, 1, 1, false, false);
INSERT INTO public.standings VALUES (41, 4, 20, true, 'incorrect', 2, false, false, 1660749101, 0, 0, 1, 0, false, false);

INSERT INTO public.submissions VALUES (1, 'nli', 'installed', 'model-0', '', '{}', 'model-0', '0000000000000000', true, '{"licence": "MIT", "languages": ["en"], "size_bytes": 1}', '', 'public', 'ready', '', '', '{}', '', 1, NULL, NULL, '2026-11-25 16:45:37.498576+00', NULL, NULL);
INSERT INTO public.submissions VALUES (2, 'nli', 'installed', 'model-1', '', '{}', 'model-1', '0000000000000001', true, '{"licence": "MIT", "languages": ["en"], "size_bytes": 1}', '', 'public', 'ready', '', '', '{}', '', 1, NULL, NULL, '2026-11-25 16:45:37.548736+00', NULL, NULL);

INSERT INTO public.suggestions VALUES (1, 1, 2, 1, 'provider of suggestions', '', '', 'field of suggestions', 'text of suggestions', '{}', 1, '2026-01-02 03:04:05+00');

INSERT INTO public.tallies VALUES (1, 2, '2026-11-25', 'blank', '', 'person', 1, 1, 0, 0, 0, 0, 0);
INSERT INTO public.tallies VALUES (4, 11, '2026-03-01', 'blank', '', 'person', 4, 3, 2, 3, 0, 0, 0);

INSERT INTO public.tally_news VALUES (1, 1, '[2,0,"2026-11-25","blank","","travel",1,1,0,0,0,0,0]');
INSERT INTO public.tally_news VALUES (2, 4, '[11,0,"2026-03-01","blank","","c0",1,1,0,0,0,0,0]');

INSERT INTO public.targets VALUES (1, 1, 0, 'nli-a', '035b907a44a6c58f');
INSERT INTO public.targets VALUES (2, 2, 0, 'sentiment-a', '3009375b857fddd6');
INSERT INTO public.targets VALUES (3, 4, 0, 'm', '1');

INSERT INTO public.task_versions VALUES (2, 'nli', 1, 'id: nli
name: Natural language inference
description: >-
  Given a premise, does a second sentence follow from it, contradict it, or neither? People settle this at a glance;
  models often lean on single words that happen to go with one answer.

instructions:
  create: |
    You see a **premise** and a **goal**. Write a **hypothesis** that stands in the goal''s relation to the premise,
    so that people agree with you and the model does not.

    - **Entailment**: whoever believes the premise must believe the hypothesis.
    - **Neutral**: it may be true or false; the premise leaves it open.
    - **Contradiction**: premise and hypothesis cannot both be true of the same situation.

    What tends to work: numbers and arithmetic, *before* and *after*, *only*, *almost*, *hardly* and *unless*, who did
    what to whom, a word in its second sense, what everybody knows about kitchens, calendars and gravity.

    Play fair. Assume that both sentences speak of the same people, place and time. No typing errors on purpose, no
    riddles, no knowledge that most adults lack, nothing about the sentence itself ("this sentence has five words").
    If a friend would have to guess the label, write another one.
  validate: |
    Read the premise as true, then ask what it says about the hypothesis.

    - **Correct**: the label that the author claims is the right one.
    - **Incorrect**: another label is right. Say which.
    - **Flag**: you cannot label it at all - it is no sentence, it is hateful, or it gives away a private person.

    Common sense counts: whoever sleeps is not running. Do not look for exotic ways in which a plain contradiction
    might still be true, and do not mind spelling.

context:
  - {name: premise, type: text, max_length: 1000, multiline: true, language: en}

input:
  - name: hypothesis
    type: text
    max_length: 500
    language: en
    placeholder: One sentence about the same situation

answer:
  name: label
  type: choice
  goal: assigned
  options:
    - {value: entailment, label: entailment, description: The premise makes it true.}
    - {value: neutral, label: neutral, description: The premise leaves it open.}
    - {value: contradiction, label: contradiction, description: The premise makes it false.}

start: {kinds: [blank], assign: random}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: hypothesis
    when: fooled

validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask:
    - {name: corrected_label, type: choice, label: "Which label is right?", when: incorrect}
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
', NULL, '2026-11-25 16:45:36.816171+00');
INSERT INTO public.task_versions VALUES (14, 'checks', 1, '
id: checks
name: Checks
context: [{name: premise, type: text}]
input: [{name: hypothesis, type: text}]
answer: {name: label, type: choice, options: [entailment, neutral, contradiction]}
validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask: [{name: corrected, type: choice, options: [entailment, neutral, contradiction], when: incorrect}]
', NULL, '2026-11-25 16:45:46.152025+00');
INSERT INTO public.task_versions VALUES (13, 'done', 1, 'id: done
name: Natural language inference
description: >-
  Given a premise, does a second sentence follow from it, contradict it, or neither? People settle this at a glance;
  models often lean on single words that happen to go with one answer.

instructions:
  create: |
    You see a **premise** and a **goal**. Write a **hypothesis** that stands in the goal''s relation to the premise,
    so that people agree with you and the model does not.

    - **Entailment**: whoever believes the premise must believe the hypothesis.
    - **Neutral**: it may be true or false; the premise leaves it open.
    - **Contradiction**: premise and hypothesis cannot both be true of the same situation.

    What tends to work: numbers and arithmetic, *before* and *after*, *only*, *almost*, *hardly* and *unless*, who did
    what to whom, a word in its second sense, what everybody knows about kitchens, calendars and gravity.

    Play fair. Assume that both sentences speak of the same people, place and time. No typing errors on purpose, no
    riddles, no knowledge that most adults lack, nothing about the sentence itself ("this sentence has five words").
    If a friend would have to guess the label, write another one.
  validate: |
    Read the premise as true, then ask what it says about the hypothesis.

    - **Correct**: the label that the author claims is the right one.
    - **Incorrect**: another label is right. Say which.
    - **Flag**: you cannot label it at all - it is no sentence, it is hateful, or it gives away a private person.

    Common sense counts: whoever sleeps is not running. Do not look for exotic ways in which a plain contradiction
    might still be true, and do not mind spelling.

context:
  - {name: premise, type: text, max_length: 1000, multiline: true, language: en}

input:
  - name: hypothesis
    type: text
    max_length: 500
    language: en
    placeholder: One sentence about the same situation

answer:
  name: label
  type: choice
  goal: assigned
  options:
    - {value: entailment, label: entailment, description: The premise makes it true.}
    - {value: neutral, label: neutral, description: The premise leaves it open.}
    - {value: contradiction, label: contradiction, description: The premise makes it false.}

start: {kinds: [blank], assign: random}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: hypothesis
    when: fooled

validate:
  mode: judge
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: false
  ask:
    - {name: corrected_label, type: choice, label: "Which label is right?", when: incorrect}
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
', NULL, '2026-11-25 16:45:43.963452+00');
INSERT INTO public.task_versions VALUES (1, 'sentiment', 1, 'id: sentiment
name: Sentiment
description: >-
  Does a statement speak well of something, badly, or neither? Irony, comparison and faint praise are easy for people
  and hard for models.

instructions:
  create: |
    Write a **statement** and say which sentiment it expresses, so that people agree with you and the model does not.
    You may begin with an empty field, with a sentence that you are free to edit or to write anew, or with one that the
    model reads rightly, to be changed as little as possible.

    - **Positive**: the writer likes it, or recommends it, or is glad.
    - **Negative**: the writer dislikes it, warns of it, or is let down.
    - **Neutral**: facts without a judgement, or praise and blame that balance.

    What tends to work: irony with a clue, praise of one thing that sinks another, expectations that were met or not,
    *could have been*, what somebody else thinks, good news told in bad words, one detail that turns everything.

    Play fair. It is about what the *writer* of the statement feels towards its subject. The clue must stand in the
    text: no inside jokes, no random letters, no sentiment that one has to guess. No hate against groups of people.
  validate: |
    How does the writer feel about what the statement is about? Choose what most readers would choose.

    - Irony counts as what it means, not as what it says.
    - Mixed feelings: choose the side that wins; if neither does, it is **neutral**.
    - **Flag** what is no statement, what is hateful, or what gives away a private person.

context:
  - {name: prompt, type: text, max_length: 500, language: en}

input:
  - name: statement
    type: text
    max_length: 500
    multiline: true
    language: en
    placeholder: One or two sentences, as somebody might post them

answer:
  name: label
  type: choice
  label: Which sentiment does it express?
  goal: chosen
  options:
    - {value: positive, label: positive, description: The writer speaks well of it.}
    - {value: neutral, label: neutral, description: "Facts, or praise and blame that balance."}
    - {value: negative, label: negative, description: The writer speaks badly of it.}

start: {kinds: [blank, prompt, seed], assign: random, prompt: {statement: prompt}}
output: {probabilities: true}
fooled: {rule: differs}

ask:
  - name: why_correct
    type: text
    label: Why is your label right?
    max_length: 500
    multiline: true
  - name: why_fooled
    type: text
    label: What tricked the model?
    max_length: 500
    multiline: true
    when: fooled
  - name: fooling_words
    type: spans
    label: Which words tricked it?
    of: statement
    when: fooled

validate:
  mode: answer
  votes: 2
  adjudicate_up_to: 5
  also_not_fooled: true
  ask:
    - name: reason
      type: text
      label: What is wrong with it?
      max_length: 500
      multiline: true
      when: [incorrect, flagged]

contexts: {sampling: least_used}
metrics: {primary: accuracy, report: [f1], costs: [throughput, memory], perturb: [fairness, robustness]}
data: {licence: CC-BY-4.0}
', NULL, '2026-11-25 16:45:36.72593+00');

INSERT INTO public.tasks VALUES ('nli', 2, '2026-11-25 16:45:36.815849+00');
INSERT INTO public.tasks VALUES ('checks', 14, '2026-11-25 16:45:46.151287+00');
INSERT INTO public.tasks VALUES ('done', 13, '2026-11-25 16:45:43.94203+00');
INSERT INTO public.tasks VALUES ('sentiment', 1, '2026-11-25 16:45:36.017153+00');

INSERT INTO public.tokens VALUES (1, 1, 'API', 'dyna_sje1hm7', '057c4cc0a0bb7e132cee56864f7b9a253c061b305292d05b1b3ad39755096bd0', '2026-11-25 16:45:33.155584+00', NULL, NULL, '["read", "annotate", "manage", "account"]');
INSERT INTO public.tokens VALUES (2, 2, 'API', 'dyna_kkTtHRy', '7ea953baf8e9387eb63f39edbd2b9d8dc79de5db7a5cd52ed18b3fcbeac7a37a', '2026-11-25 16:45:33.179524+00', '2026-11-25 16:45:43.505548+00', NULL, '["read", "annotate", "manage", "account"]');

INSERT INTO public.twins VALUES (1, 3, 'fairness', 'generated', 'ready', 0, '02680f3fd30fbb45034ee9ece36d4d67356b3e38ec726c3f6cb6a62e666b781f', 1, '{"upper_case": 1}', '', NULL, '2026-11-25 16:45:43.620037+00', NULL);
INSERT INTO public.twins VALUES (2, 3, 'robustness', 'generated', 'ready', 0, '02680f3fd30fbb45034ee9ece36d4d67356b3e38ec726c3f6cb6a62e666b781f', 1, '{"upper_case": 1}', '', NULL, '2026-11-25 16:45:43.62004+00', NULL);

INSERT INTO public.undos VALUES (59, '2026-01-02 03:04:05+00');

INSERT INTO public.uploaded_bytes VALUES (2, 1, '2026-01-02 03:04:05+00');

INSERT INTO public.validations VALUES (59, 41, 9, 'incorrect', 'null', false, '{}', '2026-11-25 16:45:49.598686+00');
INSERT INTO public.validations VALUES (60, 41, 10, 'incorrect', 'null', false, '{}', '2026-11-25 16:45:49.642527+00');

INSERT INTO public.verdict_events VALUES (30, 41, 'incorrect', '2026-11-25 16:45:49.64835+00');

INSERT INTO public.webhook_deliveries VALUES (1, 1, 'event of webhook_deliveries', 'message of webhook_deliveries', 'body of webhook_deliveries', 'waiting', 0, NULL, '2026-01-02 03:04:05+00', NULL);

INSERT INTO public.webhook_tries VALUES (1, 1, '2026-01-02 03:04:05+00', NULL, 1, 'answer of webhook_tries');

INSERT INTO public.webhooks VALUES (1, 2, 'nli', 'url of webhooks', '{}', 'salt of webhooks', 2, '2026-01-02 03:04:05+00', NULL, NULL, '');

SELECT pg_catalog.setval('public.acts_id_seq', 2, true);

SELECT pg_catalog.setval('public.announcements_id_seq', 1, true);

SELECT pg_catalog.setval('public.attributions_id_seq', 1, true);

SELECT pg_catalog.setval('public.bulk_acts_id_seq', 1, true);

SELECT pg_catalog.setval('public.contexts_id_seq', 102, true);

SELECT pg_catalog.setval('public.conversation_turns_id_seq', 1, true);

SELECT pg_catalog.setval('public.conversations_id_seq', 1, true);

SELECT pg_catalog.setval('public.cycle_turns_id_seq', 1, true);

SELECT pg_catalog.setval('public.dataset_versions_id_seq', 7, true);

SELECT pg_catalog.setval('public.datasets_id_seq', 7, true);

SELECT pg_catalog.setval('public.dismissals_id_seq', 1, true);

SELECT pg_catalog.setval('public.evaluations_id_seq', 2, true);

SELECT pg_catalog.setval('public.examples_id_seq', 41, true);

SELECT pg_catalog.setval('public.explanations_id_seq', 1, true);

SELECT pg_catalog.setval('public.handouts_id_seq', 41, true);

SELECT pg_catalog.setval('public.hidings_id_seq', 1, true);

SELECT pg_catalog.setval('public.invitations_id_seq', 1, true);

SELECT pg_catalog.setval('public.judgements_id_seq', 1, true);

SELECT pg_catalog.setval('public.mailings_id_seq', 1, true);

SELECT pg_catalog.setval('public.media_uploads_id_seq', 1, true);

SELECT pg_catalog.setval('public.media_uses_id_seq', 1, true);

SELECT pg_catalog.setval('public.notes_id_seq', 1, true);

SELECT pg_catalog.setval('public.notices_id_seq', 1, true);

SELECT pg_catalog.setval('public.people_id_seq', 20, true);

SELECT pg_catalog.setval('public.predictions_id_seq', 41, true);

SELECT pg_catalog.setval('public.proposals_id_seq', 1, true);

SELECT pg_catalog.setval('public.releases_id_seq', 2, true);

SELECT pg_catalog.setval('public.reports_id_seq', 1, true);

SELECT pg_catalog.setval('public.rounds_id_seq', 4, true);

SELECT pg_catalog.setval('public.scores_id_seq', 2, true);

SELECT pg_catalog.setval('public.search_news_id_seq', 71, true);

SELECT pg_catalog.setval('public.secret_fingerprints_id_seq', 1, true);

SELECT pg_catalog.setval('public.seeds_id_seq', 1, true);

SELECT pg_catalog.setval('public.sheets_id_seq', 1, true);

SELECT pg_catalog.setval('public.submissions_id_seq', 2, true);

SELECT pg_catalog.setval('public.suggestions_id_seq', 1, true);

SELECT pg_catalog.setval('public.tally_news_id_seq', 2, true);

SELECT pg_catalog.setval('public.targets_id_seq', 3, true);

SELECT pg_catalog.setval('public.task_versions_id_seq', 14, true);

SELECT pg_catalog.setval('public.tokens_id_seq', 2, true);

SELECT pg_catalog.setval('public.twins_id_seq', 2, true);

SELECT pg_catalog.setval('public.validations_id_seq', 60, true);

SELECT pg_catalog.setval('public.verdict_events_id_seq', 30, true);

SELECT pg_catalog.setval('public.webhook_deliveries_id_seq', 1, true);

SELECT pg_catalog.setval('public.webhook_tries_id_seq', 1, true);

SELECT pg_catalog.setval('public.webhooks_id_seq', 1, true);

ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY public.acts
    ADD CONSTRAINT pk_acts PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT pk_announcements PRIMARY KEY (id);

ALTER TABLE ONLY public.announcements_seen
    ADD CONSTRAINT pk_announcements_seen PRIMARY KEY (announcement_id, person_id);

ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT pk_assignments PRIMARY KEY (round_id, person_id);

ALTER TABLE ONLY public.assistances
    ADD CONSTRAINT pk_assistances PRIMARY KEY (example_id);

ALTER TABLE ONLY public.attributions
    ADD CONSTRAINT pk_attributions PRIMARY KEY (id);

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT pk_bans PRIMARY KEY (task_id, person_id);

ALTER TABLE ONLY public.breakdowns
    ADD CONSTRAINT pk_breakdowns PRIMARY KEY (round_id, name, value);

ALTER TABLE ONLY public.bulk_acts
    ADD CONSTRAINT pk_bulk_acts PRIMARY KEY (id);

ALTER TABLE ONLY public.bulk_members
    ADD CONSTRAINT pk_bulk_members PRIMARY KEY (bulk_id, example_id);

ALTER TABLE ONLY public.contexts
    ADD CONSTRAINT pk_contexts PRIMARY KEY (id);

ALTER TABLE ONLY public.conversation_replies
    ADD CONSTRAINT pk_conversation_replies PRIMARY KEY (turn_id, side);

ALTER TABLE ONLY public.conversation_turns
    ADD CONSTRAINT pk_conversation_turns PRIMARY KEY (id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT pk_conversations PRIMARY KEY (id);

ALTER TABLE ONLY public.cycle_candidates
    ADD CONSTRAINT pk_cycle_candidates PRIMARY KEY (turn_id, "position");

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT pk_cycle_turns PRIMARY KEY (id);

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT pk_dataset_versions PRIMARY KEY (id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT pk_datasets PRIMARY KEY (id);

ALTER TABLE ONLY public.dismissals
    ADD CONSTRAINT pk_dismissals PRIMARY KEY (id);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT pk_evaluations PRIMARY KEY (id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT pk_examples PRIMARY KEY (id);

ALTER TABLE ONLY public.explanations
    ADD CONSTRAINT pk_explanations PRIMARY KEY (id);

ALTER TABLE ONLY public.forks
    ADD CONSTRAINT pk_forks PRIMARY KEY (slug);

ALTER TABLE ONLY public.handouts
    ADD CONSTRAINT pk_handouts PRIMARY KEY (id);

ALTER TABLE ONLY public.hidings
    ADD CONSTRAINT pk_hidings PRIMARY KEY (id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT pk_invitations PRIMARY KEY (id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT pk_jobs PRIMARY KEY (id);

ALTER TABLE ONLY public.judgements
    ADD CONSTRAINT pk_judgements PRIMARY KEY (id);

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT pk_labels PRIMARY KEY (example_id, name);

ALTER TABLE ONLY public.mailings
    ADD CONSTRAINT pk_mailings PRIMARY KEY (id);

ALTER TABLE ONLY public.measured
    ADD CONSTRAINT pk_measured PRIMARY KEY (round_id);

ALTER TABLE ONLY public.media
    ADD CONSTRAINT pk_media PRIMARY KEY (digest);

ALTER TABLE ONLY public.media_uploads
    ADD CONSTRAINT pk_media_uploads PRIMARY KEY (id);

ALTER TABLE ONLY public.media_uses
    ADD CONSTRAINT pk_media_uses PRIMARY KEY (id);

ALTER TABLE ONLY public.model_listings
    ADD CONSTRAINT pk_model_listings PRIMARY KEY (name);

ALTER TABLE ONLY public.near_bands
    ADD CONSTRAINT pk_near_bands PRIMARY KEY (task_id, band, example_id);

ALTER TABLE ONLY public.notes
    ADD CONSTRAINT pk_notes PRIMARY KEY (id);

ALTER TABLE ONLY public.notice_wishes
    ADD CONSTRAINT pk_notice_wishes PRIMARY KEY (person_id);

ALTER TABLE ONLY public.notices
    ADD CONSTRAINT pk_notices PRIMARY KEY (id);

ALTER TABLE ONLY public.people
    ADD CONSTRAINT pk_people PRIMARY KEY (id);

ALTER TABLE ONLY public.predictions
    ADD CONSTRAINT pk_predictions PRIMARY KEY (id);

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT pk_proposals PRIMARY KEY (id);

ALTER TABLE ONLY public.proposed
    ADD CONSTRAINT pk_proposed PRIMARY KEY (example_id);

ALTER TABLE ONLY public.records
    ADD CONSTRAINT pk_records PRIMARY KEY (evaluation_id);

ALTER TABLE ONLY public.refused_rows
    ADD CONSTRAINT pk_refused_rows PRIMARY KEY (job_id, "row");

ALTER TABLE ONLY public.released_examples
    ADD CONSTRAINT pk_released_examples PRIMARY KEY (example_id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT pk_releases PRIMARY KEY (id);

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT pk_reports PRIMARY KEY (id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT pk_reservations PRIMARY KEY (example_id, person_id);

ALTER TABLE ONLY public.retractions
    ADD CONSTRAINT pk_retractions PRIMARY KEY (example_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT pk_roles PRIMARY KEY (task_id, person_id);

ALTER TABLE ONLY public.round_contexts
    ADD CONSTRAINT pk_round_contexts PRIMARY KEY (round_id, context_id);

ALTER TABLE ONLY public.round_parents
    ADD CONSTRAINT pk_round_parents PRIMARY KEY (round_id, parent_id);

ALTER TABLE ONLY public.round_people
    ADD CONSTRAINT pk_round_people PRIMARY KEY (round_id, person_id);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT pk_rounds PRIMARY KEY (id);

ALTER TABLE ONLY public.scores
    ADD CONSTRAINT pk_scores PRIMARY KEY (id);

ALTER TABLE ONLY public.search_news
    ADD CONSTRAINT pk_search_news PRIMARY KEY (id);

ALTER TABLE ONLY public.search_postings
    ADD CONSTRAINT pk_search_postings PRIMARY KEY (term, block);

ALTER TABLE ONLY public.secret_fingerprints
    ADD CONSTRAINT pk_secret_fingerprints PRIMARY KEY (id);

ALTER TABLE ONLY public.seed_predictions
    ADD CONSTRAINT pk_seed_predictions PRIMARY KEY (seed_id, model, version);

ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT pk_seeds PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (digest);

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT pk_shards PRIMARY KEY (evaluation_id, part, number);

ALTER TABLE ONLY public.sheets
    ADD CONSTRAINT pk_sheets PRIMARY KEY (id);

ALTER TABLE ONLY public.skips
    ADD CONSTRAINT pk_skips PRIMARY KEY (example_id, person_id);

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT pk_snapshots PRIMARY KEY (slug);

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT pk_standings PRIMARY KEY (example_id);

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT pk_submissions PRIMARY KEY (id);

ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT pk_suggestions PRIMARY KEY (id);

ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT pk_tallies PRIMARY KEY (round_id, person_id, day, start, arm, source);

ALTER TABLE ONLY public.tally_news
    ADD CONSTRAINT pk_tally_news PRIMARY KEY (id);

ALTER TABLE ONLY public.targets
    ADD CONSTRAINT pk_targets PRIMARY KEY (id);

ALTER TABLE ONLY public.task_versions
    ADD CONSTRAINT pk_task_versions PRIMARY KEY (id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT pk_tasks PRIMARY KEY (id);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT pk_tokens PRIMARY KEY (id);

ALTER TABLE ONLY public.twins
    ADD CONSTRAINT pk_twins PRIMARY KEY (id);

ALTER TABLE ONLY public.undos
    ADD CONSTRAINT pk_undos PRIMARY KEY (validation_id);

ALTER TABLE ONLY public.uploaded_bytes
    ADD CONSTRAINT pk_uploaded_bytes PRIMARY KEY (person_id);

ALTER TABLE ONLY public.validations
    ADD CONSTRAINT pk_validations PRIMARY KEY (id);

ALTER TABLE ONLY public.verdict_events
    ADD CONSTRAINT pk_verdict_events PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT pk_webhook_deliveries PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_tries
    ADD CONSTRAINT pk_webhook_tries PRIMARY KEY (id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT pk_webhooks PRIMARY KEY (id);

ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT uq_assignments_round_id_place UNIQUE (round_id, place);

ALTER TABLE ONLY public.attributions
    ADD CONSTRAINT uq_attributions_example_id_model_method_label UNIQUE (example_id, model, method, label);

ALTER TABLE ONLY public.contexts
    ADD CONSTRAINT uq_contexts_task_id_digest UNIQUE (task_id, digest);

ALTER TABLE ONLY public.conversation_turns
    ADD CONSTRAINT uq_conversation_turns_conversation_id_key UNIQUE (conversation_id, key);

ALTER TABLE ONLY public.conversation_turns
    ADD CONSTRAINT uq_conversation_turns_conversation_id_number UNIQUE (conversation_id, number);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT uq_conversations_example_id UNIQUE (example_id);

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT uq_dataset_versions_dataset_id_number UNIQUE (dataset_id, number);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT uq_datasets_task_id_name UNIQUE (task_id, name);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT uq_evaluations_submission_id_version_id UNIQUE (submission_id, version_id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT uq_examples_author_id_key UNIQUE (author_id, key);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT uq_invitations_digest UNIQUE (digest);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT uq_releases_round_id UNIQUE (round_id);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT uq_rounds_task_id_number UNIQUE (task_id, number);

ALTER TABLE ONLY public.scores
    ADD CONSTRAINT uq_scores_evaluation_id_metric_slice UNIQUE (evaluation_id, metric, slice);

ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT uq_seeds_task_id_digest UNIQUE (task_id, digest);

ALTER TABLE ONLY public.sheets
    ADD CONSTRAINT uq_sheets_person_id_key UNIQUE (person_id, key);

ALTER TABLE ONLY public.task_versions
    ADD CONSTRAINT uq_task_versions_task_id_number UNIQUE (task_id, number);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT uq_tokens_digest UNIQUE (digest);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT uq_webhook_deliveries_message UNIQUE (message);

CREATE INDEX ix_acts_at ON public.acts USING btree (at);

CREATE INDEX ix_acts_kind ON public.acts USING btree (task_id, kind, id);

CREATE INDEX ix_acts_task ON public.acts USING btree (task_id, id);

CREATE INDEX ix_announcements_seen_person_id ON public.announcements_seen USING btree (person_id);

CREATE INDEX ix_announcements_task ON public.announcements USING btree (task_id, until);

CREATE INDEX ix_bans_person_id ON public.bans USING btree (person_id);

CREATE INDEX ix_bulk_acts_task ON public.bulk_acts USING btree (task_id, id);

CREATE INDEX ix_contexts_clock ON public.contexts USING btree (task_id, clock) WHERE (retired_at IS NULL);

CREATE INDEX ix_contexts_doubt ON public.contexts USING btree (task_id, doubt, draw) WHERE (retired_at IS NULL);

CREATE INDEX ix_contexts_draw ON public.contexts USING btree (task_id, draw) WHERE (retired_at IS NULL);

CREATE INDEX ix_contexts_failed ON public.contexts USING btree (task_id, draw) WHERE ((retired_at IS NULL) AND (failed > 0) AND (good = 0));

CREATE INDEX ix_contexts_fooled ON public.contexts USING btree (task_id, fooled, draw) WHERE (retired_at IS NULL);

CREATE INDEX ix_contexts_listed ON public.contexts USING btree (task_id, id);

CREATE INDEX ix_contexts_retired ON public.contexts USING btree (task_id, id) WHERE (retired_at IS NOT NULL);

CREATE INDEX ix_contexts_tag ON public.contexts USING btree (task_id, tag, id);

CREATE INDEX ix_contexts_used ON public.contexts USING btree (task_id, used, draw) WHERE (retired_at IS NULL);

CREATE INDEX ix_conversations_handout ON public.conversations USING btree (handout_id, id);

CREATE INDEX ix_conversations_person ON public.conversations USING btree (person_id);

CREATE INDEX ix_conversations_round ON public.conversations USING btree (round_id, id);

CREATE INDEX ix_cycle_turns_round_id ON public.cycle_turns USING btree (round_id);

CREATE INDEX ix_cycle_turns_task ON public.cycle_turns USING btree (task_id, id);

CREATE INDEX ix_dismissals_example_id ON public.dismissals USING btree (example_id);

CREATE INDEX ix_evaluations_state ON public.evaluations USING btree (state, created_at);

CREATE INDEX ix_evaluations_version_id ON public.evaluations USING btree (version_id);

CREATE INDEX ix_examples_author ON public.examples USING btree (author_id, round_id, id);

CREATE INDEX ix_examples_context_id ON public.examples USING btree (context_id);

CREATE INDEX ix_examples_handout_id ON public.examples USING btree (handout_id);

CREATE INDEX ix_examples_round ON public.examples USING btree (round_id, id);

CREATE UNIQUE INDEX ix_examples_uid ON public.examples USING btree (uid);

CREATE INDEX ix_explanations_example_id ON public.explanations USING btree (example_id);

CREATE INDEX ix_forks_task_id ON public.forks USING btree (task_id);

CREATE INDEX ix_handouts_person ON public.handouts USING btree (person_id, round_id, context_id, id);

CREATE INDEX ix_handouts_seen ON public.handouts USING btree (person_id, context_id);

CREATE INDEX ix_hidings_example_id ON public.hidings USING btree (example_id);

CREATE INDEX ix_invitations_round_id ON public.invitations USING btree (round_id);

CREATE INDEX ix_invitations_task_id ON public.invitations USING btree (task_id);

CREATE INDEX ix_jobs_unsent ON public.jobs USING btree (created_at) WHERE (sent_at IS NULL);

CREATE INDEX ix_judgements_example_id ON public.judgements USING btree (example_id);

CREATE INDEX ix_judgements_prediction_id ON public.judgements USING btree (prediction_id);

CREATE INDEX ix_mailings_person_id ON public.mailings USING btree (person_id);

CREATE INDEX ix_media_uploads_digest ON public.media_uploads USING btree (digest);

CREATE INDEX ix_media_uploads_person ON public.media_uploads USING btree (person_id, at);

CREATE INDEX ix_media_uploads_task ON public.media_uploads USING btree (task_id, digest);

CREATE UNIQUE INDEX ix_media_uses_context ON public.media_uses USING btree (context_id, digest) WHERE (context_id IS NOT NULL);

CREATE INDEX ix_media_uses_digest ON public.media_uses USING btree (digest);

CREATE UNIQUE INDEX ix_media_uses_example ON public.media_uses USING btree (example_id, digest) WHERE (example_id IS NOT NULL);

CREATE INDEX ix_model_listings_keeper_id ON public.model_listings USING btree (keeper_id);

CREATE INDEX ix_notes_example_id ON public.notes USING btree (example_id);

CREATE INDEX ix_notices_mailing_id ON public.notices USING btree (mailing_id);

CREATE INDEX ix_notices_person ON public.notices USING btree (person_id, seen_at);

CREATE UNIQUE INDEX ix_people_imported_as ON public.people USING btree (imported_as);

CREATE INDEX ix_predictions_example_id ON public.predictions USING btree (example_id);

CREATE INDEX ix_proposals_person_id ON public.proposals USING btree (person_id);

CREATE INDEX ix_proposals_state ON public.proposals USING btree (state, id);

CREATE INDEX ix_proposed_round ON public.proposed USING btree (round_id, name, version);

CREATE INDEX ix_released_examples_round_id ON public.released_examples USING btree (round_id);

CREATE INDEX ix_releases_task_id ON public.releases USING btree (task_id);

CREATE INDEX ix_reports_task_id ON public.reports USING btree (task_id);

CREATE INDEX ix_reservations_person ON public.reservations USING btree (person_id, mode, expires_at);

CREATE INDEX ix_roles_person_id ON public.roles USING btree (person_id);

CREATE INDEX ix_round_contexts_context_id ON public.round_contexts USING btree (context_id);

CREATE INDEX ix_round_people_person_id ON public.round_people USING btree (person_id);

CREATE INDEX ix_seeds_context_id ON public.seeds USING btree (context_id);

CREATE INDEX ix_seeds_draw ON public.seeds USING btree (task_id, draw);

CREATE INDEX ix_seeds_used ON public.seeds USING btree (task_id, used, draw);

CREATE INDEX ix_sessions_person_id ON public.sessions USING btree (person_id);

CREATE INDEX ix_sheets_handout ON public.sheets USING btree (handout_id, id);

CREATE INDEX ix_skips_person_id ON public.skips USING btree (person_id);

CREATE INDEX ix_snapshots_task_id ON public.snapshots USING btree (task_id);

CREATE INDEX ix_standings_blind ON public.standings USING btree (round_id) WHERE (blind > 0);

CREATE INDEX ix_standings_queue ON public.standings USING btree (round_id, draw) WHERE open;

CREATE INDEX ix_submissions_name ON public.submissions USING btree (name);

CREATE INDEX ix_submissions_person_id ON public.submissions USING btree (person_id);

CREATE INDEX ix_submissions_task ON public.submissions USING btree (task_id, state);

CREATE INDEX ix_suggestions_handout ON public.suggestions USING btree (handout_id, id);

CREATE INDEX ix_suggestions_person_id ON public.suggestions USING btree (person_id);

CREATE INDEX ix_tally_news_round_id ON public.tally_news USING btree (round_id);

CREATE INDEX ix_targets_round_id ON public.targets USING btree (round_id);

CREATE INDEX ix_tokens_person_id ON public.tokens USING btree (person_id);

CREATE INDEX ix_twins_version ON public.twins USING btree (version_id, axis);

CREATE INDEX ix_validations_at ON public.validations USING btree (person_id, at);

CREATE INDEX ix_validations_example_id ON public.validations USING btree (example_id);

CREATE INDEX ix_validations_person ON public.validations USING btree (person_id, example_id);

CREATE INDEX ix_verdict_events_example_id ON public.verdict_events USING btree (example_id);

CREATE INDEX ix_webhook_deliveries_created_at ON public.webhook_deliveries USING btree (created_at);

CREATE INDEX ix_webhook_deliveries_hook ON public.webhook_deliveries USING btree (hook_id, id);

CREATE INDEX ix_webhook_tries_delivery_id ON public.webhook_tries USING btree (delivery_id);

CREATE INDEX ix_webhooks_person_id ON public.webhooks USING btree (person_id);

CREATE INDEX ix_webhooks_task_id ON public.webhooks USING btree (task_id);

CREATE UNIQUE INDEX uq_mailings_gathering ON public.mailings USING btree (person_id) WHERE ((state)::text = 'gathering'::text);

CREATE UNIQUE INDEX uq_people_email ON public.people USING btree (lower((email)::text));

CREATE UNIQUE INDEX uq_people_pseudonym ON public.people USING btree (lower((pseudonym)::text)) WHERE ((pseudonym)::text <> ''::text);

CREATE UNIQUE INDEX uq_people_username ON public.people USING btree (lower((username)::text));

ALTER TABLE ONLY public.acts
    ADD CONSTRAINT fk_acts_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT fk_announcements_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.announcements_seen
    ADD CONSTRAINT fk_announcements_seen_announcement_id FOREIGN KEY (announcement_id) REFERENCES public.announcements(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.announcements_seen
    ADD CONSTRAINT fk_announcements_seen_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.announcements
    ADD CONSTRAINT fk_announcements_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT fk_assignments_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.assignments
    ADD CONSTRAINT fk_assignments_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.assistances
    ADD CONSTRAINT fk_assistances_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.attributions
    ADD CONSTRAINT fk_attributions_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT fk_bans_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT fk_bans_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT fk_bans_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.breakdowns
    ADD CONSTRAINT fk_breakdowns_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.bulk_acts
    ADD CONSTRAINT fk_bulk_acts_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.bulk_acts
    ADD CONSTRAINT fk_bulk_acts_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.bulk_members
    ADD CONSTRAINT fk_bulk_members_bulk_id FOREIGN KEY (bulk_id) REFERENCES public.bulk_acts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.bulk_members
    ADD CONSTRAINT fk_bulk_members_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.contexts
    ADD CONSTRAINT fk_contexts_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.conversation_replies
    ADD CONSTRAINT fk_conversation_replies_turn_id FOREIGN KEY (turn_id) REFERENCES public.conversation_turns(id);

ALTER TABLE ONLY public.conversation_turns
    ADD CONSTRAINT fk_conversation_turns_conversation_id FOREIGN KEY (conversation_id) REFERENCES public.conversations(id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT fk_conversations_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT fk_conversations_handout_id FOREIGN KEY (handout_id) REFERENCES public.handouts(id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT fk_conversations_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT fk_conversations_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.cycle_candidates
    ADD CONSTRAINT fk_cycle_candidates_submission_id FOREIGN KEY (submission_id) REFERENCES public.submissions(id);

ALTER TABLE ONLY public.cycle_candidates
    ADD CONSTRAINT fk_cycle_candidates_turn_id FOREIGN KEY (turn_id) REFERENCES public.cycle_turns(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT fk_cycle_turns_back_id FOREIGN KEY (back_id) REFERENCES public.rounds(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT fk_cycle_turns_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT fk_cycle_turns_next_id FOREIGN KEY (next_id) REFERENCES public.rounds(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT fk_cycle_turns_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.cycle_turns
    ADD CONSTRAINT fk_cycle_turns_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT fk_dataset_versions_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.dataset_versions
    ADD CONSTRAINT fk_dataset_versions_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT fk_datasets_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT fk_datasets_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT fk_datasets_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.dismissals
    ADD CONSTRAINT fk_dismissals_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.dismissals
    ADD CONSTRAINT fk_dismissals_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT fk_evaluations_submission_id FOREIGN KEY (submission_id) REFERENCES public.submissions(id);

ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT fk_evaluations_version_id FOREIGN KEY (version_id) REFERENCES public.dataset_versions(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_author_id FOREIGN KEY (author_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_context_id FOREIGN KEY (context_id) REFERENCES public.contexts(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_handout_id FOREIGN KEY (handout_id) REFERENCES public.handouts(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_made_from FOREIGN KEY (made_from) REFERENCES public.examples(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.examples
    ADD CONSTRAINT fk_examples_version_id FOREIGN KEY (version_id) REFERENCES public.task_versions(id);

ALTER TABLE ONLY public.explanations
    ADD CONSTRAINT fk_explanations_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.forks
    ADD CONSTRAINT fk_forks_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.forks
    ADD CONSTRAINT fk_forks_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.handouts
    ADD CONSTRAINT fk_handouts_context_id FOREIGN KEY (context_id) REFERENCES public.contexts(id);

ALTER TABLE ONLY public.handouts
    ADD CONSTRAINT fk_handouts_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.handouts
    ADD CONSTRAINT fk_handouts_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.hidings
    ADD CONSTRAINT fk_hidings_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.hidings
    ADD CONSTRAINT fk_hidings_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT fk_invitations_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT fk_invitations_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT fk_jobs_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.judgements
    ADD CONSTRAINT fk_judgements_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.judgements
    ADD CONSTRAINT fk_judgements_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.judgements
    ADD CONSTRAINT fk_judgements_prediction_id FOREIGN KEY (prediction_id) REFERENCES public.predictions(id);

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT fk_labels_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.labels
    ADD CONSTRAINT fk_labels_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.mailings
    ADD CONSTRAINT fk_mailings_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.measured
    ADD CONSTRAINT fk_measured_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.media_uploads
    ADD CONSTRAINT fk_media_uploads_digest FOREIGN KEY (digest) REFERENCES public.media(digest) ON DELETE CASCADE;

ALTER TABLE ONLY public.media_uploads
    ADD CONSTRAINT fk_media_uploads_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.media_uploads
    ADD CONSTRAINT fk_media_uploads_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.media_uses
    ADD CONSTRAINT fk_media_uses_context_id FOREIGN KEY (context_id) REFERENCES public.contexts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.media_uses
    ADD CONSTRAINT fk_media_uses_digest FOREIGN KEY (digest) REFERENCES public.media(digest);

ALTER TABLE ONLY public.media_uses
    ADD CONSTRAINT fk_media_uses_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.media_uses
    ADD CONSTRAINT fk_media_uses_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.model_listings
    ADD CONSTRAINT fk_model_listings_keeper_id FOREIGN KEY (keeper_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.near_bands
    ADD CONSTRAINT fk_near_bands_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.notes
    ADD CONSTRAINT fk_notes_by FOREIGN KEY (by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.notes
    ADD CONSTRAINT fk_notes_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.notice_wishes
    ADD CONSTRAINT fk_notice_wishes_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notices
    ADD CONSTRAINT fk_notices_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.predictions
    ADD CONSTRAINT fk_predictions_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT fk_proposals_decided_by FOREIGN KEY (decided_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.proposals
    ADD CONSTRAINT fk_proposals_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.proposed
    ADD CONSTRAINT fk_proposed_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.proposed
    ADD CONSTRAINT fk_proposed_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.records
    ADD CONSTRAINT fk_records_evaluation_id FOREIGN KEY (evaluation_id) REFERENCES public.evaluations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.refused_rows
    ADD CONSTRAINT fk_refused_rows_job_id FOREIGN KEY (job_id) REFERENCES public.jobs(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.released_examples
    ADD CONSTRAINT fk_released_examples_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.released_examples
    ADD CONSTRAINT fk_released_examples_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT fk_releases_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT fk_releases_hidden_id FOREIGN KEY (hidden_id) REFERENCES public.dataset_versions(id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT fk_releases_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT fk_releases_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.releases
    ADD CONSTRAINT fk_releases_test_id FOREIGN KEY (test_id) REFERENCES public.dataset_versions(id);

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT fk_reports_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.reports
    ADD CONSTRAINT fk_reports_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT fk_reservations_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.reservations
    ADD CONSTRAINT fk_reservations_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.retractions
    ADD CONSTRAINT fk_retractions_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT fk_roles_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT fk_roles_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.round_contexts
    ADD CONSTRAINT fk_round_contexts_context_id FOREIGN KEY (context_id) REFERENCES public.contexts(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.round_contexts
    ADD CONSTRAINT fk_round_contexts_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.round_parents
    ADD CONSTRAINT fk_round_parents_parent_id FOREIGN KEY (parent_id) REFERENCES public.rounds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.round_parents
    ADD CONSTRAINT fk_round_parents_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.round_people
    ADD CONSTRAINT fk_round_people_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.round_people
    ADD CONSTRAINT fk_round_people_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT fk_rounds_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT fk_rounds_version_id FOREIGN KEY (version_id) REFERENCES public.task_versions(id);

ALTER TABLE ONLY public.scores
    ADD CONSTRAINT fk_scores_evaluation_id FOREIGN KEY (evaluation_id) REFERENCES public.evaluations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.search_news
    ADD CONSTRAINT fk_search_news_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.seed_predictions
    ADD CONSTRAINT fk_seed_predictions_seed_id FOREIGN KEY (seed_id) REFERENCES public.seeds(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT fk_seeds_context_id FOREIGN KEY (context_id) REFERENCES public.contexts(id);

ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT fk_seeds_made_from FOREIGN KEY (made_from) REFERENCES public.examples(id);

ALTER TABLE ONLY public.seeds
    ADD CONSTRAINT fk_seeds_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT fk_sessions_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.shards
    ADD CONSTRAINT fk_shards_evaluation_id FOREIGN KEY (evaluation_id) REFERENCES public.evaluations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sheets
    ADD CONSTRAINT fk_sheets_handout_id FOREIGN KEY (handout_id) REFERENCES public.handouts(id);

ALTER TABLE ONLY public.sheets
    ADD CONSTRAINT fk_sheets_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.skips
    ADD CONSTRAINT fk_skips_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.skips
    ADD CONSTRAINT fk_skips_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT fk_snapshots_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT fk_snapshots_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT fk_standings_author_id FOREIGN KEY (author_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT fk_standings_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.standings
    ADD CONSTRAINT fk_standings_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT fk_submissions_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT fk_submissions_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT fk_suggestions_handout_id FOREIGN KEY (handout_id) REFERENCES public.handouts(id);

ALTER TABLE ONLY public.suggestions
    ADD CONSTRAINT fk_suggestions_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT fk_tallies_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT fk_tallies_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.tally_news
    ADD CONSTRAINT fk_tally_news_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.targets
    ADD CONSTRAINT fk_targets_round_id FOREIGN KEY (round_id) REFERENCES public.rounds(id);

ALTER TABLE ONLY public.task_versions
    ADD CONSTRAINT fk_task_versions_created_by FOREIGN KEY (created_by) REFERENCES public.people(id);

ALTER TABLE ONLY public.task_versions
    ADD CONSTRAINT fk_task_versions_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id);

ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT fk_tokens_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.twins
    ADD CONSTRAINT fk_twins_version_id FOREIGN KEY (version_id) REFERENCES public.dataset_versions(id);

ALTER TABLE ONLY public.undos
    ADD CONSTRAINT fk_undos_validation_id FOREIGN KEY (validation_id) REFERENCES public.validations(id);

ALTER TABLE ONLY public.uploaded_bytes
    ADD CONSTRAINT fk_uploaded_bytes_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.validations
    ADD CONSTRAINT fk_validations_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.validations
    ADD CONSTRAINT fk_validations_person_id FOREIGN KEY (person_id) REFERENCES public.people(id);

ALTER TABLE ONLY public.verdict_events
    ADD CONSTRAINT fk_verdict_events_example_id FOREIGN KEY (example_id) REFERENCES public.examples(id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT fk_webhook_deliveries_hook_id FOREIGN KEY (hook_id) REFERENCES public.webhooks(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhook_tries
    ADD CONSTRAINT fk_webhook_tries_delivery_id FOREIGN KEY (delivery_id) REFERENCES public.webhook_deliveries(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT fk_webhooks_created_by FOREIGN KEY (created_by) REFERENCES public.people(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT fk_webhooks_person_id FOREIGN KEY (person_id) REFERENCES public.people(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT fk_webhooks_task_id FOREIGN KEY (task_id) REFERENCES public.tasks(id) ON DELETE CASCADE;

