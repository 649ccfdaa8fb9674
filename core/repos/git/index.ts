/**
 * Git over bare repositories on disk: no database, no HTTP, no users. `createGit()` once per process, `git.open(path)`
 * per repository, and then functions that take the repository first. What a caller may read is refused with Refusal;
 * GitFailure means that git itself could not.
 */
export * from './archive.ts'
export * from './blob.ts'
export type { ObjectContent, ObjectInfo, ObjectType } from './cat-file.ts'
export {
  type CommitFacts,
  gitDate,
  type Person,
  parsePerson,
  readCommit,
  readCommits,
  readTag,
  type TagFacts,
} from './commit.ts'
export * from './diff.ts'
export * from './git.ts'
export * from './log.ts'
export * from './maintenance.ts'
export * from './merge.ts'
export {
  cleanTreePath,
  describeRef,
  isBranchName,
  isRefName,
  isTagName,
  pathComponentFault,
  readTreePath,
  refNameFault,
} from './names.ts'
export { type NewCommit, type NewTag, type Sign, type Signer, writeBlob, writeCommit, writeTag } from './object.ts'
export type { Change, Content, Plan } from './plan.ts'
export { type Landed, type ReceiveOptions, receivePack } from './receive.ts'
export type { PushResult, ReportedAs } from './receive-report.ts'
export type { Limits, PushCommand } from './receive-request.ts'
export type { Push, Verdict } from './receive-verdict.ts'
export {
  type ListRefsOptions,
  listRefs,
  type Ref,
  RefConflict,
  type RefUpdate,
  type RefWithFacts,
  readHead,
  readRef,
  readRefFacts,
  readRefs,
  updateRefs,
  writeHead,
} from './refs.ts'
export * from './repository.ts'
export * from './revision.ts'
export { GitFailure, type GitProcess, type RunOptions, type RunResult, type StartOptions } from './run.ts'
export * from './transport.ts'
export {
  type EntryType,
  entryType,
  findEntry,
  type ListTreeOptions,
  listDirectory,
  listTree,
  type RawEntry,
  readEntry,
  readLinkTarget,
  readSubmodules,
  readTree,
  type TreeEntry,
  type TreePage,
} from './tree.ts'
export {
  applyPatch,
  type BranchWrite,
  commitChanges,
  commitPatch,
  commitTree,
  type Draft,
  type Written,
} from './write.ts'
