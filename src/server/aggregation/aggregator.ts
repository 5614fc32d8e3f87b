import { Agent } from 'node:https'
import { deepEqual } from '../../api/deep-equal.ts'
import { isNotFound } from '../../api/errors.ts'
import type { APIResource, APIResourceList, APIService } from '../../api/generated/types.ts'
import { readJson } from '../../api/json/index.ts'
import { timestamp } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Counter, Gauge, MetricsRegistry } from '../../base/metrics.ts'
import type { Random } from '../../base/random.ts'
import type { KeyPair } from '../auth/certificates.ts'
import { requestFailure } from '../http/listener/network-errors.ts'
import type { ServerObjects, UserInfo } from '../objects/objects.ts'
import { apiservices } from '../resources/apiregistration/apiservices.ts'
import { decodeAnswer, readAnswer } from '../webhooks/answers.ts'
import { type Availability, failedDiscovery, passed, serviceProblem } from './availability.ts'
import { type RemoteAccess, remoteRequest } from './remote-request.ts'
import { type Remote, isRemote, remoteOf, rootOf } from './remote.ts'

const { group, plural } = apiservices

/** The interval of checks of an available server. */
const resyncMs = 30_000
/** The first retry interval of an unavailable server, which doubles with each failure. */
const firstRetryMs = 1000
const answerMs = 5000

/** The user of discovery requests, which every server has to allow. */
const aggregatorUser: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] }

interface AggregatorOptions {
  objects: ServerObjects
  clock: Clock
  random: Random
  logger: Logger
  proxyClient: KeyPair | undefined
  metrics: MetricsRegistry
}

/** The state of an APIService's checks. */
interface Checks {
  isUnderWay: boolean
  isWantedAgain: boolean
  failures: number
  cancel(): void
}

/** Follows the APIServices of extension API servers: their group versions and availability. */
export class Aggregator {
  readonly #o: AggregatorOptions
  readonly access: RemoteAccess
  /** By group version, as in paths: `metrics.k8s.io/v1beta1`. */
  readonly #remotes = new Map<string, Remote>()
  readonly #checks = new Map<string, Checks>()
  readonly #listeners = new Set<() => void>()
  readonly #failures: Counter
  #generation = 0
  #isEnded = false

  constructor(options: AggregatorOptions) {
    this.#o = options
    const { objects, random, proxyClient, metrics } = options
    metrics.gauge(
      'aggregator_unavailable_apiservice',
      'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
      (gauge) => this.#tellUnavailable(gauge),
    )
    const help = 'Counter of APIServices which are marked as unavailable broken down by APIService name and reason.'
    this.#failures = metrics.counter('aggregator_unavailable_apiservice_total', help)
    this.access = { objects, random, proxyClient, agent: new Agent({ keepAlive: true, maxFreeSockets: 10 }) }
  }

  /** Incremented by every change of the served group versions. */
  get generation(): number {
    return this.#generation
  }

  /** The group versions of extension API servers. */
  remotes(): readonly Remote[] {
    return [...this.#remotes.values()]
  }

  /** The extension API server of a path: `/apis/GROUP/VERSION` and below, and its OpenAPI document. */
  forPath(path: string): Remote | undefined {
    if (this.#remotes.size === 0) return undefined
    const [, found] = /^\/(?:openapi\/v3\/)?apis\/([^/]+\/[^/]+)(?:\/|$)/.exec(path) ?? []
    return found === undefined ? undefined : this.#remotes.get(found)
  }

  has(groupName: string, version: string): boolean {
    return this.#remotes.has(`${groupName}/${version}`)
  }

  start(): void {
    const { objects } = this.#o
    for (const service of objects.list<APIService>(group, plural, '')) this.#take(service.metadata.name!, service)
    objects.follow(group, plural, ({ name, object }) => this.#take(name, object() as APIService | undefined))
    const wakeUsers = (namespace: string, name: string | undefined) => {
      for (const remote of this.#remotes.values()) {
        const { service } = remote.spec
        if (service!.namespace === namespace && service!.name === name) this.#check(remote.name)
      }
    }
    objects.follow('', 'services', ({ namespace, name }) => wakeUsers(namespace, name))
    objects.follow('', 'endpoints', ({ namespace, name }) => wakeUsers(namespace, name))
    objects.follow('discovery.k8s.io', 'endpointslices', ({ namespace, object, previous }) => {
      if (this.#remotes.size === 0) return
      wakeUsers(namespace, (object() ?? previous())?.metadata.labels?.['kubernetes.io/service-name'])
    })
  }

  /** Calls `fn` after every change. The returned function removes it. */
  listen(fn: () => void): () => void {
    this.#listeners.add(fn)
    return () => this.#listeners.delete(fn)
  }

  end(): void {
    this.#isEnded = true
    for (const { cancel } of this.#checks.values()) cancel()
    this.access.agent.destroy()
  }

  /** Every APIService has a series; local ones are always available. */
  #tellUnavailable(gauge: Gauge): void {
    const away = new Set(this.remotes().flatMap(({ name, isAvailable }) => (isAvailable ? [] : name)))
    gauge.clear()
    for (const { metadata } of this.#o.objects.list<APIService>(group, plural, ''))
      gauge.with({ name: metadata.name! }).set(away.has(metadata.name!) ? 1 : 0)
  }

  #take(name: string, service: APIService | undefined): void {
    const known = this.remotes().find((remote) => remote.name === name)
    if (service && isRemote(service)) {
      if (known && deepEqual(known.spec, service.spec)) return
      if (known) this.#remotes.delete(`${known.group}/${known.version}`)
      const remote = remoteOf(service)
      this.#remotes.set(`${remote.group}/${remote.version}`, remote)
      this.#tell()
      this.#check(name)
    } else if (known) {
      this.#remotes.delete(`${known.group}/${known.version}`)
      this.#checks.get(name)?.cancel()
      this.#checks.delete(name)
      this.#tell()
    }
  }

  #tell(): void {
    this.#generation++
    for (const fn of this.#listeners) fn()
  }

  /** Checks a server now, or again once the current check ends. */
  #check(name: string): void {
    if (this.#isEnded) return
    let checks = this.#checks.get(name)
    if (!checks)
      this.#checks.set(name, (checks = { isUnderWay: false, isWantedAgain: false, failures: 0, cancel: () => {} }))
    if (checks.isUnderWay) {
      checks.isWantedAgain = true
      return
    }
    checks.cancel()
    checks.isUnderWay = true
    const state = checks
    this.#checkOnce(name, state)
      .catch((error: unknown) => {
        if (!this.#isEnded) this.#o.logger.warn('failed to update the status of an APIService', { name, error })
      })
      .finally(() => {
        state.isUnderWay = false
        if (this.#isEnded || this.#checks.get(name) !== state) return
        if (state.isWantedAgain) {
          state.isWantedAgain = false
          this.#check(name)
          return
        }
        const waitMs = state.failures === 0 ? resyncMs : Math.min(firstRetryMs * 2 ** (state.failures - 1), resyncMs)
        state.cancel = this.#o.clock.after(waitMs, () => this.#check(name))
      })
  }

  async #checkOnce(name: string, state: Checks): Promise<void> {
    const remote = this.remotes().find((known) => known.name === name)
    if (!remote) return
    const problem = serviceProblem(remote, this.#o.objects)
    const found = problem ?? (await this.#askForResources(remote))
    const availability = Array.isArray(found) ? passed : (found as Availability)
    state.failures = availability.status === 'True' ? 0 : state.failures + 1
    const resources = Array.isArray(found) ? (found as APIResource[]) : remote.resources
    const isAvailable = availability.status === 'True'
    const isNew = remote.isAvailable !== isAvailable || !deepEqual(remote.resources, resources)
    remote.isAvailable = isAvailable
    remote.resources = resources
    if (isNew) this.#tell()
    await this.#store(name, availability)
  }

  /** The resources of a server, or the reason why discovery failed. */
  async #askForResources(remote: Remote): Promise<APIResource[] | Availability> {
    const abort = new AbortController()
    const cancel = this.#o.clock.after(answerMs, () => abort.abort())
    let url = rootOf(remote)
    try {
      const options = {
        method: 'GET',
        path: rootOf(remote),
        user: aggregatorUser,
        signal: abort.signal,
        headers: { accept: 'application/json' },
      }
      const { request, address } = remoteRequest(this.access, remote, options)
      url = `https://${address}${rootOf(remote)}`
      const { code, text } = await new Promise<{ code: number; text: string }>((resolve, reject) => {
        request.on('error', (e: NodeJS.ErrnoException) => {
          reject(
            new Error(abort.signal.aborted ? 'context deadline exceeded' : requestFailure(e, address), { cause: e }),
          )
        })
        request.once('response', (response) => {
          readAnswer(response).then((text) => resolve({ code: response.statusCode ?? 0, text }), reject)
        })
        request.end()
      })
      if (code < 200 || code >= 300)
        return failedDiscovery(`failing or missing response from ${url}: bad status from ${url}: ${code}`)
      return decodeAnswer<APIResourceList>('APIResourceList', readJson(text)).resources ?? []
    } catch (e) {
      return failedDiscovery(`failing or missing response from ${url}: ${(e as Error).message}`)
    } finally {
      cancel()
    }
  }

  async #store(name: string, availability: Availability): Promise<void> {
    if (this.#isEnded) return
    try {
      await this.#o.objects.update<APIService>(
        apiservices,
        '',
        name,
        (copy, stored) => {
          const known = stored.status?.conditions?.find(({ type }) => type === 'Available')
          const { status, reason, message } = availability
          if (!isRemote(stored) || (known?.status === status && known.reason === reason && known.message === message))
            return stored
          if (status === 'False') this.#failures.with({ name, reason }).inc()
          const since = known?.status === status ? known.lastTransitionTime : undefined
          const lastTransitionTime = since ?? timestamp(this.#o.clock.now())
          const others = (copy.status?.conditions ?? []).filter(({ type }) => type !== 'Available')
          return {
            ...copy,
            status: { conditions: [...others, { type: 'Available', ...availability, lastTransitionTime }] },
          }
        },
        { isStatus: true },
      )
    } catch (e) {
      if (!isNotFound(e)) throw e
    }
  }
}
