/**
 * The plugin engine: tokens, manifests, the order of needs, and the host that turns plugins on and off live.
 * It knows no HTTP and no SQL; what other rooms do for a plugin comes in through `activate`.
 */
export * from './config.ts'
export * from './features.ts'
export * from './host.ts'
export * from './manifest.ts'
export * from './order.ts'
export * from './refusal.ts'
export * from './registry.ts'
export * from './switches.ts'
export * from './tokens.ts'
