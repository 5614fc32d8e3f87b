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

/** A JSON object whose fields are not checked yet. */
export type Fields = Record<string, unknown>

/** True for a JSON object: neither null nor a list. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The last formatted second. Under load, hundreds of objects share it. */
let written = { second: Number.NaN, text: '' }

/** Formats a time as the API does: in whole seconds, rounded down. */
export function timestamp(ms: number): string {
  const second = Math.floor(ms / 1000)
  if (second !== written.second) written = { second, text: `${new Date(ms).toISOString().slice(0, 19)}Z` }
  return written.text
}

/** The last formatted millisecond. Many audit events share one. */
let precise = { ms: Number.NaN, text: '' }

/** Formats a time with microseconds, as leases and audit events have it. The last three digits are always 0. */
export function microTime(ms: number): string {
  if (ms !== precise.ms) precise = { ms, text: `${new Date(ms).toISOString().slice(0, -1)}000Z` }
  return precise.text
}

/** Parses a time of the API to milliseconds; NaN if it is absent or invalid. */
export const millisecondsOf = (time: string | null | undefined): number => (!time ? Number.NaN : Date.parse(time))

/** The earliest of some API times. Undefined if there is none. */
export function earliest(times: Iterable<string | undefined>): string | undefined {
  let first: string | undefined
  for (const time of times) if (time && (!first || Date.parse(time) < Date.parse(first))) first = time
  return first
}
