import type { Migration } from '#core/db'

export const watchMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table watch (
        repository_id bigint not null,
        account_id bigint not null,
        created_at timestamptz not null default now(),
        primary key (repository_id, account_id)
      )`,
      `create index watch_account_id_index on watch (account_id)`,
      `alter table watch add constraint watch_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
      `alter table watch add constraint watch_account_id_foreign foreign key (account_id) references account (id) on update cascade on delete cascade`,
    ],
  },
]
