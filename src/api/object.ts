import type { ObjectMeta } from './generated/types.ts'

export type { ObjectMeta, OwnerReference } from './generated/types.ts'

/** What every stored object has. Times are RFC 3339 strings, as on the wire. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
}

/** Anything that JSON can say. An integer that is not safe as a number is a bigint, as in `Int64`. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json }
