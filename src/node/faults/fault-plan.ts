import type { LabelMatcher } from '../../api/selectors/label-selector.ts'
import { parseLabelSelector } from '../../api/selectors/parse-label-selector.ts'
import type { Clock } from '../../base/clock.ts'
import { parseDuration } from '../../base/duration.ts'
import type { Random } from '../../base/random.ts'
import type { Fault, Faults, Stage, Subject } from '../faults.ts'
import { namePattern } from '../name-pattern.ts'
import { type FaultRule, type StageName, stageNames } from './fault-rule.ts'

/** The messages of failing stages, for faults without a message. */
const messages: Record<StageName, string> = {
  volumes: 'MountVolume.SetUp failed: the fault plan says so',
  csi: 'rpc error: code = DeadlineExceeded desc = context deadline exceeded',
  network: 'failed to setup network for sandbox: the fault plan says so',
  ipam: 'failed to setup network for sandbox: failed to allocate for range 0: no IP addresses available in range set',
  sandbox: 'the fault plan says so',
  'sandbox-crash': 'the fault plan crashes it',
  'runtime-handler': "failed to get sandbox runtime: no runtime for the pod's handler is configured",
  image: 'failed to pull image: the fault plan says so',
  container: 'failed to start container: the fault plan says so',
  heartbeat: 'the fault plan holds it back',
  'memory-pressure': 'the fault plan takes the memory',
  'disk-pressure': 'the fault plan takes the disk',
  'pid-pressure': 'the fault plan takes the processes',
}

/** Stages whose faults occur once per pod unless the plan has `times`: a crashed sandbox would crash again forever. */
const onceOnly: ReadonlySet<StageName> = new Set(['sandbox-crash'])

interface Active {
  readonly rule: FaultRule
  readonly stage: Stage
  readonly fault: Fault
  readonly isSubject: (subject: Subject) => boolean
  readonly fromMs: number
  readonly untilMs: number
  /** The number of occurrences by pod or node. */
  readonly hits: Map<string, number>
}

/** The faults of nodes, checked at every stage of every pod. Rules may be added and removed at any time. */
export class FaultPlan implements Faults {
  readonly #clock: Clock
  readonly #random: Random
  readonly #listeners = new Set<() => void>()
  #active: readonly Active[] = []
  #cancelBeginnings: readonly (() => void)[] = []

  constructor(clock: Clock, random: Random, rules: readonly FaultRule[] = []) {
    this.#clock = clock
    this.#random = random
    this.replace(rules)
  }

  /** Replaces the rules. Rules that were in the plan before keep their counts. */
  replace(rules: readonly FaultRule[]): void {
    const before = new Map(this.#active.map((a) => [JSON.stringify(a.rule), a]))
    const nowMs = this.#clock.now()
    this.#active = rules.map((rule) => before.get(JSON.stringify(rule)) ?? activate(rule, nowMs))
    for (const cancel of this.#cancelBeginnings) cancel()
    const tell = () => this.#listeners.forEach((listener) => listener())
    this.#cancelBeginnings = this.#active.flatMap(({ fromMs }) =>
      fromMs > nowMs ? [this.#clock.after(fromMs - nowMs, tell)] : [],
    )
    tell()
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  at(stage: Stage, subject: Subject): Fault | undefined {
    let found: Fault | undefined
    for (const active of this.#active) {
      if (active.stage !== stage || !this.#happens(active, subject)) continue
      const { delayMs } = active.fault
      found = { delayMs: (found?.delayMs ?? 0) + (delayMs ?? 0), fail: found?.fail ?? wordsOf(active, subject) }
    }
    return found
  }

  #happens({ rule, isSubject, fromMs, untilMs, hits }: Active, subject: Subject): boolean {
    const nowMs = this.#clock.now()
    if (nowMs < fromMs || nowMs >= untilMs || !isSubject(subject)) return false
    if (rule.chance !== undefined && this.#random.next() >= rule.chance) return false
    const { times = onceOnly.has(rule.stage) ? 1 : undefined } = rule
    if (times === undefined) return true
    const key = `${subject.pod?.metadata.uid ?? subject.node}/${subject.container ?? ''}`
    const count = hits.get(key) ?? 0
    if (count >= times) return false
    hits.set(key, count + 1)
    return true
  }
}

/** The message of a failure. A default message names the driver. */
function wordsOf({ rule, fault: { fail } }: Active, { driver }: Subject): string | undefined {
  return fail !== undefined && rule.fail === true && rule.stage === 'csi' && driver ? `driver ${driver}: ${fail}` : fail
}

function activate(rule: FaultRule, nowMs: number): Active {
  const fromMs = nowMs + (parseDuration(rule.after) ?? 0)
  const lasts = parseDuration(rule.for)
  const untilMs = Math.min(
    lasts === undefined ? Infinity : fromMs + lasts,
    rule.until === undefined ? Infinity : Date.parse(rule.until),
  )
  const delayMs = parseDuration(rule.delay)
  const fault: Fault = {
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(rule.fail === undefined ? {} : { fail: rule.fail === true ? messages[rule.stage] : rule.fail }),
  }
  return {
    rule,
    stage: stageNames[rule.stage],
    fault,
    isSubject: subjectMatcher(rule),
    fromMs,
    untilMs,
    hits: new Map(),
  }
}

function subjectMatcher({ pods, nodes, container, driver }: FaultRule): (subject: Subject) => boolean {
  const isNode = nameMatcher(nodes)
  const isNamespace = nameMatcher(pods?.namespace)
  const isName = nameMatcher(pods?.name)
  const isDriver = nameMatcher(driver)
  const hasLabels: LabelMatcher = parseLabelSelector(pods?.selector ?? '')
  return ({ node, pod, container: at, driver: by }) => {
    if (!isNode(node) || !isDriver(by ?? '') || (container !== undefined && at !== container)) return false
    if (!pods) return true
    return (
      pod !== undefined &&
      isNamespace(pod.metadata.namespace ?? '') &&
      isName(pod.metadata.name ?? '') &&
      hasLabels(pod.metadata.labels)
    )
  }
}

function nameMatcher(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true
  const expression = namePattern(pattern)
  return (name) => expression.test(name)
}
