import type { KubeObject } from '../api/object.ts'

/**
 * Fields that are always present in a read object but optional in a written one: `resources` of a container, `strategy`
 * of a Deployment.
 */
type Omissible<T> = {
  [K in keyof T]-?: undefined extends T[K]
    ? never
    : T[K] extends readonly unknown[]
      ? never
      : {} extends Draft<T[K]>
        ? K
        : never
}[keyof T]

/** The writable form of `T`. */
export type Draft<T> = T extends readonly (infer U)[]
  ? Draft<U>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { [K in keyof T as K extends Omissible<T> ? never : K]: Draft<T[K]> } & { [K in Omissible<T>]?: Draft<T[K]> }
    : T

/** Any part of a value, for server-side apply. */
type Partly<T> = T extends readonly (infer U)[]
  ? readonly Partly<U>[]
  : T extends object
    ? { [K in keyof T]?: Partly<T[K]> | undefined }
    : T

/** A configuration for server-side apply: the fields that a manager sets. */
export type ApplyConfiguration<T extends KubeObject> = Omit<Partly<T>, 'metadata'> & {
  metadata: Partly<T['metadata']> & { name: string }
}

/** An object to create: without its status and without fields that the server fills in. */
export type New<T extends KubeObject> = T | ({ metadata: T['metadata'] } & Draft<Omit<T, 'metadata' | 'status'>>)
