import type { Migration } from '../db/index.ts'

export const identityMigrations: readonly Migration[] = [
  {
    name: '0001-start',
    up: [
      `create table account (
        id bigserial primary key,
        kind text not null default 'individual',
        name text not null,
        lower_name text not null,
        full_name text not null default '',
        email text not null default '',
        hide_email boolean not null default false,
        hide_activity boolean not null default false,
        password_hash text null,
        must_change_password boolean not null default false,
        is_active boolean not null default true,
        is_admin boolean not null default false,
        is_restricted boolean not null default false,
        prohibit_login boolean not null default false,
        allow_git_hook boolean not null default false,
        allow_import_local boolean not null default false,
        allow_create_organization boolean not null default true,
        max_repo_creation int not null default -1,
        visibility text not null default 'public',
        website text not null default '',
        location text not null default '',
        description text not null default '',
        language text not null default '',
        theme text not null default '',
        diff_view_style text not null default '',
        login_name text not null default '',
        source_id bigint not null default '0',
        avatar text null,
        last_login_at timestamptz null,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`,
      `alter table account add constraint account_lower_name_unique unique (lower_name)`,
      `create table access_token (
        id bigserial primary key,
        account_id bigint not null,
        name text not null,
        digest bytea not null,
        last_eight text not null,
        scopes text[] not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz null
      )`,
      `alter table access_token add constraint access_token_digest_unique unique (digest)`,
      `alter table access_token add constraint access_token_account_id_name_unique unique (account_id, name)`,
      `create table account_block (
        id bigserial primary key,
        account_id bigint not null,
        blocked_id bigint not null,
        note text not null default '',
        created_at timestamptz not null default now()
      )`,
      `create index account_block_blocked_id_index on account_block (blocked_id)`,
      `alter table account_block add constraint account_block_account_id_blocked_id_unique unique (account_id, blocked_id)`,
      `create table account_redirect (
        lower_name text not null,
        account_id bigint not null,
        primary key (lower_name)
      )`,
      `create index account_redirect_account_id_index on account_redirect (account_id)`,
      `create table email_address (
        id bigserial primary key,
        account_id bigint not null,
        address text not null,
        lower_address text not null,
        is_activated boolean not null default true,
        is_primary boolean not null default false
      )`,
      `create index email_address_account_id_index on email_address (account_id)`,
      `alter table email_address add constraint email_address_lower_address_unique unique (lower_address)`,
      `create table ssh_key (
        id bigserial primary key,
        account_id bigint not null,
        title text not null,
        content text not null,
        fingerprint text not null,
        created_at timestamptz not null default now(),
        last_used_at timestamptz null
      )`,
      `alter table ssh_key add constraint ssh_key_fingerprint_unique unique (fingerprint)`,
      `alter table ssh_key add constraint ssh_key_account_id_title_unique unique (account_id, title)`,
      `create table totp_device (
        account_id bigint not null,
        secret bytea not null,
        last_step bigint not null default '0',
        primary key (account_id)
      )`,
      `alter table access_token add constraint access_token_account_id_foreign foreign key (account_id) references account (id) on delete cascade`,
      `alter table account_block add constraint account_block_account_id_foreign foreign key (account_id) references account (id) on delete cascade`,
      `alter table account_block add constraint account_block_blocked_id_foreign foreign key (blocked_id) references account (id) on delete cascade`,
      `alter table account_redirect add constraint account_redirect_account_id_foreign foreign key (account_id) references account (id) on delete cascade`,
      `alter table email_address add constraint email_address_account_id_foreign foreign key (account_id) references account (id) on delete cascade`,
      `alter table ssh_key add constraint ssh_key_account_id_foreign foreign key (account_id) references account (id) on delete cascade`,
      `alter table totp_device add constraint totp_device_account_id_foreign foreign key (account_id) references account (id) on update cascade on delete cascade`,
    ],
  },
  {
    name: '0002-ssh-key-comment',
    up: [`alter table ssh_key add column comment text not null default ''`],
  },
]
