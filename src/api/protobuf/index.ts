export { decodeProtobuf, openEnvelope } from './decode.ts'
export type { ProtobufEnvelope } from './decode.ts'
export { ProtobufError, wireFields } from './wire.ts'
