export { HttpTransport } from './http-transport.ts'
export type { HttpTransportOptions } from './http-transport.ts'
