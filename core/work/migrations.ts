import type { Migration } from '../db/index.ts'

const migrations: readonly Migration[] = [
  {
    name: '0001-work',
    up: [
      `create table event_delivery (
        event_id bigint not null,
        listener text not null,
        subject text not null default '',
        attempts int not null default 0,
        due_at timestamptz not null default now(),
        last_error text null,
        done_at timestamptz null,
        dead_at timestamptz null,
        primary key (event_id, listener)
      )`,
      `create index event_delivery_open on event_delivery (listener, event_id) where done_at is null and dead_at is null`,
      `create table listener_lease (
        listener text not null primary key,
        owner text not null,
        held_until timestamptz not null
      )`,
      `create table job_record (
        id bigserial primary key,
        name text not null,
        payload jsonb not null,
        once_key text null,
        attempts int not null default 0,
        round int not null default 0,
        due_at timestamptz not null default now(),
        handed_at timestamptz null,
        created_at timestamptz not null default now(),
        last_error text null,
        done_at timestamptz null,
        dead_at timestamptz null
      )`,
      `create index job_record_open on job_record (id) where done_at is null and dead_at is null`,
      `create unique index job_record_once on job_record (name, once_key)
        where attempts = 0 and done_at is null and dead_at is null`,
      `create table schedule_tick (
        schedule text not null primary key,
        last_at timestamptz not null
      )`,
    ],
  },
]

export const workMigrations = { owner: 'work', migrations } as const
