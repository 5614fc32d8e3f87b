import type { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, Secret } from '../../../api/generated/types.ts'
import type { SandboxFailure } from '../../../api/kinds/pods/sandbox-condition.ts'
import {
  configmaps,
  isNotFound,
  persistentvolumeclaims,
  persistentvolumes,
  secrets,
  serviceaccounts,
} from '../../../client/index.ts'
import { readySandbox } from '../../runtime/pod-view.ts'
import { referencesOf } from '../../sources/pod-references.ts'
import type { VolumeSources } from '../../volumes/volume-manager.ts'
import { BackOff } from '../back-off.ts'
import type { NodeContext } from '../node-context.ts'
import { mountFailureOf } from '../sandbox-failure.ts'

const retryFirstMs = 500
const retryLongestMs = 122_000
/** A service account token is renewed after this fraction of its lifetime. */
const tokenLifeUsed = 0.8
const noPaths: ReadonlyMap<string, string> = new Map()
const nothing = () => {}

/** Mounts the volumes of one pod and updates them when the objects they show change. */
export class PodVolumes {
  readonly #context: NodeContext
  readonly #changed: () => void
  readonly #holds = new Map<string, () => void>()
  readonly #retries: BackOff
  #paths: ReadonlyMap<string, string> | undefined
  #failure: SandboxFailure | undefined
  #isStale = false
  #cancelRefresh = nothing

  /** Calls `changed` when an object that the pod refers to is added, modified or deleted. */
  constructor(context: NodeContext, changed: () => void) {
    this.#context = context
    this.#changed = changed
    this.#retries = new BackOff(context.clock, retryFirstMs, retryLongestMs)
  }

  /** The path of each volume by name. Empty until the volumes are mounted. */
  get paths(): ReadonlyMap<string, string> {
    return this.#paths ?? noPaths
  }

  /** The error of the last attempt to mount. Undefined before the first attempt and after the first success. */
  get failure(): SandboxFailure | undefined {
    return this.#failure
  }

  /** Marks the contents as outdated: the next `mount` updates them. */
  markStale(): void {
    this.#isStale = true
  }

  /** Forgets all mounts, which a reboot has removed: the next `mount` mounts them again. */
  lose(): void {
    this.#paths = undefined
    this.#isStale = true
  }

  /** Watches the objects that the pod refers to. */
  follow(pod: Pod): void {
    for (const { type, name } of referencesOf(pod)) {
      const key = `${type.plural}/${name}`
      if (this.#holds.has(key)) continue
      this.#holds.set(
        key,
        this.#context.objects.hold(type, pod.metadata.namespace ?? '', name, () => {
          this.#isStale = true
          this.#changed()
        }),
      )
    }
  }

  release(): void {
    this.#cancelRefresh()
    for (const release of this.#holds.values()) release()
    this.#holds.clear()
  }

  /**
   * Mounts or updates the volumes where necessary. After a failure, returns the delay before the next attempt; a pod
   * whose volumes were mounted before may go on with outdated contents.
   */
  async mount(pod: Pod, signal: AbortSignal): Promise<'mounted' | { retryMs: number; mayGoOn: boolean }> {
    if (this.#paths && !this.#isStale) return 'mounted'
    const { stages, volumes, view, clock } = this.#context
    const state = view.state(pod.metadata.uid!)
    // An adopted pod with a ready sandbox has its volumes, so the `volumes` stage is skipped. After a reboot it has
    // neither.
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

  /** Schedules the renewal of service account tokens. */
  #refreshTokens(pod: Pod): void {
    this.#cancelRefresh()
    const seconds = (pod.spec.volumes ?? [])
      .flatMap((v) => v.projected?.sources ?? [])
      .flatMap(({ serviceAccountToken }) => serviceAccountToken?.expirationSeconds ?? [])
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
        const spec = {
          audiences: audience ? [audience] : [],
          expirationSeconds,
          boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
        }
        const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
        const account = pod.spec.serviceAccountName ?? 'default'
        const answer = await client.subresource<{ status: { token: string } }>(
          serviceaccounts,
          namespace,
          account,
          'token',
          { method: 'POST', body, signal },
        )
        return answer.status.token
      },
    }
  }
}
