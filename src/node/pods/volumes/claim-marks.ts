import type { PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { awaitsMark, usedPatch } from '../../../api/kinds/workloads/claim-recovery.ts'
import { claimNamesOf } from '../../../api/kinds/volumes/volume-references.ts'
import { timestamp } from '../../../api/object.ts'
import { persistentvolumeclaims } from '../../../client/index.ts'
import type { NodeContext } from '../node-context.ts'

/**
 * Marks the claims of one pod as used before its first container starts, so that claim recovery never deletes a claim
 * that a container may have written to. The mark is in the API and outlives the node.
 */
export class ClaimMarks {
  readonly #context: NodeContext
  /** The uids, by name, of claims that need no further mark. Created for the first one. */
  #settled: Map<string, string> | undefined

  constructor(context: NodeContext) {
    this.#context = context
  }

  /**
   * Resolves once no claim of the pod is marked `never`. Throws if a mark cannot be written, or if an unused claim is
   * being deleted: no container may start then. A pod that `hasRun` may go on with a claim that is being deleted.
   */
  async ensure(pod: Pod, hasRun: boolean, signal: AbortSignal): Promise<void> {
    const namespace = pod.metadata.namespace ?? ''
    for (const name of claimNamesOf(pod)) {
      const claim = await this.#context.objects.get<PersistentVolumeClaim>(
        persistentvolumeclaims,
        namespace,
        name,
        signal,
      )
      // A deleted claim needs no mark. A claim that was never settled may be in deletion together with its volume.
      if (!claim && this.#settled?.has(name)) continue
      if (!claim) throw new Error(`persistentvolumeclaim "${name}" not found`)
      if (this.#settled?.get(name) === claim.metadata.uid) continue
      const { metadata } = awaitsMark(claim) ? await this.#mark(namespace, claim, signal) : claim
      // A claim that was deleted before it was marked may have been deleted because it was unused: its volume is lost.
      if (metadata.deletionTimestamp && !hasRun) throw new Error(`persistentvolumeclaim "${name}" is being deleted`)
      this.#settled ??= new Map()
      this.#settled.set(name, claim.metadata.uid ?? '')
    }
  }

  #mark(namespace: string, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    const patch = usedPatch(claim, timestamp(this.#context.clock.now()))
    return this.#context.client.patch(persistentvolumeclaims, namespace, claim.metadata.name ?? '', patch, {
      type: 'merge',
      signal,
    })
  }
}
