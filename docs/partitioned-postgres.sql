-- The payment tables of schema version 1 in partitions, for PostgreSQL 14 and later and an empty database. Apply it
-- once, before the first start, in place of what `npx nestjs-card-payment schema --dialect postgres` prints:
--
--   psql --set ON_ERROR_STOP=1 --file partitioned-postgres.sql postgres://…
--
-- docs/internals/capacity.md says when it is worth it. The versions of payments, which are their history and events, are split by
-- month; payments and unique names are split by a hash of their key, in eight. The store needs no setting for it.

begin;

create table card_payment_schema_version (version integer primary key, lowest integer not null, applied_at bigint not null);

create table card_payment (
  account text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  state text collate "C" not null,
  is_refund integer not null,
  parent_id text collate "C",
  reference text collate "C",
  gateway text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  finalized_at bigint,
  due_at bigint,
  redirect_url text,
  refunds integer not null default 0,
  primary key (account, conversation_id)
) partition by hash (conversation_id);
create index card_payment_created on card_payment (account, is_refund, created_at, conversation_id);
create index card_payment_state on card_payment
  (account, is_refund, state, created_at, conversation_id, updated_at);
create index card_payment_reference on card_payment (account, reference, created_at) where reference is not null;
create index card_payment_parent on card_payment (account, parent_id) where parent_id is not null;
create index card_payment_due on card_payment (account, due_at) where due_at is not null;
create index card_payment_finalized on card_payment (account, finalized_at, conversation_id)
  where finalized_at is not null;

-- A primary key has to hold what the table is split by. That no two versions of a payment have one number follows from
-- the payment's own row, which every change of it updates from that version.
create table card_payment_version (
  account text collate "C" not null,
  conversation_id text collate "C" not null,
  version integer not null,
  type text collate "C",
  record text not null,
  written_at bigint not null default floor(extract(epoch from now()) * 1000),
  primary key (account, conversation_id, version, written_at)
) partition by range (written_at);

create table card_payment_name (
  account text collate "C" not null,
  name text collate "C" not null,
  conversation_id text collate "C",
  purged_at bigint,
  primary key (account, name)
) partition by hash (name);
create index card_payment_name_owner on card_payment_name (account, conversation_id, purged_at);

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
  status integer not null,
  attempts integer not null,
  error text,
  lease text collate "C",
  due_at bigint not null,
  primary key (account, handler_id, event_id)
);
create index card_payment_delivery_payment on card_payment_delivery (account, conversation_id, version);
create index card_payment_delivery_due on card_payment_delivery
  (account, status, handler_id, type, due_at, version);
create index card_payment_delivery_listed on card_payment_delivery
  (account, status, occurred_at, event_id, handler_id);

-- Parts by hash. Their number cannot be changed later without writing the table anew.
do $$
declare
  split text;
begin
  for part in 0..7 loop
    foreach split in array array['card_payment', 'card_payment_name'] loop
      execute format('create table %I partition of %I for values with (modulus 8, remainder %s)',
        split || '_part_' || part, split, part);
    end loop;
  end loop;
end
$$;

-- Makes the part of one month (UTC), if it is not there. Call it well before the month begins.
create function card_payment_add_month(month date) returns void language plpgsql as $$
declare
  first date := date_trunc('month', month);
  since bigint := extract(epoch from first::timestamp at time zone 'UTC') * 1000;
  until bigint := extract(epoch from (first + interval '1 month')::timestamp at time zone 'UTC') * 1000;
begin
  execute format('create table if not exists %I partition of card_payment_version for values from (%s) to (%s)',
    'card_payment_version' || to_char(first, '"_"YYYY"_"MM'), since, until);
end
$$;

-- Drops the part of one month once the retention (PAYMENT_RETENTION_MS) has emptied it, and says whether it did: what is
-- left in it belongs to payments that are still there. Waits two seconds for each of the tables at most.
create function card_payment_drop_month(month date) returns boolean language plpgsql set lock_timeout = '2s' as $$
declare
  part text := 'card_payment_version' || to_char(month, '"_"YYYY"_"MM');
  look text := format('select not exists (select from %I)', part);
  is_empty boolean;
begin
  -- Before the locks, too: payments wait neither for a month that stays nor while many dead rows are passed over.
  execute look into is_empty;
  if not is_empty then
    return false;
  end if;
  -- The whole table before its part, as everyone does: in another order they could wait for each other.
  lock table only card_payment_version in access exclusive mode;
  execute format('lock table %I in access exclusive mode', part);
  execute look into is_empty;
  if is_empty then
    execute format('drop table %I', part);
  end if;
  return is_empty;
end
$$;

-- This month and the next three. Make further ones each month; each empty part costs every look-up by id a page or two.
select card_payment_add_month((date_trunc('month', now() at time zone 'UTC') + make_interval(months => n))::date)
  from generate_series(0, 3) as n;

-- For months that nobody has made: a payment must not fail for want of a part. It has to be empty when they are made.
create table card_payment_version_other partition of card_payment_version default;

insert into card_payment_schema_version (version, lowest, applied_at)
  values (1, 1, floor(extract(epoch from now()) * 1000));

commit;
