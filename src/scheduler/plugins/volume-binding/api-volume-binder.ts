import type { PersistentVolumeClaim } from '../../../api/generated/types.ts'
import { annotationOf, boundVolume, selectedNode } from '../../../api/kinds/volumes/volume-binding.ts'
import { isReachableFrom } from '../../../api/kinds/volumes/volume-matching.ts'
import { compareResourceVersions } from '../../../api/resource-version.ts'
import type { Clock } from '../../../base/clock.ts'
import { type Client, keyOf, persistentvolumeclaims, persistentvolumes } from '../../../client/index.ts'
import type { Caches } from '../../caches.ts'
import type { PodInfo } from '../../cluster/pod-info.ts'
import { type VolumePlan, isFullyBound } from './find-volumes.ts'
import type { VolumeBinder } from './volume-binding.ts'

/** The time that a pod waits for its volumes before another node is tried. */
const patienceMs = 10 * 60_000

/**
 * Binds volumes by writing the claim of a volume, or the selected node of a claim. The volume controllers do the rest.
 */
export class ApiVolumeBinder implements VolumeBinder {
  readonly #client: Client
  readonly #caches: Caches
  readonly #clock: Clock

  constructor(client: Client, caches: Caches, clock: Clock) {
    this.#client = client
    this.#caches = caches
    this.#clock = clock
  }

  async bind(pod: PodInfo, node: string, plan: VolumePlan, signal: AbortSignal): Promise<void> {
    const claims = new Map<string, string>()
    for (const { volume, claim } of plan.bind) {
      const bound = boundVolume(volume, claim)
      if (bound !== volume) await this.#client.update(persistentvolumes, bound, { signal })
      claims.set(keyOf(claim), '')
    }
    for (const claim of plan.provision) {
      const { resourceVersion = '' } =
        annotationOf(claim, selectedNode) === node ? claim.metadata : (await this.#select(claim, node, signal)).metadata
      claims.set(keyOf(claim), resourceVersion)
    }
    await this.#allBound(pod, node, claims, signal)
  }

  #select(
    { metadata: { namespace = '', name = '', resourceVersion } }: PersistentVolumeClaim,
    node: string,
    signal: AbortSignal,
  ): Promise<PersistentVolumeClaim> {
    const patch = { metadata: { resourceVersion, annotations: { [selectedNode]: node } } }
    return this.#client.patch(persistentvolumeclaims, namespace, name, patch, { type: 'merge', signal })
  }

  /**
   * Checks again whenever a claim or the pod changes. `claims` contains the version in which a node was selected for
   * each claim, or '' for those with a volume.
   */
  #allBound(pod: PodInfo, node: string, claims: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const undo: (() => void)[] = []
      const end = (error?: Error) => {
        for (const f of undo.splice(0)) f()
        if (error) reject(error)
        else resolve()
      }
      const check = () => {
        try {
          if (this.#isBound(pod, node, claims)) end()
        } catch (e) {
          end(new Error(`binding volumes: ${(e as Error).message}`))
        }
      }
      const onChange = (object: { metadata: { namespace?: string; name?: string } }) => {
        if (claims.has(keyOf(object)) || keyOf(object) === pod.key) check()
      }
      const handler = {
        add: onChange,
        update: (_: unknown, object: Parameters<typeof onChange>[0]) => onChange(object),
        delete: onChange,
      }
      const onAbort = () => end(signal.reason as Error)
      signal.addEventListener('abort', onAbort, { once: true })
      undo.push(() => signal.removeEventListener('abort', onAbort))
      undo.push(this.#clock.after(patienceMs, () => end(new Error('binding volumes: context deadline exceeded'))))
      undo.push(this.#caches.claims.addHandler(handler), this.#caches.pods.addHandler({ delete: onChange }))
      check()
    })
  }

  #isBound(pod: PodInfo, node: string, claims: ReadonlyMap<string, string>): boolean {
    if (this.#caches.pods.get(pod.key)?.metadata.uid !== pod.uid) {
      throw new Error(`pod does not exist any more: pod ${JSON.stringify(pod.pod.metadata.name)} not found`)
    }
    let areBound = true
    for (const [key, chosenVersion] of claims) {
      const claim = this.#caches.claim(key)
      if (!claim) {
        throw new Error(
          `failed to check provisioning pvc: could not find v1.PersistentVolumeClaim ${JSON.stringify(key)}`,
        )
      }
      if (chosenVersion !== '') {
        // The cache may not contain the selection yet.
        if (compareResourceVersions(claim.metadata.resourceVersion ?? '', chosenVersion) < 0) areBound = false
        else if (annotationOf(claim, selectedNode) !== node) {
          throw new Error(`provisioning failed for PVC ${JSON.stringify(claim.metadata.name)}`)
        }
      }
      if (!isFullyBound(claim)) areBound = false
      else this.#checkReach(claim.spec.volumeName!, node)
    }
    return areBound
  }

  #checkReach(volumeName: string, nodeName: string): void {
    const volume = this.#caches.volume(volumeName)
    const node = this.#caches.cluster.node(nodeName)?.node
    if (volume && node && !isReachableFrom(volume, node)) {
      throw new Error(
        `pv ${JSON.stringify(volumeName)} node affinity doesn't match node ${JSON.stringify(nodeName)}: no matching NodeSelectorTerms`,
      )
    }
  }
}
