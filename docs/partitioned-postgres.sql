-- The payment tables of schema version 1 in partitions, for PostgreSQL 14 and later and an empty database. Apply it
-- once, before the first start, in place of what `npx nestjs-card-payment schema --dialect postgres` prints:
--
--   psql --set ON_ERROR_STOP=1 --file partitioned-postgres.sql postgres://…
--
-- docs/internals/capacity.md says when it is worth it. History and events are split by month; what is unique is split by a hash of
-- its key, in eight. The store needs no setting for it.

begin;

create table card_payment_migration (version integer primary key, lowest integer not null, applied_at bigint not null);

create table card_payment (
  account text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  state text collate "C" not null,
  reference text collate "C",
  token_hash text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  finalized_at bigint,
  due_at bigint,
  record text not null,
  primary key (account, conversation_id)
) partition by hash (conversation_id);
-- Not unique: that would take the conversation_id, too. card_payment_token is what is unique.
create index card_payment_token_hash on card_payment (account, token_hash);
create index card_payment_reference on card_payment (account, reference, created_at) where reference is not null;
create index card_payment_state on card_payment (account, state, updated_at);
create index card_payment_due on card_payment (account, due_at) where due_at is not null;
create index card_payment_finalized on card_payment (account, finalized_at, conversation_id)
  where finalized_at is not null;

create table card_payment_token (
  account text collate "C" not null,
  token_hash text collate "C" not null,
  primary key (account, token_hash)
) partition by hash (token_hash);

create table card_payment_reference_lock (
  account text collate "C" not null,
  reference text collate "C" not null,
  conversation_id text collate "C",
  primary key (account, reference)
) partition by hash (reference);
create index card_payment_reference_lock_holder on card_payment_reference_lock (account, conversation_id)
  where conversation_id is not null;

create table card_payment_key (
  account text collate "C" not null,
  key_hash text collate "C" not null,
  conversation_id text collate "C",
  purged_at bigint,
  primary key (account, key_hash)
) partition by hash (key_hash);
create index card_payment_key_holder on card_payment_key (account, conversation_id) where conversation_id is not null;
create index card_payment_key_purged on card_payment_key (account, purged_at) where purged_at is not null;

-- A primary key has to hold what the table is split by. That no two lines of a payment have one version follows from
-- the payment's own row, which every change of it updates from that version.
create table card_payment_history (
  account text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  entry text not null,
  written_at bigint not null default floor(extract(epoch from now()) * 1000),
  primary key (account, conversation_id, version, written_at)
) partition by range (written_at);

create table card_payment_event (
  account text collate "C" not null,
  event_id text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  type text collate "C" not null,
  occurred_at bigint not null,
  waiting integer not null,
  event text not null,
  primary key (account, event_id, occurred_at)
) partition by range (occurred_at);
create index card_payment_event_payment on card_payment_event (account, conversation_id);
create index card_payment_event_waiting on card_payment_event (account, type, occurred_at) where waiting = 1;

create table card_payment_handler (
  account text collate "C" not null,
  type text collate "C" not null,
  handler_id text collate "C" not null,
  announced_at bigint not null,
  primary key (account, type, handler_id)
);

create table card_payment_delivery (
  account text collate "C" not null,
  handler_id text collate "C" not null,
  event_id text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  type text collate "C" not null,
  occurred_at bigint not null,
  attempts integer not null,
  parked integer not null,
  error text,
  lease text collate "C",
  due_at bigint not null,
  primary key (account, handler_id, event_id)
);
create index card_payment_delivery_payment on card_payment_delivery (account, conversation_id, handler_id, version);
create index card_payment_delivery_due on card_payment_delivery (account, handler_id, type, due_at, version)
  where parked = 0;
create index card_payment_delivery_parked on card_payment_delivery (account, occurred_at) where parked = 1;

-- Parts by hash. Their number cannot be changed later without writing the table anew.
do $$
declare
  split text;
begin
  for part in 0..7 loop
    foreach split in array array['card_payment', 'card_payment_token', 'card_payment_reference_lock', 'card_payment_key']
    loop
      execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
        split || '_part_' || part, split, part);
    end loop;
  end loop;
end
$$;

-- A token is one payment's alone, in whichever part that is.
create function card_payment_keep_token() returns trigger language plpgsql as $$
begin
  if tg_op <> 'INSERT' then
    delete from card_payment_token where account = old.account and token_hash = old.token_hash;
  end if;
  if tg_op <> 'DELETE' and new.token_hash is not null then
    insert into card_payment_token (account, token_hash) values (new.account, new.token_hash);
  end if;
  return null;
end
$$;
create trigger card_payment_token_insert after insert on card_payment
  for each row when (new.token_hash is not null) execute function card_payment_keep_token();
create trigger card_payment_token_update after update of token_hash on card_payment
  for each row when (old.token_hash is distinct from new.token_hash) execute function card_payment_keep_token();
create trigger card_payment_token_delete after delete on card_payment
  for each row when (old.token_hash is not null) execute function card_payment_keep_token();

-- Makes the parts of one month (UTC), if they are not there. Call it well before the month begins.
create function card_payment_add_month(month date) returns void language plpgsql as $$
declare
  first date := date_trunc('month', month);
  since bigint := extract(epoch from first::timestamp at time zone 'UTC') * 1000;
  until bigint := extract(epoch from (first + interval '1 month')::timestamp at time zone 'UTC') * 1000;
  split text;
begin
  foreach split in array array['card_payment_history', 'card_payment_event'] loop
    execute format('create table if not exists %I partition of %I for values from (%s) to (%s)',
      split || to_char(first, '"_"YYYY"_"MM'), split, since, until);
  end loop;
end
$$;

-- Drops the parts of one month once the retention (PAYMENT_RETENTION_MS) has emptied them, and says whether it did: what
-- is left in them belongs to payments that are still there. Waits two seconds for each of the tables at most.
create function card_payment_drop_month(month date) returns boolean language plpgsql set lock_timeout = '2s' as $$
declare
  suffix text := to_char(month, '"_"YYYY"_"MM');
  look text := format('select not exists (select from %I) and not exists (select from %I)',
    'card_payment_history' || suffix, 'card_payment_event' || suffix);
  is_empty boolean;
begin
  -- Before the locks, too: payments wait neither for a month that stays nor while many dead rows are passed over.
  execute look into is_empty;
  if not is_empty then
    return false;
  end if;
  -- The whole tables before their parts, as everyone does: in another order they could wait for each other.
  lock table only card_payment_history, only card_payment_event in access exclusive mode;
  execute format('lock table %I, %I in access exclusive mode', 'card_payment_history' || suffix,
    'card_payment_event' || suffix);
  execute look into is_empty;
  if is_empty then
    execute format('drop table %I, %I', 'card_payment_history' || suffix, 'card_payment_event' || suffix);
  end if;
  return is_empty;
end
$$;

-- This month and the next three. Make further ones each month; each empty part costs every look-up by id a page or two.
select card_payment_add_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => n))::date)
  from generate_series(0, 3) as n;

-- For months that nobody has made: a payment must not fail for want of a part. It has to be empty when they are made.
create table card_payment_history_other partition of card_payment_history default;
create table card_payment_event_other partition of card_payment_event default;

insert into card_payment_migration (version, lowest, applied_at)
  values (1, 1, floor(extract(epoch from now()) * 1000));

commit;
