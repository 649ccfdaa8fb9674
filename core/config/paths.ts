import { resolve } from 'node:path'

/** Absolute folders of one host. They are made by the rooms that fill them. */
export type Paths = {
  /** Everything that the host keeps, unless another path says otherwise. */
  readonly data: string
  readonly repositories: string
  readonly storage: string
  /** Sockets; its content does not outlive the process. */
  readonly run: string
}

/** Relative paths of repositories and storage count from the data folder. */
export function pathsBelow(data: string, repositories: string, storage: string): Paths {
  const root = resolve(data)
  return {
    data: root,
    repositories: resolve(root, repositories || 'repositories'),
    storage: resolve(root, storage || 'storage'),
    run: resolve(root, 'run'),
  }
}
