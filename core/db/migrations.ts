import type { Migration } from './migrate.ts'

export const migrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table outbox (
        id bigserial primary key,
        kind text not null,
        name text not null,
        payload jsonb not null,
        created_at timestamptz not null default now(),
        dispatched_at timestamptz null
      )`,
      `create index outbox_waiting on outbox (id) where dispatched_at is null`,
      `create table setting (
        section text not null,
        key text not null,
        value text not null,
        changed_at timestamptz not null default now(),
        primary key (section, key)
      )`,
    ],
  },
]
