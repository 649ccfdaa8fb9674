import { Type } from '#core/http'

export const watchConfig = {
  service: Type.Object({
    AUTO_WATCH_NEW_REPOS: Type.Boolean({ default: true, description: 'Whoever creates a repository watches it.' }),
    AUTO_WATCH_ON_CHANGES: Type.Boolean({ default: false, description: 'Whoever pushes to a repository watches it.' }),
  }),
}
