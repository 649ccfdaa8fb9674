import { type Static, Type } from '@sinclair/typebox'
import { Duration, duration } from '../config/index.ts'
import type { HttpFacts } from './app.ts'

const levels = ['debug', 'info', 'warn', 'error', 'silent'] as const

/** Keys of app.ini that this room reads. */
export const httpConfig = {
  server: Type.Object({
    PUBLIC_URL_DETECTION: Type.Union([Type.Literal('auto'), Type.Literal('never')], {
      default: 'auto',
      description: 'auto: links follow the address that the client used. never: they follow ROOT_URL.',
    }),
    TRUSTED_PROXIES: Type.Array(Type.String(), {
      default: [],
      description: 'Networks of proxies whose X-Forwarded headers are believed, for example 127.0.0.0/8.',
    }),
  }),
  api: Type.Object({
    ENABLE_SWAGGER: Type.Boolean({ default: true, description: 'Serves the description of the API and its page.' }),
    DEFAULT_PAGING_NUM: Type.Integer({ default: 30, minimum: 1, description: 'Items on a page of a list.' }),
    MAX_RESPONSE_ITEMS: Type.Integer({ default: 50, minimum: 1, description: 'Most items on a page of a list.' }),
    DEFAULT_GIT_TREES_PER_PAGE: Type.Integer({
      default: 1000,
      minimum: 1,
      description: 'Entries on a page of a tree.',
    }),
    DEFAULT_MAX_BLOB_SIZE: Type.Integer({
      default: 10_485_760,
      minimum: 0,
      description: 'Largest file in bytes whose content is put into an answer.',
    }),
    DEFAULT_MAX_RESPONSE_SIZE: Type.Integer({
      default: 104_857_600,
      minimum: 0,
      description: 'Most bytes of file contents in one answer.',
    }),
  }),
  security: Type.Object({
    X_FRAME_OPTIONS: Type.String({
      default: 'SAMEORIGIN',
      description: 'Value of the header; unset leaves it out.',
    }),
  }),
  cors: Type.Object({
    ENABLED: Type.Boolean({ default: false, description: 'Lets pages of other origins call the API.' }),
    ALLOW_DOMAIN: Type.Array(Type.String(), { default: ['*'], description: 'Origins that may call.' }),
    METHODS: Type.Array(Type.String(), {
      default: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      description: 'Methods that they may use.',
    }),
    HEADERS: Type.Array(Type.String(), {
      default: ['Content-Type', 'User-Agent'],
      description: 'Headers that they may send beside those that the API needs.',
    }),
    MAX_AGE: Duration('10m', 'How long browsers may remember the permission.'),
    ALLOW_CREDENTIALS: Type.Boolean({ default: false, description: 'Lets them send credentials.' }),
  }),
  log: Type.Object({
    LEVEL: Type.Union(
      levels.map((level) => Type.Literal(level)),
      {
        default: 'warn',
        description: 'What is logged to standard error; info adds a line for each request.',
      },
    ),
  }),
}

type Sections = { readonly [S in keyof typeof httpConfig]: Readonly<Static<(typeof httpConfig)[S]>> }

/** What the room must know of the operator's decisions. */
export function httpFacts(config: Sections, rootUrl: string, version: string): HttpFacts {
  const { api, cors, security, server } = config
  return {
    rootUrl: rootUrl.endsWith('/') ? rootUrl : `${rootUrl}/`,
    version,
    paging: { standard: Math.min(api.DEFAULT_PAGING_NUM, api.MAX_RESPONSE_ITEMS), most: api.MAX_RESPONSE_ITEMS },
    bodyLimit: 1_048_576,
    detectPublicUrl: server.PUBLIC_URL_DETECTION === 'auto',
    swagger: api.ENABLE_SWAGGER,
    frameOptions: security.X_FRAME_OPTIONS === 'unset' ? '' : security.X_FRAME_OPTIONS,
    trustedProxies: server.TRUSTED_PROXIES,
    ...(cors.ENABLED
      ? {
          cors: {
            allowDomain: cors.ALLOW_DOMAIN,
            methods: cors.METHODS,
            headers: cors.HEADERS,
            maxAgeSeconds: Math.round(duration(cors.MAX_AGE) / 1000),
            allowCredentials: cors.ALLOW_CREDENTIALS,
          },
        }
      : {}),
  }
}
