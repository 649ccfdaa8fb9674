import type { Config as Values } from '../config/index.ts'
import { service } from './tokens.ts'

/** The operator's settings as a service. It follows reloads: read a value when it is used. */
export type Config = Values
export const Config = service<Config>('config.config')
