/** The part of autocannon that the bench uses; the package ships no types. */
declare module 'autocannon' {
  export type Options = {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly headers: Readonly<Record<string, string>>
  }
  export type Result = {
    readonly requests: { readonly average: number; readonly total: number }
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly non2xx: number
    readonly errors: number
    readonly timeouts: number
  }
  const autocannon: (options: Options) => Promise<Result>
  export default autocannon
}
