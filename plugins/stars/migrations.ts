import type { Migration } from '#core/db'

export const starMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table star (
        repository_id bigint not null,
        account_id bigint not null,
        created_at timestamptz not null default now(),
        primary key (repository_id, account_id)
      )`,
      `create index star_account_id_index on star (account_id)`,
      `alter table star add constraint star_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
      `alter table star add constraint star_account_id_foreign foreign key (account_id) references account (id) on update cascade on delete cascade`,
    ],
  },
]
