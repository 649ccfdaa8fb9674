import {
  type Access,
  type ByAccount,
  forbidden,
  type InRepository,
  locked,
  notFound,
  repositoryOf,
  signedInAccount,
} from '#core/http'
import { authorize } from '#core/identity'

/**
 * Who may change files: writers of the code. That a repository is frozen is told before anything is asked of the
 * caller, as the contract has it.
 */
export const editor: Access<InRepository & ByAccount> = {
  name: 'repository write code signed in edit',
  refusals: [401, 403, 404, 423],
  async admit(approach) {
    const repo = await repositoryOf(approach)
    if (repo.repo.is_archived || repo.repo.is_mirror) throw locked('repo is not allowed to edit')
    const me = signedInAccount(approach)
    const verdict = authorize(approach.actor, 'write', repo, 'code')
    if (verdict.ok) return { repo, me }
    if (verdict.answer === 'hidden') throw notFound()
    throw forbidden('user should have a permission to write to the target branch')
  },
}
