/**
 * The command `switchyard`: its command line, the control socket of running processes, and the shape in which
 * plugins declare commands of their own. What it needs of the rest of the program is the type `Host`.
 */
export * from './command.ts'
export { askAll, controlFolder, openControl, type ProcessStatus } from './control.ts'
export type { Check, Connected, Finding, Host, Loaded, Role, Running, SwitchState } from './host.ts'
export { run } from './run.ts'
export { table } from './table.ts'
