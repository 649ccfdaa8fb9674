import { defineEntity, p } from '@mikro-orm/core'
import { Account } from '../identity/entities.ts'

export const Repository = defineEntity({
  name: 'Repository',
  tableName: 'repository',
  uniques: [{ properties: ['owner', 'lower_name'] }],
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    owner: () => p.manyToOne(Account),
    name: p.string(),
    lower_name: p.string(),
    description: p.text().default(''),
    website: p.string().default(''),
    is_private: p.boolean().default(false),
    is_template: p.boolean().default(false),
    is_archived: p.boolean().default(false),
    archived_at: p.datetime().nullable(),
    /** No branch yet. */
    is_empty: p.boolean().default(true),
    /** A pull mirror: nobody but its source may write to it. */
    is_mirror: p.boolean().default(false),
    original_url: p.string().default(''),
    /** The repository that this one was forked from. */
    parent_id: p.bigint('number').nullable().index(),
    default_branch: p.string(),
    /** sha1 or sha256 */
    object_format: p.string().default('sha1'),
    trust_model: p.string().default('default'),
    /** Bytes on disk, measured after each push. */
    git_size: p.bigint('number').default(0),
    /** Name of the language with most bytes; '' when unknown. */
    language: p.string().default(''),
    /** SPDX ids found on the default branch. */
    licenses: p.array().default([]),
    avatar: p.string().nullable(),
    /** Enabled units with their settings: `{ "code": {}, "issues": {…} }`; see units.ts. */
    units: p.json().default('{}'),
    created_at: p.datetime().defaultRaw('now()'),
    updated_at: p.datetime().defaultRaw('now()'),
  },
})

/** An old name that leads to a repository. */
export const RepositoryRedirect = defineEntity({
  name: 'RepositoryRedirect',
  tableName: 'repository_redirect',
  properties: {
    owner: () => p.manyToOne(Account).primary().deleteRule('cascade'),
    lower_name: p.string().primary(),
    repository: () => p.manyToOne(Repository).deleteRule('cascade').index(),
  },
})

/** A person with a role of their own in one repository. */
export const Collaborator = defineEntity({
  name: 'Collaborator',
  tableName: 'collaborator',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    account: () => p.manyToOne(Account).primary().deleteRule('cascade').index(),
    /** read, write, admin */
    mode: p.string(),
  },
})

/** What PostgreSQL knows of a branch or tag, so that lists need no git. Written with the push that moved it. */
export const GitRef = defineEntity({
  name: 'GitRef',
  tableName: 'git_ref',
  properties: {
    repository: () => p.manyToOne(Repository).primary().deleteRule('cascade'),
    /** Full name: refs/heads/main. */
    name: p.string().primary(),
    /** What the ref points to: a commit, or the tag object of an annotated tag. */
    object_id: p.string(),
    object_type: p.string(),
    /** The commit behind it. */
    commit_id: p.string(),
    /** When the commit was made, or the annotated tag. */
    committed_at: p.datetime(),
    /** The commit's facts (CommitFacts of git/); tag message and tagger beside it for annotated tags. */
    facts: p.json(),
    updated_by: () => p.manyToOne(Account).nullable().deleteRule('set null').index(),
  },
})

/** A write to git that is under way. What a crash cut off between git and PostgreSQL is found by these rows. */
export const GitWrite = defineEntity({
  name: 'GitWrite',
  tableName: 'git_write',
  properties: {
    id: p.bigint('number').primary().autoincrement(),
    repository: () => p.manyToOne(Repository).deleteRule('cascade').index(),
    actor_id: p.bigint('number').nullable(),
    started_at: p.datetime().defaultRaw('now()'),
  },
})

export const reposEntities = [Repository, RepositoryRedirect, Collaborator, GitRef, GitWrite] as const
