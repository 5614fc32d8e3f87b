export { InProcessTransport } from './in-process-transport.ts'
export { serveApi } from './serve-api.ts'
export type { RunningApi, ServeOptions } from './serve-api.ts'
