import { describe, expect, it } from 'vitest'
import type { Lease, Node, NodeCondition, Pod, Taint } from '../../api/generated/types.ts'
import type { Outcome } from '../kit/index.ts'
import { type Health, heard, labelsToAdd, lostAtMs, lostStatus, wantedTaints } from './health.ts'
import type { Emptying, Marked, Observed } from './observe.ts'
import { type Action, memory, plan, status } from './plan.ts'
import { judgeZones, pauseMs } from './zones.ts'

const now = '2026-01-01T01:00:00Z'
const nowMs = Date.parse(now)
const created = '2026-01-01T00:00:00Z'
const ready = (state: string, over: Partial<NodeCondition> = {}): NodeCondition => ({ type: 'Ready', status: state, lastHeartbeatTime: 'h1', ...over })
const node = (conditions: NodeCondition[] = [ready('True')], over: { name?: string; labels?: object; spec?: object } = {}): Node =>
  ({ metadata: { name: over.name ?? 'n', creationTimestamp: created, labels: over.labels }, spec: over.spec ?? {}, status: { conditions } }) as unknown as Node
const lease = (renewTime: string): Lease => ({ metadata: {}, spec: { renewTime } })

describe('heard() takes for a sign of life', () => {
  const before: Health = { heartbeat: 'h1', renewed: 'r1', heardMs: 1 }
  it.each<[string, Node, Lease | undefined, Health | undefined, number]>([
    ['the first look', node(), undefined, undefined, nowMs],
    ['not a node that says nothing: that counts from its making', node([]), undefined, undefined, Date.parse(created)],
    ['a lease of a node that says nothing else', node([]), lease('r1'), undefined, nowMs],
    ['nothing new', node(), lease('r1'), before, 1],
    ['another heartbeat', node([ready('True', { lastHeartbeatTime: 'h2' })]), lease('r1'), before, nowMs],
    ['the first heartbeat', node(), undefined, { ...before, heartbeat: undefined }, nowMs],
    ['a lease that was renewed', node(), lease('r2'), before, nowMs],
    ['not a lease that went back', node(), lease('r0'), before, 1],
    ['not a status that was taken away', node([]), undefined, before, 1],
  ])('%s', (_, seen, leaseSeen, remembered, heardMs) => {
    const health = heard(seen, leaseSeen, remembered, nowMs)
    expect(health.heardMs).toBe(heardMs)
    expect(lostAtMs(seen, health) - heardMs).toBe(seen.status.conditions?.length ? 50_000 : 60_000)
  })
})

describe('lostStatus()', () => {
  it('says that nothing is known, of what the node says of itself', () => {
    const { conditions } = lostStatus(node([ready('True'), { type: 'DiskPressure', status: 'False' }, { type: 'NetworkUnavailable', status: 'False' }]), nowMs)
    const stopped = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.', lastTransitionTime: now }
    const never = { status: 'Unknown', reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.', lastHeartbeatTime: created, lastTransitionTime: now }
    expect(conditions).toEqual([
      { type: 'Ready', lastHeartbeatTime: 'h1', ...stopped },
      { type: 'DiskPressure', ...stopped },
      { type: 'NetworkUnavailable', status: 'False' },
      { type: 'MemoryPressure', ...never },
      { type: 'PIDPressure', ...never },
    ])
  })

  it('is the same object where that is known', () => {
    const lost = node([ready('Unknown')])
    expect(lostStatus(lost, nowMs)).toBe(lost.status)
  })
})

describe('wantedTaints()', () => {
  const prefix = 'node.kubernetes.io/'
  const evict: Taint = { key: `${prefix}unreachable`, effect: 'NoExecute' }
  const taint = (text: string): Taint => {
    const [key, effect] = text.split(':')
    return { key: key!.includes('/') ? key! : `${prefix}${key}`, effect: effect! }
  }
  it.each<[string, NodeCondition[], string[], Taint | undefined, boolean, string[] | undefined]>([
    ['none for a healthy node', [ready('True')], [], undefined, false, undefined],
    ['not ready', [ready('False')], [], undefined, false, ['not-ready:NoSchedule']],
    ['lost', [ready('Unknown')], ['not-ready:NoSchedule'], evict, false, ['unreachable:NoSchedule', 'unreachable:NoExecute']],
    ['ready again', [ready('True')], ['not-ready:NoSchedule', 'not-ready:NoExecute'], undefined, false, []],
    ['under pressure', [{ type: 'PIDPressure', status: 'True' }, { type: 'MemoryPressure', status: 'Unknown' }], [], undefined, false, ['pid-pressure:NoSchedule']],
    ['cordoned', [], ['pid-pressure:NoSchedule'], undefined, true, ['unschedulable:NoSchedule']],
    ['what others have put there stays', [ready('False')], ['x/mine:NoExecute', 'x/y:NoSchedule'], undefined, false, ['x/mine:NoExecute', 'x/y:NoSchedule', 'not-ready:NoSchedule']],
    ['what is right is not written', [ready('False')], ['not-ready:NoSchedule'], undefined, false, undefined],
  ])('%s', (_, conditions, taints, evicting, unschedulable, wanted) => {
    const next = wantedTaints(node(conditions, { spec: { taints: taints.map(taint), unschedulable } }), evicting, nowMs)
    expect(next?.map(({ key, effect }) => `${key.replace(prefix, '')}:${effect}`)).toEqual(wanted)
    for (const added of next ?? []) if (!taints.map(taint).some((t) => t.key === added.key)) expect(added.timeAdded).toBe(now)
  })
})

describe('zones', () => {
  const zone = (name: string, count: number, notReady: number) =>
    Array.from({ length: count }, (_, i) => node([ready(i < notReady ? 'False' : 'True')], { labels: { 'topology.kubernetes.io/zone': name } }))
  const never = Number.POSITIVE_INFINITY
  it.each<[string, Node[], number, boolean]>([
    ['all is well', zone('a', 10, 0), 10_000, false],
    ['some are lost', zone('a', 10, 5), 10_000, false],
    ['two of two are lost, others live', [...zone('a', 2, 2), ...zone('b', 1, 0)], 10_000, false],
    ['two of three are lost: that is too few to tell', zone('a', 3, 2), 10_000, false],
    ['most of a small zone is lost', zone('a', 20, 11), never, false],
    ['most of a large zone is lost', zone('a', 60, 33), 100_000, false],
    ['all is lost', [...zone('a', 3, 3), ...zone('b', 1, 1)], 10_000, true],
  ])('%s', (_, nodes, pause, areAllLost) => {
    const zones = judgeZones(nodes)
    expect(pauseMs(zones.byName.get(' a')!)).toBe(pause)
    expect(zones.areAllLost).toBe(areAllLost)
  })

  it('do not count nodes that are excluded', () => {
    const excluded = node([ready('True')], { labels: { 'node.kubernetes.io/exclude-disruption': '' } })
    expect(judgeZones([excluded, node([ready('False')])]).areAllLost).toBe(true)
    expect(judgeZones([excluded]).areAllLost).toBe(false)
  })

  it('know when the last of their nodes began to be emptied', () => {
    const emptied = (timeAdded: string) => node([ready('Unknown')], { spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded }] } })
    expect(judgeZones([emptied(created), emptied(now)]).byName.get(' ')!.lastEmptiedMs).toBe(nowMs)
  })
})

describe('plan()', () => {
  const pod = (name: string, since: string, state = 'True'): Pod =>
    ({
      metadata: { name, uid: name },
      status: { conditions: [{ type: 'Ready', status: state, lastTransitionTime: since }] },
    }) as unknown as Pod
  const no: Emptying = { kind: 'no' }
  const seen = (of: Node, silentMs: number, emptying: Emptying = no, pods: Pod[] = [], marked?: Marked): Observed => ({
    node: of,
    health: { heartbeat: 'h1', renewed: undefined, heardMs: nowMs - silentMs },
    isFirstLook: false,
    emptying,
    pods,
    marked,
    nowMs,
  })
  const repelled = (...more: Taint[]) => ({ spec: { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' }, ...more] } })
  const lost = ready('Unknown', { reason: 'NodeStatusUnknown', lastTransitionTime: '2026-01-01T00:50:00Z' })

  const was = pod('was', '2026-01-01T00:40:00Z')
  const late = pod('late', '2026-01-01T00:40:00Z')
  const since = pod('since', '2026-01-01T00:51:00Z')
  const isNot = pod('is not', '2026-01-01T00:40:00Z', 'False')
  const marked = (...uids: (string | false)[]): Marked => ({
    since: lost.lastTransitionTime!,
    uids: new Set(uids.filter((uid) => uid !== false)),
    isComplete: !uids.includes(false),
  })
  const silent = (pods: Pod[], known?: Marked) => seen(node([lost], repelled()), 60_000, undefined, pods, known)

  it.each<[string, Observed, string[], number | undefined]>([
    ['a node that lives is looked at when it would be lost', seen(node(), 20_000), [], 30_001],
    ['a node that is found lost is only written to', seen(node([ready('False')]), 50_001), [], undefined],
    ['a node that is not ready gets its taint, and is watched', seen(node([ready('False')]), 0), ['ChangeNode'], 5000],
    ['a node waits for its turn', seen(node([lost], repelled()), 60_000, { kind: 'wait', ms: 700 }), [], 700],
    ['a node whose turn it is gets the other taint', seen(node([lost], repelled()), 60_000, { kind: 'yes' }), ['ChangeNode'], 5000],
    ['pods of a lost node are not ready', silent([was, since, isNot]), ['MarkPod was', 'MarkPod since'], 5000],
    ['who is said to be ready again is left', silent([was, since], marked('was', 'since')), [], 5000],
    ['who was ready then, and is heard of late, is not', silent([was, late], marked('was')), ['MarkPod late'], 5000],
    ['who became ready after it is left', silent([was, since], marked('was')), [], 5000],
    ['who could not be marked is tried again', silent([was, since], marked('was', false)), ['MarkPod since'], 5000],
    ['a new node is announced', { ...seen(node(), 0), isFirstLook: true, nowMs: Date.parse(created) + 1000 }, ['Register'], expect.any(Number) as unknown as number],
  ])('%s', (_, observed, actions, requeueAfterMs) => {
    const step = plan(observed)
    expect(step.actions.map((a) => (a.kind === 'MarkPod' ? `${a.kind} ${a.pod.metadata.name}` : a.kind))).toEqual(actions)
    expect(step.requeueAfterMs).toEqual(requeueAfterMs)
  })

  const outcome = (done: Pod[], failed: Pod[] = []): Outcome<Action> => ({
    done: done.map((of) => ({ kind: 'MarkPod', pod: of })),
    failed: failed.map((of) => ({ action: { kind: 'MarkPod', pod: of }, error: new Error('no') })),
    skipped: [],
    wait: undefined,
  })

  it.each<[string, Observed, Outcome<Action>, Marked | undefined]>([
    ['nobody on a node that lives', seen(node(), 0), outcome([]), undefined],
    ['nobody, at the first look at a loss', silent([]), outcome([]), marked()],
    ['who was marked', silent([was]), outcome([was]), marked('was')],
    ['who was marked before', silent([late], marked('was')), outcome([late]), marked('was', 'late')],
    ['that somebody is missing', silent([was, late]), outcome([was], [late]), marked('was', false)],
    ['that nobody is missing any more', silent([late], marked('was', false)), outcome([late]), marked('was', 'late')],
  ])('memory() has %s', (_, observed, done, expected) => {
    expect(memory(observed, done)).toEqual({ health: observed.health, marked: expected })
  })

  it('status() is the same object unless the node is found lost', () => {
    const alive = node()
    expect(status(seen(alive, 50_000))).toBe(alive.status)
    expect(status(seen(alive, 50_001))).not.toBe(alive.status)
  })
})

it.each<[string, object | undefined, object | undefined]>([
  ['has none', undefined, undefined],
  ['has both names', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'linux' }, undefined],
  ['has the new names', { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'arm64' }, { 'beta.kubernetes.io/os': 'linux', 'beta.kubernetes.io/arch': 'arm64' }],
  ['has another value under the old name', { 'kubernetes.io/os': 'linux', 'beta.kubernetes.io/os': 'x' }, { 'beta.kubernetes.io/os': 'linux' }],
])('labelsToAdd() to a node that %s', (_, labels, expected) => {
  expect(labelsToAdd(node([], { labels: labels as object }))).toEqual(expected)
})
