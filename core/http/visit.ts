import type { ServerResponse } from 'node:http'
import type { Visit } from './request.ts'

const visited = Symbol('visit')
type Watched = ServerResponse & { [visited]?: Visit }

/** Notes the end of the answer, or that the client has gone; `close` comes in both cases. One listener for all. */
export function watchClose(response: Watched, visit: Visit): void {
  // The client may have gone while its credentials were checked; then nobody tells us any more.
  if (response.destroyed) visit.answered = true
  response[visited] = visit
  response.once('close', noteClose)
}
function noteClose(this: Watched): void {
  const visit = this[visited]
  if (visit === undefined) return
  visit.answered = true
  leaveWhenOver(visit)
}

/** Notes that gate and handler are done with a request, however it went. Requests that met no gate have no visit. */
export function endWork(visit: Visit | null | undefined): void {
  if (!visit) return
  visit.working = false
  leaveWhenOver(visit)
}

/** A plugin is left once the work is done and the answer has gone, in whichever order this happens. */
function leaveWhenOver(visit: Visit): void {
  const { door, working, answered } = visit
  if (door === undefined || working || !answered) return
  visit.door = undefined
  door.leave()
}
