import type { KubeObject } from '../../api/object.ts'
import type { Objects, UserInfo } from '../objects/objects.ts'
import type { Result } from '../requests/request.ts'
import type { Resource, RuleContext } from '../registry/resource.ts'
import type { ConnectOptions } from '../write/connect.ts'
import type { Tabular } from '../answers/table.ts'

/** What a subresource that is more than a partial update is handed: pods/binding, pods/eviction, pods/log, serviceaccounts/token. */
export interface ActionContext {
  resource: Resource
  subresource: string
  namespace: string
  name: string
  query: URLSearchParams
  /** The decoded body, for actions with a `body` type. */
  body: KubeObject | undefined
  user: UserInfo
  dryRun: boolean
  objects: Objects
  rules: RuleContext
  warnings: string[]
  /** Aborted when the client has gone away. */
  signal(): AbortSignal
}

/** Where the agent of a node answers in the server's place. */
export interface NodePlace {
  host: string
  port: number
  /** With its query. */
  path: string
  /** It is a connection that is asked for, no document. */
  isConnection: boolean
}

/** What an action answers: an object, text, or who is to be asked instead. */
export type ActionAnswer = { code: number; object: object; table?: Tabular } | { code: number; text: string } | { relay: NodePlace }

/** An answer in the form that all verbs have. */
export function resultOf(answer: ActionAnswer): Result {
  if ('text' in answer) return { kind: 'text', ...answer }
  return 'relay' in answer ? { kind: 'relay', place: answer.relay } : { kind: 'value', code: answer.code, value: answer.object, ...(answer.table ? { resource: answer.table } : {}) }
}

/** A subresource with behaviour of its own. */
export interface Action {
  /** `pods/eviction` */
  of: { group: string; plural: string; subresource: string }
  /** Which HTTP verbs it takes, in Kubernetes' words, as discovery lists them. */
  verbs: readonly ('get' | 'create' | 'update' | 'patch' | 'delete')[]
  /** The kind of the body (create) and in discovery. */
  kind: { group: string; version: string; kind: string; alsoVersions?: readonly string[] }
  /** The name in the schema table of the body's type, where there is a body. */
  bodyType?: string
  /** For connections: the options that admission judges, by the query. */
  connectOptions?(query: URLSearchParams): ConnectOptions
  run(ctx: ActionContext): Promise<ActionAnswer>
}
