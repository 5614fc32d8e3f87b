import type { PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { claimNamesOf } from '../../../src/api/kinds/pod-claims.ts'
import { type SandboxFailure, mountFailure, sandboxConditionType } from '../../../src/api/kinds/sandbox-condition.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { persistentvolumeclaims, pods } from '../../../src/client/index.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import type { World } from '../world.ts'
import { untilDone } from './pod-nodes.ts'

/** What keeps a pod from coming up, in the words of a node; `unready`: it starts, and that is all. */
type Trouble = 'volume' | 'network' | 'config' | 'unready' | undefined

const failures: Partial<Record<NonNullable<Trouble>, SandboxFailure>> = {
  volume: { reason: 'VolumeMountFailed', message: mountFailure('data', 'rpc error') },
  network: { reason: 'NetworkNotReady', message: 'Failed to create pod sandbox: no addresses left' },
  config: { reason: 'ConfigMapNotFound', message: mountFailure('config', 'configmap "config" not found') },
}

/** A pod as its node knows it, which is ahead of what the API says. */
interface Taken {
  pod: Pod
  takenAtMs: number
  trouble: Trouble
  /** Until when; a volume that is spoilt stays so. */
  healsAtMs: number
  readyAtMs: number | undefined
  /** Of its last attempt. */
  failure: SandboxFailure | undefined
  hasStopped: boolean
}

/** What is on the volumes of claims, whoever knows of it: by the claim's uid, the pods that had a ready sandbox with it. */
export type Data = Map<string, Set<string>>

const claimOf = (world: World, name: string) => world.truth.get(persistentvolumeclaims.plural, `default/${name}`) as PersistentVolumeClaim | undefined

/** Whether anybody's clock is set: then not everybody knows how long somebody waits. */
export const areClocksSet = ({ profile: { world } }: World): boolean => world.jumpManagerClock > 0 || world.jumpServerClock > 0

/** Claims whose volumes are no good, by uid: only another claim helps. */
export type Spoilt = Set<string>

/** Nodes on which volumes, network and configuration fail, and which say so late. */
export class StorageNodes {
  readonly data: Data = new Map()
  readonly spoilt: Spoilt = new Set()
  readonly #world: World
  readonly #random: SeededRandom

  constructor(world: World) {
    this.#world = world
    this.#random = world.random.fork('storage nodes')
    world.truth.onChange(({ plural, before, after }) => {
      const isNew = after && before?.metadata.uid !== after.metadata.uid
      if (plural === persistentvolumeclaims.plural && isNew) this.#bind(after as PersistentVolumeClaim)
      if (plural === pods.plural && isNew) this.#take(after as Pod)
    })
  }

  #soon(from: number, spread: number): number {
    return from + this.#random.below(spread)
  }

  #bind({ metadata: { name = '', uid = '' } }: PersistentVolumeClaim): void {
    const { timeline, userClient: client, faults } = this.#world
    if (faults.isOn && !areClocksSet(this.#world) && this.#random.below(3) === 0) this.spoilt.add(uid)
    timeline.after(this.#soon(100, 1500), () => {
      const claim = claimOf(this.#world, name)
      if (claim?.metadata.uid !== uid) return
      const act = async () => {
        if (!claim.spec.volumeName) await client.patch(persistentvolumeclaims, 'default', name, { metadata: { uid }, spec: { volumeName: `pv-${uid}` } }, { type: 'merge' })
        await client.patch(persistentvolumeclaims, 'default', name, { metadata: { uid }, status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
      }
      act().catch(() => this.#bind(claim))
    })
  }

  #take(pod: Pod): void {
    const { timeline, userClient: client, faults } = this.#world
    untilDone(this.#world, pod, this.#soon(100, 2000), async (current) => {
      const fresh = { takenAtMs: timeline.nowMs, readyAtMs: undefined, failure: undefined, hasStopped: false }
      const isGoing = current.metadata.deletionTimestamp !== undefined
      if (isGoing) return this.#stop({ ...fresh, pod: current, trouble: undefined, healsAtMs: 0 })
      const claims = claimNamesOf(current).map((name) => claimOf(this.#world, name))
      if (!claims.every((claim) => claim?.status?.phase === 'Bound' && !claim.metadata.deletionTimestamp)) throw new Error('a claim is not there yet, or not any more')
      if (!current.spec.nodeName) {
        const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: current.metadata.name }, target: { kind: 'Node', name: 'n1' } }
        await client.transport.send({ method: 'POST', path: `/api/v1/namespaces/default/pods/${current.metadata.name}/binding`, body })
      }
      const trouble = faults.isOn ? this.#random.pick<Trouble>([undefined, 'volume', 'volume', 'volume', 'network', 'config', 'unready']) : undefined
      // Binding it has taken a while.
      const { nowMs } = timeline
      const taken: Taken = { ...fresh, pod, takenAtMs: nowMs, trouble, healsAtMs: nowMs + this.#soon(5000, 120_000) }
      this.#tell(taken, 0)
      this.#work(taken)
      this.#listen(taken)
    })
  }

  /** One attempt after the other, until it runs or is to end. */
  #work(taken: Taken): void {
    const { timeline } = this.#world
    timeline.after(this.#soon(500, 4000), () => {
      if (taken.hasStopped) return
      const claims = claimNamesOf(taken.pod).map((name) => claimOf(this.#world, name))
      // What is being deleted is not mounted any more.
      const isLacking = claims.some((claim) => !claim || claim.metadata.deletionTimestamp || this.spoilt.has(claim.metadata.uid!))
      const trouble = isLacking ? 'volume' : this.#isHealed(taken) ? undefined : taken.trouble
      const before = taken.failure
      taken.failure = trouble && failures[trouble]
      if (taken.failure) {
        if (taken.failure !== before) this.#tell(taken, this.#soon(0, 6000))
        return this.#work(taken)
      }
      taken.readyAtMs = timeline.nowMs
      for (const claim of claims) this.data.set(claim!.metadata.uid!, (this.data.get(claim!.metadata.uid!) ?? new Set()).add(taken.pod.metadata.uid!))
      this.#tell(taken, this.#soon(0, 6000))
      if (trouble === 'unready') this.#becomeReady(taken)
    })
  }

  #isHealed({ healsAtMs }: Taken): boolean {
    return !this.#world.faults.isOn || this.#world.timeline.nowMs >= healsAtMs
  }

  #becomeReady(taken: Taken): void {
    this.#world.timeline.after(5000, () => {
      if (taken.hasStopped) return
      if (this.#isHealed(taken)) this.#tell(taken, 0)
      else this.#becomeReady(taken)
    })
  }

  /** Says how the pod is when it gets through, which may be much later. */
  #tell(taken: Taken, delayMs: number): void {
    untilDone(this.#world, taken.pod, delayMs, (current) => (taken.hasStopped ? Promise.resolve() : this.#report(taken, current)))
  }

  #report(taken: Taken, { metadata: { name = '', generation } }: Pod): Promise<unknown> {
    const { takenAtMs, readyAtMs, trouble, failure, hasStopped } = taken
    const isUp = readyAtMs !== undefined && !hasStopped
    const isReady = isUp && (trouble !== 'unready' || this.#isHealed(taken))
    const turnedMs = hasStopped && readyAtMs !== undefined ? this.#world.timeline.nowMs : (readyAtMs ?? takenAtMs)
    const conditions = [
      {
        type: sandboxConditionType, status: isUp ? 'True' : 'False', lastTransitionTime: timestamp(turnedMs),
        reason: null, message: null, ...(isUp || hasStopped ? {} : failure),
      },
      { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: timestamp(isReady ? this.#world.timeline.nowMs : takenAtMs) },
    ]
    // A node that has not heard of a deletion does not say that it has.
    const observedGeneration = hasStopped ? generation : 1
    const status = { phase: isUp ? 'Running' : 'Pending', startTime: timestamp(takenAtMs), observedGeneration, conditions }
    return this.#world.userClient.patch(pods, 'default', name, { metadata: { uid: taken.pod.metadata.uid }, status }, { type: 'strategic', subresource: 'status' })
  }

  /** Hears late that a pod is to end; until then it goes on. */
  #listen(taken: Taken): void {
    const { uid } = taken.pod.metadata
    let hasHeard = false
    this.#world.truth.onChange(({ plural, key, before, after }) => {
      if (hasHeard || plural !== pods.plural || key !== `default/${taken.pod.metadata.name}` || before?.metadata.uid !== uid) return
      if (after?.metadata.uid === uid && !after?.metadata.deletionTimestamp) return
      hasHeard = true
      this.#world.timeline.after(this.#soon(500, 8000), () => this.#stop(taken))
    })
    if ((this.#world.truth.get(pods.plural, `default/${taken.pod.metadata.name}`) as Pod | undefined)?.metadata.deletionTimestamp) this.#stop(taken)
  }

  /** The last word is told before the pod is gone. */
  #stop(taken: Taken): void {
    taken.hasStopped = true
    untilDone(this.#world, taken.pod, 0, async (current) => {
      if (current.spec.nodeName) await this.#report(taken, current)
      await this.#world.userClient.delete(pods, 'default', current.metadata.name!, { uid: current.metadata.uid, gracePeriodSeconds: 0 })
    })
  }
}
