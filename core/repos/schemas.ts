import type { TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { ExternalTracker, ExternalWiki, InternalTracker } from './units.ts'

export const Permission = Type.Object(
  { admin: Type.Boolean(), push: Type.Boolean(), pull: Type.Boolean() },
  { $id: 'Permission', description: 'What the caller may do.' },
)

const text = (description: string) => Type.String({ description })
const flag = (description: string) => Type.Boolean({ description })
const time = (description: string) => Type.String({ format: 'date-time', description })

/** The record of a repository, with the fields that plugins add. `parent` is the record itself, without a parent. */
export function repositorySchema(added: Record<string, TSchema>) {
  return Type.Object(
    {
      id: Type.Integer(),
      owner: Type.Ref('User'),
      name: Type.String(),
      full_name: text('owner/name'),
      description: Type.String(),
      empty: flag('No branch has been pushed yet.'),
      private: Type.Boolean(),
      fork: Type.Boolean(),
      template: Type.Boolean(),
      parent: Type.Optional(Type.Ref('Repository')),
      mirror: Type.Boolean(),
      size: Type.Integer({ description: 'KiB on disk.' }),
      language: text('The language with most bytes.'),
      languages_url: Type.String(),
      html_url: Type.String(),
      url: Type.String(),
      link: Type.String(),
      ssh_url: Type.String(),
      clone_url: Type.String(),
      original_url: text('Where it was imported from.'),
      website: Type.String(),
      branch_count: Type.Integer(),
      default_branch: Type.String(),
      default_target_branch: Type.Optional(text('Base branch that new pull requests propose.')),
      archived: Type.Boolean(),
      created_at: time('When it was created.'),
      updated_at: time('When it last changed.'),
      archived_at: time('1970-01-01T00:00:00Z when it is not archived.'),
      permissions: Type.Optional(Type.Ref('Permission')),
      has_code: Type.Boolean(),
      has_issues: Type.Boolean(),
      internal_tracker: Type.Optional(InternalTracker),
      external_tracker: Type.Optional(ExternalTracker),
      has_wiki: Type.Boolean(),
      external_wiki: Type.Optional(ExternalWiki),
      has_pull_requests: Type.Boolean(),
      has_projects: Type.Boolean(),
      projects_mode: Type.String(),
      has_releases: Type.Boolean(),
      has_packages: Type.Boolean(),
      has_actions: Type.Boolean(),
      ignore_whitespace_conflicts: Type.Boolean(),
      allow_merge_commits: Type.Boolean(),
      allow_rebase: Type.Boolean(),
      allow_rebase_explicit: Type.Boolean(),
      allow_squash_merge: Type.Boolean(),
      allow_fast_forward_only_merge: Type.Boolean(),
      allow_merge_update: Type.Boolean(),
      allow_rebase_update: Type.Boolean(),
      allow_manual_merge: Type.Boolean(),
      autodetect_manual_merge: Type.Boolean(),
      default_delete_branch_after_merge: Type.Boolean(),
      default_merge_style: Type.String(),
      default_update_style: Type.String(),
      default_allow_maintainer_edit: Type.Boolean(),
      avatar_url: Type.String(),
      internal: flag('Not private, but its owner is.'),
      mirror_interval: Type.String(),
      object_format_name: Type.Unsafe<'sha1' | 'sha256'>({ type: 'string', enum: ['sha1', 'sha256'] }),
      mirror_updated: time('0001-01-01T00:00:00Z when it is no mirror.'),
      mirror_last_sync_at: time('0001-01-01T00:00:00Z when it is no mirror.'),
      licenses: Type.Array(Type.String()),
      ...added,
    },
    { $id: 'Repository', description: 'A repository.' },
  )
}
