import type { Migration } from '#core/db'

export const accountsMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table follow (
        follower_id bigint not null,
        followed_id bigint not null,
        created_at timestamptz not null default now(),
        primary key (follower_id, followed_id)
      )`,
      'create index follow_followed_id_index on follow (followed_id)',
      `alter table follow add constraint follow_follower_id_foreign foreign key (follower_id) references account (id) on update cascade on delete cascade`,
      `alter table follow add constraint follow_followed_id_foreign foreign key (followed_id) references account (id) on update cascade on delete cascade`,
    ],
  },
]
