/** Answers that describe refs must not be kept by anybody on the way. */
export const neverCached = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
}

/** What every route of this plugin has in common. */
export const common = { scope: 'none', open: true, refusals: 'text', realm: 'Gitea' } as const
