import type { Migration } from '#core/db'

export const starMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table star (
        repository_id bigint not null references repository (id) on update cascade on delete cascade,
        account_id bigint not null references account (id) on update cascade on delete cascade,
        created_at timestamptz not null default now(),
        constraint star_pkey primary key (repository_id, account_id)
      )`,
      'create index star_account_id_index on star (account_id)',
    ],
  },
]
