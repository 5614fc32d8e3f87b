import type { ActionAnswer, ActionContext } from '../registry/resource.ts'

/** The options of a connection, such as PodExecOptions or ServiceProxyOptions. They have no metadata. */
export type ConnectOptions = { kind: string; [option: string]: unknown }

/** A subresource with its own behavior. */
export interface Action {
  /** Example: `pods/eviction`. */
  of: { group: string; plural: string; subresource: string }
  /** The supported verbs, as discovery lists them. */
  verbs: readonly ('get' | 'create' | 'update' | 'patch' | 'delete')[]
  /** The kind of the body, also for discovery. */
  kind: { group: string; version: string; kind: string; alsoVersions?: readonly string[] }
  /** The name of the body's type in the schema, if there is a body. */
  bodyType?: string
  /** The options for CONNECT admission, from the query. */
  connectOptions?(query: URLSearchParams): ConnectOptions
  run(ctx: ActionContext): Promise<ActionAnswer>
}
