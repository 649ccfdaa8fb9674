import { git } from '#core/repos'

const notesRef = 'refs/notes/commits'

/** The note on a commit, and the commit that recorded it; undefined when there is none. */
export async function readNote(
  repo: git.GitRepo,
  id: string,
): Promise<{ message: string; commit: git.CommitFacts } | undefined> {
  const head = (await git.readRef(repo, notesRef))?.peeledId
  const path = head && (await pathOf(repo, head, id))
  if (!head || !path) return undefined
  const entry = await git.findEntry(repo, head, path)
  const text = entry && (await git.readBlob(repo, entry.id))
  if (!text) return undefined
  const slash = path.lastIndexOf('/')
  const name = path.slice(slash + 1)
  const touched = await git.lastCommits(repo, head, slash < 0 ? '' : path.slice(0, slash), [name])
  const commit = await git.readCommit(repo, touched.get(name) ?? head)
  return commit && { message: text.toString('utf8'), commit }
}

/** Where git filed the note: the id is cut into folders as they fill. */
async function pathOf(repo: git.GitRepo, head: string, id: string): Promise<string | undefined> {
  let folder = ''
  for (let cut = 0; cut < id.length - 2; cut += 2) {
    const entries = await git.readTree(
      repo,
      folder === '' ? head : ((await git.findEntry(repo, head, folder))?.id ?? ''),
    )
    const rest = id.slice(cut)
    if (entries?.some(({ name, mode }) => name === rest && mode !== '040000')) return `${folder}${folder && '/'}${rest}`
    const deeper = rest.slice(0, 2)
    if (!entries?.some(({ name, mode }) => name === deeper && mode === '040000')) return undefined
    folder = `${folder}${folder && '/'}${deeper}`
  }
  return undefined
}
