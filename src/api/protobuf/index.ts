export { decodeProtobuf, openEnvelope } from './decode.ts'
export { ProtobufError } from './wire.ts'
