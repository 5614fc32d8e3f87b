import type { ObjectMeta } from './generated/types.ts'

export type { ObjectMeta, OwnerReference } from './generated/types.ts'

/** What every stored object has. Times are RFC 3339 strings, as on the wire. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
}

/** Anything that JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
