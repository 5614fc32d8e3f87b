export { HttpTransport } from './http-transport.ts'
export type { HttpTransportOptions } from './http-transport.ts'
export { dial } from './dial.ts'
export type { DialOptions } from './dial.ts'
