export { defaultRules } from './state.ts'
export type { Absence, ChangeType, RestartReason, WatcherRules, WatcherState } from './state.ts'
export { Watcher } from './watcher.ts'
export type { WatchScope, WatcherListener, WatcherOptions } from './watcher.ts'
