import type { Migration } from '#core/db'

export const gitDataMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table repository_language (
        repository_id bigint not null,
        name text not null,
        bytes bigint not null,
        primary key (repository_id, name)
      )`,
      `create table repository_measure (
        repository_id bigint not null,
        commit_id text not null,
        primary key (repository_id)
      )`,
      `alter table repository_language add constraint repository_language_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
      `alter table repository_measure add constraint repository_measure_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
    ],
  },
]
