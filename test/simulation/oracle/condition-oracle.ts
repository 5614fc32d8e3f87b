import type { KubeObject } from '../../../src/api/object.ts'
import { type Call, describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { Manager } from '../manager.ts'
import type { Change } from '../truth.ts'
import type { World } from '../world.ts'
import { KnowledgeKeeper } from './knowledge.ts'
import { conditionOf, managerOf } from './reading.ts'
import { type Report, type Rollout, nextRollout } from './rollout-model.ts'
import { type Statement, factsOfStatement, judgeStatus, reportOf } from './status-rules.ts'
import type { Status, WorkloadKind } from './workload-kind.ts'

/** A status that was sent, and may be stored at any time. */
interface Pending {
  /** The version of the owner that it replaces. */
  version: string
  conditions: string
  report: Report | undefined
}

interface Stored {
  revision: number
  rollout: Rollout | undefined
}

/** The time after the faults for which a deadline may be overdue. */
const lateMs = 3000
/** The time for which all caches must be current before that counts. */
const calmMs = 5000
/** A deadline that comes sooner is waited for: nothing may happen while the world is idle. */
const soonMs = 100_000

const conditionsText = (status: Status | undefined): string =>
  JSON.stringify(((status?.conditions ?? []) as { type: string }[]).map(({ type, ...rest }) => [type, Object.entries(rest).toSorted()]))

const statusOf = (object: KubeObject | undefined): Status => (object as { status?: Status } | undefined)?.status ?? {}

/** Judges conditions of workloads by what their writers had seen and, in the end, by what is true. It shares no code with those who compute them. */
class ConditionOracle {
  readonly #kinds: ReadonlyMap<string, WorkloadKind>
  readonly #keeper = new KnowledgeKeeper()
  /** By uid of the owner. */
  readonly #pending = new Map<string, Pending[]>()
  readonly #stored = new Map<string, Stored[]>()
  readonly #turns = new Map<string, { turns: number; causes: number }>()
  /** Calls from the time of the faults that were not answered yet. A controller does nothing for an owner meanwhile. */
  readonly #troubled = new Set<Call>()
  #calmSinceMs: number | undefined

  constructor(kinds: readonly WorkloadKind[]) {
    this.#kinds = new Map(kinds.map((kind) => [kind.plural, kind]))
  }

  rules(): Invariant[] {
    return [
      {
        name: 'every condition follows from what its writer saw',
        sent: (call, world) => {
          if (world.faults.isOn) this.#troubled.add(call)
          return this.#judgeCall(call, world)
        },
        happened: (call, world) => void this.#keeper.happened(call, world),
        answered: (call, world) => {
          this.#troubled.delete(call)
          this.#keeper.answered(call, world)
          return undefined
        },
        changed: (change) => void this.#note(change),
      },
      { name: 'Available turns no more often than there is a reason', changed: (change) => this.#countTurns(change) },
      { name: 'conditions tell the truth in the end', unfinished: (world) => this.#judgeTruth(world) },
    ]
  }

  #judgeCall(call: Call, world: World): Verdict {
    const kind = call.method === 'PUT' && call.subresource === 'status' ? this.#kinds.get(call.plural) : undefined
    const life = world.lives.get(call.process)
    const body = call.body as KubeObject
    const { uid = '', resourceVersion = '' } = kind ? body.metadata : {}
    const observation = life?.observations.get(uid)
    if (!kind || !life || !observation) return undefined
    // A status that met a conflict is written on top of a newer version.
    const previous = world.truth.change(Number(resourceVersion))?.after ?? observation.owner
    const knowledge = this.#keeper.of(call, previous, observation, world)
    const before = this.#rolloutAt(uid, Number(previous.metadata.resourceVersion))
    const statement: Statement = { kind, knowledge, status: statusOf(body), previous, before, hasConditions: true }
    if (previous.metadata.deletionTimestamp) return undefined
    const facts = factsOfStatement(statement)
    const report = reportOf(statement, facts)
    const pending = this.#pending.get(uid) ?? []
    this.#pending.set(uid, [...pending, { version: resourceVersion, conditions: conditionsText(statement.status), report }])
    const verdict = judgeStatus(statement, facts, report)
    return verdict && `${life.identity} ${describe(call)}, which ${verdict}`
  }

  /** Takes note of what was stored. Whoever wrote it did so on top of the version before. */
  #note({ plural, before, after, revision }: Change): void {
    if (!this.#kinds.has(plural) || !after || before?.metadata.uid !== after.metadata.uid) return
    if (JSON.stringify(statusOf(before)) === JSON.stringify(statusOf(after))) return
    const { uid = '' } = after.metadata
    const base = before!.metadata.resourceVersion
    const candidates = (this.#pending.get(uid) ?? []).filter(({ version }) => version === base)
    const pending = candidates.find(({ conditions }) => conditions === conditionsText(statusOf(after))) ?? candidates.at(-1)
    if (!pending) return
    this.#pending.delete(uid)
    const stored = this.#stored.get(uid) ?? []
    const last = stored.at(-1)?.rollout
    this.#stored.set(uid, [...stored, { revision, rollout: pending.report && nextRollout(last, { ...pending.report, said: conditionOf(after, 'Progressing') }) }])
  }

  #rolloutAt(uid: string, revision: number): Rollout | undefined {
    return this.#stored.get(uid)?.findLast((stored) => stored.revision <= revision)?.rollout
  }

  /** Each time Available turns, something has happened that it hasn't told of before: to a pod, to a node, or to the owner itself. */
  #countTurns({ plural, before, after }: Change): Verdict {
    const of = (uid: string) => {
      const known = this.#turns.get(uid) ?? { turns: 0, causes: 0 }
      this.#turns.set(uid, known)
      return known
    }
    // A pod that has become ready may become available later.
    if (plural === 'pods' || plural === 'replicasets') for (const uid of new Set([before, after].flatMap((object) => (object && managerOf(object)) ?? []))) of(uid).causes += 2
    if (plural === 'nodes') for (const turns of this.#turns.values()) turns.causes++
    if (!this.#kinds.has(plural) || !after || before?.metadata.uid !== after.metadata.uid) return undefined
    const turns = of(after.metadata.uid!)
    if (before!.metadata.generation !== after.metadata.generation) turns.causes++
    const [was, is] = [before, after].map((object) => conditionOf(object, 'Available')?.status)
    if (was === undefined || was === is) return undefined
    turns.turns++
    return turns.turns > turns.causes + 1 ? `${after.metadata.name} has turned ${turns.turns} times, and ${turns.causes} things have happened` : undefined
  }

  #judgeTruth(world: World): Verdict {
    const leader = world.managers.find(({ life }) => life?.manager.isActive)
    if (!leader) return 'nobody leads'
    this.#followCalm(world, leader)
    const atMs = leader.life!.process.clock.now()
    for (const kind of this.#kinds.values()) {
      for (const owner of world.truth.list(kind.plural)) {
        if (owner.metadata.deletionTimestamp) continue
        const verdict = this.#judgeOwner(kind, owner, atMs, world)
        if (verdict) return `${kind.plural}/${owner.metadata.name} ${verdict}`
      }
    }
    return undefined
  }

  #judgeOwner(kind: WorkloadKind, owner: KubeObject, atMs: number, world: World): Verdict {
    const before = this.#stored.get(owner.metadata.uid!)?.at(-1)?.rollout
    const statement: Statement = { kind, knowledge: KnowledgeKeeper.ofTruth(owner, atMs, world), status: statusOf(owner), previous: owner, before, hasConditions: true }
    const facts = factsOfStatement(statement)
    const report = reportOf(statement, facts)
    const deadlineSeconds = kind.deadlineSeconds(owner)
    const isRunning = before?.phase === 'moving' && deadlineSeconds !== undefined
    const leftMs = isRunning ? before.startMs + deadlineSeconds * 1000 - atMs : Number.POSITIVE_INFINITY
    const dueMs = world.timeline.nowMs + leftMs
    if (leftMs < -lateMs && this.#calmSinceMs !== undefined && dueMs > this.#calmSinceMs + calmMs) {
      world.judge('a deadline is told of in time', `${kind.plural}/${owner.metadata.name} still says ${before!.said?.reason} ${(-leftMs / 1000).toFixed(1)} s after its deadline`)
    }
    return judgeStatus(statement, facts, report) ?? (leftMs < soonMs ? `has ${(leftMs / 1000).toFixed(1)} s left to its deadline` : undefined)
  }

  #followCalm(world: World, { life }: Manager): void {
    const isWaiting = [...this.#troubled].some((call) => call.process === life!.process)
    const isSynced = [...life!.caches].every((cache) => cache.behind() === undefined)
    const isCalm = !world.faults.isOn && !isWaiting && life!.manager.role.kind === 'acting' && isSynced
    this.#calmSinceMs = isCalm ? (this.#calmSinceMs ?? world.timeline.nowMs) : undefined
  }
}

/** Rules about the conditions of these kinds. */
export const conditionRules = (...kinds: WorkloadKind[]): Invariant[] => new ConditionOracle(kinds).rules()
