export { parseLogOptions } from './log-options.ts'
export type { LogOptions } from './log-options.ts'
export { readLog } from './read-log.ts'
export type { LogReader } from './read-log.ts'
