import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret } from '../../api/generated/types.ts'
import type { SandboxFailure } from '../../api/kinds/sandbox-condition.ts'
import { configmaps, isNotFound, persistentvolumeclaims, persistentvolumes, secrets, serviceaccounts } from '../../client/index.ts'
import { readySandbox } from '../runtime/pod-view.ts'
import { referencesOf } from '../sources/pod-references.ts'
import type { VolumeSources } from '../volumes/volume-manager.ts'
import { BackOff } from './back-off.ts'
import type { NodeContext } from './node-context.ts'
import { mountFailureOf } from './sandbox-failure.ts'

const retryFirstMs = 500
const retryLongestMs = 122_000
/** After so much of a token's time there is another one. */
const tokenLifeUsed = 0.8
const noPaths: ReadonlyMap<string, string> = new Map()
const nothing = () => {}

/** The volumes of one pod, made once and kept up to date with what they are made from. */
export class PodVolumes {
  readonly #context: NodeContext
  readonly #changed: () => void
  readonly #holds = new Map<string, () => void>()
  readonly #retries: BackOff
  #paths: ReadonlyMap<string, string> | undefined
  #failure: SandboxFailure | undefined
  #isStale = false
  #cancelRefresh = nothing

  /** `changed` is called when something that the pod refers to appears, changes or goes. */
  constructor(context: NodeContext, changed: () => void) {
    this.#context = context
    this.#changed = changed
    this.#retries = new BackOff(context.clock, retryFirstMs, retryLongestMs)
  }

  /** Where they are, by name; empty before they are there. */
  get paths(): ReadonlyMap<string, string> {
    return this.#paths ?? noPaths
  }

  /** Why the last attempt failed. Undefined before the first one, and for good once they are there. */
  get failure(): SandboxFailure | undefined {
    return this.#failure
  }

  /** What they show may have changed: they are made up to date the next time. */
  markStale(): void {
    this.#isStale = true
  }

  /** They are gone with all that the machine had mounted: they are made anew the next time. */
  lose(): void {
    this.#paths = undefined
    this.#isStale = true
  }

  /** Follows what the pod refers to. */
  follow(pod: Pod): void {
    for (const { type, name } of referencesOf(pod)) {
      const key = `${type.plural}/${name}`
      if (this.#holds.has(key)) continue
      this.#holds.set(key, this.#context.objects.hold(type, pod.metadata.namespace ?? '', name, () => {
        this.#isStale = true
        this.#changed()
      }))
    }
  }

  release(): void {
    this.#cancelRefresh()
    for (const release of this.#holds.values()) release()
    this.#holds.clear()
  }

  /** Makes them, if need be. Answers 'mounted', or after how long to try again; a pod that runs goes on with what it has. */
  async mount(pod: Pod, signal: AbortSignal): Promise<'mounted' | { retryMs: number; mayGoOn: boolean }> {
    if (this.#paths && !this.#isStale) return 'mounted'
    const { stages, volumes, view, clock } = this.#context
    const state = view.state(pod.metadata.uid!)
    // A pod that is adopted with its sandbox has its volumes: no stage is entered. After a reboot it has neither.
    const isStage = this.#paths === undefined && !readySandbox(state, pod.spec.hostNetwork === true)
    const sources = this.#sources(signal)
    const driver = (name: string) => stages.meetDriver(pod, name, signal)
    const place = { ...this.#context.place(), podIps: state.sandboxes[0]?.ips ?? [] }
    const make = () => volumes.mount(pod, isStage ? { ...sources, driver } : sources, place)
    try {
      this.#isStale = false
      this.#paths = await (isStage ? stages.run('volumes', pod, signal, make) : make())
      this.#failure = undefined
      this.#retries.reset('')
      this.#refreshTokens(pod)
      return 'mounted'
    } catch (e) {
      if (signal.aborted) throw e
      const { failure, event } = mountFailureOf(pod, e)
      this.#context.event(pod, 'Warning', 'FailedMount', event)
      if (!this.#paths) this.#failure = failure
      this.#isStale = true
      this.#retries.next('', clock.now())
      return { retryMs: this.#retries.delayMs(''), mayGoOn: this.#paths !== undefined }
    }
  }

  /** Tokens are made anew before they run out. */
  #refreshTokens(pod: Pod): void {
    this.#cancelRefresh()
    const seconds = (pod.spec.volumes ?? []).flatMap((v) => v.projected?.sources ?? []).flatMap(({ serviceAccountToken }) => serviceAccountToken?.expirationSeconds ?? [])
    if (seconds.length === 0) return
    this.#cancelRefresh = this.#context.clock.after(Math.min(...seconds.map(Number)) * 1000 * tokenLifeUsed, () => {
      this.#isStale = true
      this.#changed()
    })
  }

  #sources(signal: AbortSignal): VolumeSources {
    const { objects, client } = this.#context
    return {
      configMap: (namespace, name) => objects.get<ConfigMap>(configmaps, namespace, name, signal),
      secret: (namespace, name) => objects.get<Secret>(secrets, namespace, name, signal),
      claim: (namespace, name) => objects.get<PersistentVolumeClaim>(persistentvolumeclaims, namespace, name, signal),
      volume: (name): Promise<PersistentVolume | undefined> =>
        client.get(persistentvolumes, '', name, { signal }).catch((e: unknown) => {
          if (isNotFound(e)) return undefined
          throw e
        }),
      token: async (pod, audience, expirationSeconds) => {
        const { name, namespace = '', uid } = pod.metadata
        const spec = { audiences: audience ? [audience] : [], expirationSeconds, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } }
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
        const account = pod.spec.serviceAccountName ?? 'default'
        const answer = await client.subresource<{ status: { token: string } }>(serviceaccounts, namespace, account, 'token', { method: 'POST', body, signal })
        return answer.status.token
      },
    }
  }
}
