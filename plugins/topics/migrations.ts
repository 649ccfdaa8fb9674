import type { Migration } from '#core/db'

export const topicMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table topic (
        id bigserial primary key,
        name text not null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`,
      `alter table topic add constraint topic_name_unique unique (name)`,
      `create table repository_topic (
        repository_id bigint not null,
        topic_id bigint not null,
        primary key (repository_id, topic_id)
      )`,
      `create index repository_topic_topic_id_index on repository_topic (topic_id)`,
      `alter table repository_topic add constraint repository_topic_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
      `alter table repository_topic add constraint repository_topic_topic_id_foreign foreign key (topic_id) references topic (id) on update cascade on delete cascade`,
    ],
  },
]
