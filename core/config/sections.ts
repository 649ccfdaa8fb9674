import { Type } from '@sinclair/typebox'
import type { SectionSchemas } from './schema.ts'

/** The keys that the core itself reads. */
export const coreSections = {
  server: Type.Object({
    HTTP_ADDR: Type.String({
      default: '127.0.0.1',
      minLength: 1,
      description: 'Address to listen on. 0.0.0.0 is every IPv4 address of the machine.',
    }),
    HTTP_PORT: Type.Integer({
      default: 3000,
      minimum: 0,
      maximum: 65535,
      description: 'Port to listen on. 0 takes any free one.',
    }),
    ROOT_URL: Type.String({
      default: '',
      pattern: '^$|^https?://[^\\s]+$',
      allowed: 'an http or https URL',
      description: 'Where users reach this host, as links and clone URLs show it. Empty: made of address and port.',
    }),
    DOMAIN: Type.String({ default: '', description: 'Name of this host. Empty: the host name in ROOT_URL.' }),
    APP_DATA_PATH: Type.String({
      default: '',
      description:
        'Folder of everything that the host keeps; --data wins. Empty: ./data. A relative path counts from this file.',
    }),
  }),
  database: Type.Object({
    URL: Type.String({
      default: '',
      pattern: '^$|^postgres(ql)?://',
      allowed: 'a URL such as postgres://user:password@host:5432/name',
      description: 'PostgreSQL to use, also read from DATABASE_URL. Empty: the embedded server in the data folder.',
    }),
    POOL: Type.Integer({
      default: 10,
      minimum: 2,
      maximum: 1000,
      description: 'Most connections that one process opens.',
    }),
  }),
  queue: Type.Object({
    REDIS_URL: Type.String({
      default: '',
      pattern: '^$|^rediss?://',
      allowed: 'a URL such as redis://host:6379/0',
      description: 'Redis for background jobs. Empty: jobs run on PostgreSQL.',
    }),
  }),
  repository: Type.Object({
    ROOT: Type.String({
      default: '',
      description: 'Folder of the repositories. Empty: repositories, in the data folder.',
    }),
  }),
  storage: Type.Object({
    PATH: Type.String({ default: '', description: 'Folder of uploaded files. Empty: storage, in the data folder.' }),
  }),
  security: Type.Object({
    SECRET_KEY: Type.String({
      default: '',
      pattern: '^$|^.{32,}$',
      allowed: 'at least 32 characters',
      secret: true,
      description:
        'Protects stored secrets. Empty: made at the first start and kept in the file secret in the data folder.',
    }),
  }),
} satisfies SectionSchemas
