import type { ContainerStatus, Pod } from '../../api/generated/types.ts'
import { sandboxConditionOf } from '../../api/kinds/sandbox-condition.ts'
import { isPodActive, isPodReady, millisecondsOf } from '../kit/workload/index.ts'
import { type Member, type Observed, isWanted } from './observe.ts'
import { conditionOf } from './sandbox.ts'
import { countOf, waitMs } from './tries.ts'

/** What a pod waits for: a sandbox that gets ready, or, with one that is, its own readiness. */
export interface Trouble {
  what: 'sandbox' | 'readiness'
  /** As the API says it: another time is another wait. */
  since: string
}

/** Undefined for a pod that waits for neither, that makes progress, or of which it is not known since when. */
export function troubleOf(pod: Pod): Trouble | undefined {
  const sandbox = sandboxConditionOf(pod)
  const turned = sandbox?.lastTransitionTime
  if (!isPodActive(pod) || isPodReady(pod) || !turned) return undefined
  if (sandbox.status !== 'True') return { what: 'sandbox', since: turned }
  if (isStarting(pod)) return undefined
  const since = latest(turned, initializedAt(pod))
  return wasReadySince(pod, since) ? undefined : { what: 'readiness', since }
}

/** One that was ready and is not any more has lost its readiness later than its sandbox got ready: it may be on its way back. */
const wasReadySince = (pod: Pod, since: string): boolean => millisecondsOf(conditionOf(pod, 'Ready')?.lastTransitionTime) > millisecondsOf(since)

const isSidecar = ({ spec }: Pod, name: string): boolean =>
  spec?.initContainers?.some((container) => container.name === name && container.restartPolicy === 'Always') === true

const initStatuses = (pod: Pod): ContainerStatus[] => (pod.status?.initContainerStatuses ?? []).filter(({ name }) => !isSidecar(pod, name))

/** True if an init container runs, or a container has its first start behind it and its startup probe before it: both may take long. */
function isStarting(pod: Pod): boolean {
  const probed = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].filter(({ startupProbe }) => startupProbe)
  const all = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const isStartingUp = ({ name, state, started, restartCount }: ContainerStatus) =>
    state?.running !== undefined && started !== true && restartCount === 0 && probed.some((container) => container.name === name)
  return initStatuses(pod).some(({ state }) => state?.running !== undefined) || all.some(isStartingUp)
}

/** When the last init container ended well. */
const initializedAt = (pod: Pod): string | undefined =>
  initStatuses(pod)
    .flatMap(({ state }) => (state?.terminated?.exitCode === 0 ? (state.terminated.finishedAt ?? []) : []))
    .toSorted()
    .at(-1)

const latest = (a: string, b: string | undefined): string => (b !== undefined && millisecondsOf(b) > millisecondsOf(a) ? b : a)

/** A pod that has been in trouble for too long. */
export interface Due {
  member: Member
  trouble: Trouble
  /** How often it was made anew already, without success. */
  tries: number
}

/** Who has had their time, and after how long somebody has had it next. */
export interface DuePods {
  due: readonly Due[]
  /** Those who would be due, had they not been made anew before: until when they are left alone. */
  heldBack: readonly (Due & { untilMs: number })[]
  nextMs: number | undefined
  /** How often pods of the set were made anew, without success. */
  tries: number
}

/** Who has waited longest is first, so that one that fails again and again keeps nobody from their turn. */
export function duePods({ set, members, tries, nowMs }: Observed, afterMs: number): DuePods {
  const due: Due[] = []
  const heldBack: (Due & { untilMs: number })[] = []
  let nextMs: number | undefined
  let sum = 0
  for (const member of members) {
    if (!isWanted(set, member.ordinal)) continue
    const trouble = troubleOf(member.pod)
    const sinceMs = trouble ? millisecondsOf(trouble.since) : nowMs
    const count = countOf(tries, member.pod.metadata.name ?? '', sinceMs, afterMs)
    sum += count
    if (!trouble) continue
    const one = { member, trouble, tries: count }
    const untilMs = sinceMs + waitMs(afterMs, count)
    if (untilMs <= nowMs) due.push(one)
    else nextMs = Math.min(nextMs ?? Infinity, (sinceMs + afterMs > nowMs ? sinceMs + afterMs : untilMs) - nowMs)
    if (untilMs > nowMs && sinceMs + afterMs <= nowMs) heldBack.push({ ...one, untilMs })
  }
  return { due: due.sort((a, b) => millisecondsOf(a.trouble.since) - millisecondsOf(b.trouble.since)), heldBack, nextMs, tries: sum }
}
