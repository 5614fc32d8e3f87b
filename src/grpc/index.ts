export { type TlsSource, parseAddress } from './address.ts'
export type { Call, CallOptions, CallReceiver, Method } from './call.ts'
export { Channel } from './channel.ts'
export { bool, bytes, int, int64, map, nested, optional, repeated, string, uint64 } from './fields.ts'
export {
  type Decoded,
  type Encodable,
  type MessageFields,
  type MessageOf,
  type MessageType,
  message,
} from './message.ts'

export { RpcError } from './status.ts'
