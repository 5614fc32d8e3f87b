import type { ObjectMeta } from './generated/types.ts'

export type { ObjectMeta, OwnerReference } from './generated/types.ts'

/** The fields of every stored object. Times are RFC 3339 strings, as on the wire. */
export interface KubeObject {
  apiVersion?: string
  kind?: string
  metadata: ObjectMeta
}

/** Any JSON value. An integer that is not safe as a number is a bigint, as in `Int64`. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json }

/** A value with all parts optional, as users write it or tests need it. */
export type Partly<T> = T extends (infer Item)[]
  ? Partly<Item>[]
  : T extends object
    ? { [Key in keyof T]?: Partly<T[Key]> }
    : T

/** Formats a time as the API does: in whole seconds, rounded down. */
export const timestamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** Parses a time of the API to milliseconds; NaN if it is absent or invalid. */
export const millisecondsOf = (time: string | null | undefined): number => (!time ? Number.NaN : Date.parse(time))
