import type { Migration } from '../db/index.ts'

export const reposMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table repository (
        id bigserial primary key,
        owner_id bigint not null,
        name text not null,
        lower_name text not null,
        description text not null default '',
        website text not null default '',
        is_private boolean not null default false,
        is_template boolean not null default false,
        is_archived boolean not null default false,
        archived_at timestamptz null,
        is_empty boolean not null default true,
        is_mirror boolean not null default false,
        original_url text not null default '',
        parent_id bigint null,
        default_branch text not null,
        object_format text not null default 'sha1',
        trust_model text not null default 'default',
        git_size bigint not null default '0',
        language text not null default '',
        licenses text[] not null default '{}',
        avatar text null,
        units jsonb not null default '{}',
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`,
      `create index repository_parent_id_index on repository (parent_id)`,
      `alter table repository add constraint repository_owner_id_lower_name_unique unique (owner_id, lower_name)`,
      `create table git_write (
        id bigserial primary key,
        repository_id bigint not null,
        actor_id bigint null,
        started_at timestamptz not null default now()
      )`,
      `create index git_write_repository_id_index on git_write (repository_id)`,
      `create table git_ref (
        repository_id bigint not null,
        name text not null,
        object_id text not null,
        object_type text not null,
        commit_id text not null,
        committed_at timestamptz not null,
        facts jsonb not null,
        updated_by_id bigint null,
        primary key (repository_id, name)
      )`,
      `create index git_ref_updated_by_id_index on git_ref (updated_by_id)`,
      `create table collaborator (
        repository_id bigint not null,
        account_id bigint not null,
        mode text not null,
        primary key (repository_id, account_id)
      )`,
      `create index collaborator_account_id_index on collaborator (account_id)`,
      `create table repository_redirect (
        owner_id bigint not null,
        lower_name text not null,
        repository_id bigint not null,
        primary key (owner_id, lower_name)
      )`,
      `create index repository_redirect_repository_id_index on repository_redirect (repository_id)`,
      `alter table repository add constraint repository_owner_id_foreign foreign key (owner_id) references account (id)`,
      `alter table git_write add constraint git_write_repository_id_foreign foreign key (repository_id) references repository (id) on delete cascade`,
      `alter table git_ref add constraint git_ref_repository_id_foreign foreign key (repository_id) references repository (id) on delete cascade`,
      `alter table git_ref add constraint git_ref_updated_by_id_foreign foreign key (updated_by_id) references account (id) on delete set null`,
      `alter table collaborator add constraint collaborator_repository_id_foreign foreign key (repository_id) references repository (id) on update cascade on delete cascade`,
      `alter table collaborator add constraint collaborator_account_id_foreign foreign key (account_id) references account (id) on update cascade on delete cascade`,
      `alter table repository_redirect add constraint repository_redirect_owner_id_foreign foreign key (owner_id) references account (id) on delete cascade`,
      `alter table repository_redirect add constraint repository_redirect_repository_id_foreign foreign key (repository_id) references repository (id) on delete cascade`,
    ],
  },
]
