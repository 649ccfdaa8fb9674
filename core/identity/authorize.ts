import { type Actor, isPublicOnly, isSiteAdmin } from './actor.ts'

/** Rights from least to most; each includes those before it. */
export const accessModes = ['none', 'read', 'write', 'admin', 'owner'] as const
export type AccessMode = (typeof accessModes)[number]

/** What a route, a git verb or a job wants to do. `site`: only site administrators may. */
export type Action = Exclude<AccessMode, 'none'> | 'site'

/** Something whose use is restricted, as one actor meets it. */
export type Guarded = {
  /** Names the thing in refusals: `repo`, `organization`. */
  readonly kind: string
  /** Whether a public-only token may see it. */
  readonly isPublic: boolean
  /** Whether the actor may not even know that it exists. */
  readonly hidden: boolean
  /** The actor's right in it, or in one unit of it. */
  modeFor(unit?: string): AccessMode
  /** Texts of the 403 by action; a general one unless given. */
  readonly refusals?: Partial<Record<Action, string>>
}

export type Verdict =
  | { readonly ok: true }
  /** 404: it must look as if the object did not exist. */
  | { readonly ok: false; readonly answer: 'hidden' }
  /** 401 for anonymous callers, otherwise 403, with this text. */
  | { readonly ok: false; readonly answer: 'denied'; readonly message: string }

const allowed: Verdict = { ok: true }
const hidden: Verdict = { ok: false, answer: 'hidden' }

/** The one rule of access: REST, git, raw files, gRPC and jobs all ask here. */
export function authorize(actor: Actor, action: Action, object: Guarded, unit?: string): Verdict {
  if (isPublicOnly(actor) && !object.isPublic) return hidden
  if (isSiteAdmin(actor)) return allowed
  if (action === 'site') return denied(object, action, 'user should be the site admin')
  if (object.hidden) return hidden
  const have = accessModes.indexOf(object.modeFor(unit))
  if (have >= accessModes.indexOf(action)) return allowed
  return denied(object, action, `user should have a permission to ${action} the ${object.kind}`)
}

function denied(object: Guarded, action: Action, message: string): Verdict {
  // Who may not even see it learns nothing from the wording of a refusal.
  return object.hidden ? hidden : { ok: false, answer: 'denied', message: object.refusals?.[action] ?? message }
}
