import { Agent, request } from 'node:http'

export type Shot = {
  readonly method: string
  /** From the host's root. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}
export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

/**
 * Sends requests as they are written: no redirect is followed and no `..` is resolved, unlike with fetch.
 * Connections are kept and shared by `size` requests at a time.
 */
export function createSender(base: string, size: number) {
  const { hostname: host, port } = new URL(base)
  const agent = new Agent({ keepAlive: true, maxSockets: size })
  const once = ({ method, path, headers, body }: Shot) =>
    new Promise<Reply>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request({ agent, host, port, method, path, headers: { ...length, ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          resolve({ status, headers, text: Buffer.concat(chunks).toString() })
        })
      })
      sent.on('error', reject)
      sent.end(body)
    })
  return {
    /** A request on a connection that the server was just closing is sent again. */
    async send(shot: Shot): Promise<Reply> {
      for (let attempt = 1; ; attempt++) {
        try {
          return await once(shot)
        } catch (error) {
          const { code } = error as NodeJS.ErrnoException
          if (attempt === 3 || (code !== 'ECONNRESET' && code !== 'EPIPE')) throw error
        }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Does `work` on every item, `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < items.length) await work(items[next++] as T)
  }
  await Promise.all(Array.from({ length: width }, worker))
}
