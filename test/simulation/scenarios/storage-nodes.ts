import { isAlreadyExists } from '../../../src/api/errors.ts'
import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../src/api/generated/types.ts'
import { awaitsMark, marksClaims, usedPatch } from '../../../src/api/kinds/workloads/claim-recovery.ts'
import { claimNamesOf } from '../../../src/api/kinds/volumes/volume-references.ts'
import { type SandboxFailure, mountFailure, sandboxConditionType } from '../../../src/api/kinds/pods/sandbox-condition.ts'
import { boundByController, provisionedBy } from '../../../src/api/kinds/volumes/volume-binding.ts'
import type { SeededRandom } from '../../../src/base/seeded-random.ts'
import { type New, nodes, persistentvolumeclaims, persistentvolumes, pods } from '../../../src/client/index.ts'
import { timestamp } from '../../../src/controllers/kit/workload/index.ts'
import type { World } from '../world.ts'
import { untilDone } from './pod-nodes.ts'

/** The reason why a pod does not start, in the node's words. `unready`: it starts and does not become ready. */
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
  /** A node that has lost its memory of the pod: an honest one says Unknown, another one False as at the beginning. */
  memory: 'whole' | 'lost' | 'lost, and denied'
  /** The failure of its last attempt. */
  failure: SandboxFailure | undefined
  hasStopped: boolean
}

/** The data on the volumes of claims: by the claim's uid, its writers. */
export type Data = Map<string, Set<string>>

const nodeName = 'n1'

const claimOf = (world: World, name: string) => world.truth.get(persistentvolumeclaims.plural, `default/${name}`) as PersistentVolumeClaim | undefined

/** True if clocks are set. Then durations are uncertain. */
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
    this.#register()
    world.truth.onChange(({ plural, before, after }) => {
      const isNew = after && before?.metadata.uid !== after.metadata.uid
      if (plural === persistentvolumeclaims.plural && isNew) this.#bind(after as PersistentVolumeClaim)
      if (plural === pods.plural && isNew) this.#take(after as Pod)
    })
  }

  #soon(from: number, spread: number): number {
    return from + this.#random.below(spread)
  }

  #register(): void {
    const conditions = [{ type: 'Ready', status: 'True' }]
    const node = { metadata: { name: nodeName, annotations: { [marksClaims]: 'true' } }, status: { conditions } }
    const make = (): void =>
      void this.#world.timeline.after(0, () => {
        this.#world.userClient.create(nodes, node as never).catch((e: unknown) => (isAlreadyExists(e) ? undefined : make()))
      })
    make()
  }

  /** Decides what becomes of a claim: its volume is good, no good, or one that somebody has restored. */
  #bind({ metadata: { name = '', uid = '' } }: PersistentVolumeClaim): void {
    const { faults } = this.#world
    if (faults.isOn && !areClocksSet(this.#world) && this.#random.below(3) === 0) this.spoilt.add(uid)
    const isRestored = faults.isOn && this.#random.below(6) === 0
    if (isRestored) this.#write(uid, 'somebody who restored a backup')
    this.#give(name, uid, isRestored ? restoredVolume(name, uid, this.#random) : newVolume(name, uid))
  }

  #give(name: string, uid: string, volume: New<PersistentVolume>): void {
    const { timeline, userClient: client } = this.#world
    timeline.after(this.#soon(100, 1500), () => {
      const claim = claimOf(this.#world, name)
      if (claim?.metadata.uid !== uid) return
      const { name: volumeName = '' } = volume.metadata
      const bound = { metadata: { uid, annotations: { [boundByController]: 'yes' } }, spec: { volumeName } }
      const act = async () => {
        if (!this.#world.truth.get(persistentvolumes.plural, volumeName)) await client.create(persistentvolumes, volume)
        if (!claim.spec.volumeName) await client.patch(persistentvolumeclaims, 'default', name, bound, { type: 'merge' })
        await client.patch(persistentvolumeclaims, 'default', name, { metadata: { uid }, status: { phase: 'Bound' } }, { type: 'merge', subresource: 'status' })
      }
      act().catch(() => this.#give(name, uid, volume))
    })
  }

  #write(claimUid: string, writer: string): void {
    this.data.set(claimUid, (this.data.get(claimUid) ?? new Set()).add(writer))
  }

  #take(pod: Pod): void {
    const { timeline, userClient: client, faults } = this.#world
    untilDone(this.#world, pod, this.#soon(100, 2000), async (current) => {
      const fresh = { takenAtMs: timeline.nowMs, readyAtMs: undefined, memory: 'whole', failure: undefined, hasStopped: false } as const
      const isGoing = current.metadata.deletionTimestamp !== undefined
      if (isGoing) return this.#stop({ ...fresh, pod: current, trouble: undefined, healsAtMs: 0 })
      const claims = claimNamesOf(current).map((name) => claimOf(this.#world, name))
      if (!claims.every((claim) => claim?.status?.phase === 'Bound' && !claim.metadata.deletionTimestamp)) throw new Error('a claim is not there yet, or not any more')
      if (!current.spec.nodeName) {
        const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: current.metadata.name }, target: { kind: 'Node', name: nodeName } }
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
      // A terminating claim is not mounted.
      const isLacking = claims.some((claim) => !claim || claim.metadata.deletionTimestamp || this.spoilt.has(claim.metadata.uid!))
      const trouble = isLacking ? 'volume' : this.#isHealed(taken) ? undefined : taken.trouble
      const before = taken.failure
      taken.failure = trouble && failures[trouble]
      if (taken.failure) {
        if (taken.failure !== before) this.#tell(taken, this.#soon(0, 6000))
        return this.#work(taken)
      }
      taken.readyAtMs = timeline.nowMs
      this.#tell(taken, this.#soon(0, 6000))
      void this.#run(taken, claims as PersistentVolumeClaim[])
      if (trouble === 'unready') this.#becomeReady(taken)
    })
  }

  /** The containers start, and write, once the claims are marked. A claim that is being deleted is not used. */
  async #run(taken: Taken, claims: readonly PersistentVolumeClaim[]): Promise<void> {
    const { uid = '' } = taken.pod.metadata
    const run = taken.readyAtMs
    try {
      for (const claim of claims) await this.mark(claim)
      if (taken.hasStopped || taken.readyAtMs !== run) return
      for (const claim of claims) this.#write(claim.metadata.uid!, `pod ${uid}`)
      if (this.#world.faults.isOn && this.#random.below(2) === 0) this.#forget(taken)
    } catch {
      this.#world.timeline.after(this.#soon(500, 2000), () => {
        if (taken.hasStopped || taken.readyAtMs !== run) return
        // The claim may have been replaced since its mark was rejected.
        const now = claims.map(({ metadata }) => claimOf(this.#world, metadata.name!))
        if (now.every((claim, i) => claim?.metadata.uid === claims[i]!.metadata.uid)) void this.#run(taken, now as PersistentVolumeClaim[])
      })
    }
  }

  /** Writes the mark, and waits for the answer. */
  async mark(claim: PersistentVolumeClaim): Promise<void> {
    const { name = '', deletionTimestamp } = claim.metadata
    const patch = usedPatch(claim, timestamp(this.#world.timeline.nowMs))
    const marked = awaitsMark(claim)
      ? (await this.#world.userClient.patch(persistentvolumeclaims, 'default', name, patch, { type: 'merge' })).metadata.deletionTimestamp
      : deletionTimestamp
    if (marked) throw new Error(`${name} is being deleted`)
  }

  /** Some time after a container has written, perhaps before anybody heard of it, the node loses its memory and its volumes. */
  #forget(taken: Taken): void {
    this.#world.timeline.after(this.#soon(100, 20_000), () => {
      if (taken.hasStopped || !this.#world.faults.isOn) return
      const isDenied = this.#random.below(2) === 0
      const told = this.#told(taken)
      taken.memory = isDenied || told === 'True' ? 'lost, and denied' : 'lost'
      taken.readyAtMs = undefined
      taken.failure = undefined
      taken.trouble = 'volume'
      taken.healsAtMs = this.#world.timeline.nowMs + this.#soon(5000, 120_000)
      // It is its disk that is gone: the volume may be no good any more.
      if (!areClocksSet(this.#world) && this.#random.below(2) === 0) for (const name of claimNamesOf(taken.pod)) this.spoilt.add(claimOf(this.#world, name)?.metadata.uid ?? '')
      this.#tell(taken, 0)
      this.#work(taken)
    })
  }

  #told({ pod: { metadata } }: Taken): string | undefined {
    const pod = this.#world.truth.get(pods.plural, `default/${metadata.name}`) as Pod | undefined
    return pod?.status?.conditions?.find(({ type }) => type === sandboxConditionType)?.status
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
    const { takenAtMs, readyAtMs, trouble, failure, hasStopped, memory } = taken
    const isUp = readyAtMs !== undefined && !hasStopped
    const isReady = isUp && (trouble !== 'unready' || this.#isHealed(taken))
    const turnedMs = hasStopped && readyAtMs !== undefined ? this.#world.timeline.nowMs : (readyAtMs ?? takenAtMs)
    const conditions = [
      {
        type: sandboxConditionType, status: isUp ? 'True' : memory === 'lost' && readyAtMs === undefined ? 'Unknown' : 'False', lastTransitionTime: timestamp(turnedMs),
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

/** The volume that a provisioner makes for a claim. */
const newVolume = (claim: string, uid: string): New<PersistentVolume> => ({
  metadata: { name: `pvc-${uid}`, annotations: { [provisionedBy]: 'example.com/disks' } },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    persistentVolumeReclaimPolicy: 'Delete',
    claimRef: { kind: 'PersistentVolumeClaim', namespace: 'default', name: claim, uid },
    hostPath: { path: `/volumes/${uid}` },
  },
})

/** A volume with data that somebody has restored for a claim: with the annotations of its former life, or without. */
function restoredVolume(claim: string, uid: string, random: SeededRandom): New<PersistentVolume> {
  const { spec } = newVolume(claim, uid)
  const annotations = random.pick<Record<string, string>>([{}, { [provisionedBy]: 'example.com/disks' }, { [provisionedBy]: 'example.com/disks', [boundByController]: 'yes' }])
  return { metadata: { name: `restored-${claim}-${uid.slice(0, 4)}`, annotations }, spec: spec! }
}
