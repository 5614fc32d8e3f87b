import { setMaxListeners } from 'node:events'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { KubeObject } from '../../api/object.ts'
import { ApiError } from '../../api/errors.ts'
import type { SelfSubjectRulesReview, SubjectRulesReviewStatus } from '../../api/generated/types.ts'
import {
  type ApiRequest,
  Client,
  type ClusterAccess,
  HttpTransport,
  type Transport,
  type WatchListener,
  fixedCredentials,
  resourceName,
} from '../../client/index.ts'
import { isNotReadable } from '../../insight/failure.ts'
import { workloadKinds } from '../../insight/workload/kinds.ts'
import { mapSome } from '../../insight/workload/reader.ts'

/** An action to authorize. */
export interface Attempt {
  verb: string
  group: string
  resource: string
  subresource?: string
  namespace?: string
  name?: string
}

/** The objects that a viewer may list. Viewers with the same key may list the same. */
export interface Scope {
  readonly key: string
  /** Returns true for objects of a kind in a namespace. The namespace of a cluster-wide kind is ''. */
  shows(kind: string, namespace: string): boolean
}

/** Kinds that rows of workloads are computed from. */
const shownKinds = [
  { kind: 'Pod', group: '', resource: 'pods', isClusterWide: false },
  { kind: 'Node', group: '', resource: 'nodes', isClusterWide: true },
  { kind: 'PersistentVolumeClaim', group: '', resource: 'persistentvolumeclaims', isClusterWide: false },
  { kind: 'PodDisruptionBudget', group: 'policy', resource: 'poddisruptionbudgets', isClusterWide: false },
  { kind: 'Event', group: '', resource: 'events', isClusterWide: false },
  ...workloadKinds.map(({ kind, type }) => ({ kind, group: type.group, resource: type.plural, isClusterWide: false })),
]

/** Cache lifetime of reviews. */
const rememberMs = 10_000

/** Calls `refused` when the API server no longer accepts the credentials of a transport. */
class CredentialsWatch implements Transport {
  readonly #inner: Transport
  readonly #refused: () => void

  constructor(inner: Transport, refused: () => void) {
    this.#inner = inner
    this.#refused = refused
  }

  async send<T>(request: ApiRequest): Promise<T> {
    try {
      return await this.#inner.send<T>(request)
    } catch (e) {
      if (e instanceof ApiError && e.code === 401) this.#refused()
      throw e
    }
  }

  watch<T extends KubeObject>(request: ApiRequest, listener: WatchListener<T>): () => void {
    return this.#inner.watch(request, listener)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }
}

/** A user of the page, with the identity of their requests. */
export class Viewer {
  readonly name: string
  readonly access: ClusterAccess
  readonly client: Client
  readonly #clock: Clock
  readonly #ended: AbortController
  /** Answers of the API server in the order in which they were requested. */
  readonly #known = new Map<string, { atMs: number; answer: Promise<unknown> }>()

  private constructor(name: string, access: ClusterAccess, client: Client, clock: Clock, ended: AbortController) {
    this.name = name
    this.access = access
    this.client = client
    this.#clock = clock
    this.#ended = ended
  }

  /** Identifies the user with the API server. Rejects with its error if it does not know them. */
  static of(access: ClusterAccess, clock: Clock, random: Random, release: string): Promise<Viewer> {
    const transport = new HttpTransport(access, { clock, random, userAgent: `coxswain-dashboard/${release}` })
    return Viewer.by(transport, access, clock, random)
  }

  /** As `of`, with requests by this transport, which is closed with the viewer. */
  static async by(transport: Transport, access: ClusterAccess, clock: Clock, random: Random): Promise<Viewer> {
    const ended = new AbortController()
    // Each stream, log and shell of the session listens.
    setMaxListeners(0, ended.signal)
    const watched = new CredentialsWatch(transport, () => ended.abort())
    try {
      const name = await userOf(watched)
      const client = new Client(watched, { clock, random, fieldManager: 'coxswain-dashboard' })
      return new Viewer(name, access, client, clock, ended)
    } catch (e) {
      await transport.close()
      throw e
    }
  }

  /** Aborted when the session is closed, or when the API server no longer accepts the credentials. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Asks the API server whether this user may do something. */
  may(attempt: Attempt): Promise<boolean> {
    return this.#remembered(JSON.stringify(attempt), () => this.#ask(attempt))
  }

  /** Determines what this user may list: in the whole cluster, or in which of these namespaces. */
  async scope(namespaces: readonly string[]): Promise<Scope> {
    const shown = new Set<string>()
    const narrow: typeof shownKinds = []
    await mapSome(shownKinds, async (one) => {
      const { kind, group, resource, isClusterWide } = one
      if (await this.may({ verb: 'list', group, resource })) shown.add(kind)
      else if (!isClusterWide) narrow.push(one)
    })
    if (narrow.length > 0)
      await mapSome(namespaces, async (namespace) => {
        const mayList = await this.#mayListIn(namespace)
        for (const { kind, group, resource } of narrow)
          if (await mayList(group, resource)) shown.add(`${kind} ${namespace}`)
      })
    const shows = (kind: string, namespace: string) => shown.has(kind) || shown.has(`${kind} ${namespace}`)
    return { key: [...shown].sort().join(','), shows }
  }

  async close(): Promise<void> {
    this.#ended.abort()
    await this.client.close()
  }

  /** Returns what this user may list in a namespace, by one review of all rules if the API server knows all of them. */
  async #mayListIn(namespace: string): Promise<(group: string, resource: string) => boolean | Promise<boolean>> {
    const status = await this.#remembered(`rules ${namespace}`, () => this.#rules(namespace))
    // A webhook may allow more than the rules, and deny what they allow.
    if (!status || status.incomplete) return (group, resource) => this.may({ verb: 'list', group, resource, namespace })
    const has = (names: readonly string[] | undefined, name: string) =>
      names !== undefined && (names.includes('*') || names.includes(name))
    return (group, resource) =>
      status.resourceRules.some(
        (rule) =>
          has(rule.verbs, 'list') &&
          has(rule.apiGroups, group) &&
          has(rule.resources, resource) &&
          !rule.resourceNames?.length,
      )
  }

  /** Returns the rules of this user in a namespace; undefined if the API server does not tell. */
  async #rules(namespace: string): Promise<SubjectRulesReviewStatus | undefined> {
    try {
      const { status } = await this.client.transport.send<SelfSubjectRulesReview>({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        body: {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          metadata: {},
          spec: { namespace },
        },
      })
      return status
    } catch (e) {
      if (isNotReadable(e)) return undefined
      throw e
    }
  }

  #remembered<T>(key: string, read: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.now()
    const known = this.#known.get(key)
    if (known && nowMs - known.atMs < rememberMs) return known.answer as Promise<T>
    for (const [old, { atMs }] of this.#known) {
      if (nowMs - atMs < rememberMs) break
      this.#known.delete(old)
    }
    const answer = read()
    const made = { atMs: nowMs, answer }
    this.#known.set(key, made)
    // Failed requests are not cached.
    answer.catch(() => this.#known.get(key) === made && this.#known.delete(key))
    return answer
  }

  async #ask({ verb, group, resource, subresource, namespace, name }: Attempt): Promise<boolean> {
    const resourceAttributes = { verb, group, resource, subresource, namespace, name }
    const answer = await this.client.transport.send<{ status?: { allowed?: boolean } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        metadata: {},
        spec: { resourceAttributes },
      },
    })
    return answer.status?.allowed === true
  }
}

async function userOf(transport: Transport): Promise<string> {
  const review = await transport.send<{ status?: { userInfo?: { username?: string } } }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} },
  })
  return review.status?.userInfo?.username ?? ''
}

/** Returns access to the same cluster as the user of a bearer token. */
export const accessByToken = (access: ClusterAccess, token: string): ClusterAccess => ({
  ...access,
  headers: {},
  credentials: fixedCredentials({ authorization: `Bearer ${token}` }),
})

/** Returns the object of a refusal: `deployments.apps in namespace "default"`. */
export const whatText = (type: Parameters<typeof resourceName>[0], namespace: string): string =>
  `${resourceName(type)}${namespace ? ` in namespace ${JSON.stringify(namespace)}` : ''}`
