import type { PersistentVolumeClaim, Pod } from '../../api/generated/types.ts'
import { awaitsMark, usedPatch } from '../../api/kinds/claim-recovery.ts'
import { claimNamesOf } from '../../api/kinds/pod-claims.ts'
import { timestamp } from '../../api/kinds/pod-prepare.ts'
import { persistentvolumeclaims } from '../../client/index.ts'
import type { NodeContext } from './node-context.ts'

/**
 * Marks the claims of one pod as used before its first container starts, so that claim recovery never deletes a claim
 * that a container may have written to. The mark is in the API: it outlives this node and all that the node remembers.
 */
export class ClaimMarks {
  readonly #context: NodeContext
  /** The uids of claims that need no mark any more, by name; made for the first of them. */
  #settled: Map<string, string> | undefined

  constructor(context: NodeContext) {
    this.#context = context
  }

  /**
   * Resolves once no claim of the pod says `never`. Throws while a mark cannot be written, or a claim is being deleted
   * which the pod has not used: then nothing may start. A pod that `hasRun` goes on with a claim that is being deleted.
   */
  async ensure(pod: Pod, hasRun: boolean, signal: AbortSignal): Promise<void> {
    const namespace = pod.metadata.namespace ?? ''
    for (const name of claimNamesOf(pod)) {
      const claim = await this.#context.objects.get<PersistentVolumeClaim>(persistentvolumeclaims, namespace, name, signal)
      // A claim that is gone cannot be deleted. But one that was never settled may be on its way out with its volume.
      if (!claim && this.#settled?.has(name)) continue
      if (!claim) throw new Error(`persistentvolumeclaim "${name}" not found`)
      if (this.#settled?.get(name) === claim.metadata.uid) continue
      const { metadata } = awaitsMark(claim) ? await this.#mark(namespace, claim, signal) : claim
      // Whoever deleted it before the mark was written may have known that nobody had used it: its volume goes with it.
      if (metadata.deletionTimestamp && !hasRun) throw new Error(`persistentvolumeclaim "${name}" is being deleted`)
      this.#settled ??= new Map()
      this.#settled.set(name, claim.metadata.uid ?? '')
    }
  }

  #mark(namespace: string, claim: PersistentVolumeClaim, signal: AbortSignal): Promise<PersistentVolumeClaim> {
    const patch = usedPatch(claim, timestamp(this.#context.clock.now()))
    return this.#context.client.patch(persistentvolumeclaims, namespace, claim.metadata.name ?? '', patch, { type: 'merge', signal })
  }
}
