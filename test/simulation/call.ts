import { ApiError } from '../../src/api/errors.ts'
import type { KubeObject } from '../../src/api/object.ts'
import { type ApiRequest, TransportError } from '../../src/client/index.ts'
import type { Process } from './process.ts'

/** The subject of a path. */
export interface Target {
  plural: string
  namespace: string
  name: string
  subresource: string
}

/** A request in transit, its outcome, and the response that its sender got. */
export interface Call extends Target {
  readonly number: number
  readonly process: Process
  readonly method: ApiRequest['method']
  readonly body: unknown
  readonly sentAtMs: number
  arrivedAtMs: number | undefined
  /** The store's revision at its arrival. */
  arrivedAtRevision: number | undefined
  /** True for a read without a version. */
  asksNewest: boolean
  /** The true outcome at the server. Undefined while there is none, or if the server died. */
  outcome: Outcome | undefined
  /** The sender's knowledge: none yet, the truth, an error, or it has given up. */
  told: 'nothing' | 'the truth' | 'an error' | 'gave up'
}

export type Outcome = { object: KubeObject; error?: undefined } | { object?: undefined; error: Error }

/** Receives the events of every call. */
export interface CallListener {
  /** The call leaves its sender. */
  sent?(call: Call): void
  /** The call has arrived and is not processed yet. */
  arrived?(call: Call): void
  /** `outcome` is known: the commit is complete. */
  happened?(call: Call): void
  /** The sender has got a response. */
  answered?(call: Call): void
}

export const isWrite = (call: Pick<Call, 'method'>): boolean => call.method !== 'GET'

/** True for calls about the lease itself, which processes write that are not the leader. */
export const isElection = (call: Pick<Call, 'plural'>): boolean => call.plural === 'leases' || call.plural === 'events'

/** `/apis/GROUP/VERSION[/namespaces/NAMESPACE]/PLURAL[/NAME[/SUBRESOURCE]]` */
export function targetOf(path: string): Target {
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4)
  const isNamespaced = parts[0] === 'namespaces' && parts.length > 2
  const [plural = '', name = '', subresource = ''] = isNamespaced ? parts.slice(2) : parts
  return { plural, namespace: isNamespaced ? parts[1]! : '', name, subresource }
}

/** The key in caches and in the truth. */
export const keyOfCall = ({ namespace, name }: Pick<Call, 'namespace' | 'name'>): string => (namespace ? `${namespace}/${name}` : name)

const verbs: Record<ApiRequest['method'], string> = { GET: 'reads', POST: 'creates', PUT: 'updates', PATCH: 'patches', DELETE: 'deletes' }

/** `#12 creates pods/web-x7f2k` */
export function describe(call: Call): string {
  const name = call.name || (call.body as KubeObject | undefined)?.metadata?.name || call.outcome?.object?.metadata?.name || ''
  return `#${call.number} ${verbs[call.method]} ${call.plural}/${name}${call.subresource ? `/${call.subresource}` : ''}`
}

export function describeOutcome(outcome: Outcome): string {
  if (outcome.error) return describeError(outcome.error)
  const { resourceVersion, deletionTimestamp } = outcome.object.metadata ?? {}
  return `done${resourceVersion ? ` (${resourceVersion})` : ''}${deletionTimestamp ? ', is being deleted' : ''}`
}

function describeError(error: Error): string {
  if (error instanceof ApiError) return `${error.code} ${error.reason}`
  if (error instanceof TransportError) return `no answer: ${error.message}`
  return error.message
}
