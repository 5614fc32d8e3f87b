import { describe, expect, it } from 'vitest'
import { ApiError, notFound } from '../../api/errors.ts'
import { FeatureGates } from '../../api/feature-gates.ts'
import type { Pod, PodDisruptionBudget } from '../../api/generated/types.ts'
import { podDeletionGracePeriod } from '../../api/kinds/pods/pod-availability.ts'
import { samplePod } from '../../api/kinds/pods/sample-pod.ts'
import type { KubeObject } from '../../api/object.ts'
import { nonnegativeMessage } from '../../api/validation/field-checks.ts'
import type { DeleteOptions, Objects } from '../objects/objects.ts'
import type { ActionContext, Resource } from '../registry/resource.ts'
import { pods } from '../resources/core/pods.ts'
import type { Action } from './action.ts'
import { bindings, podBinding } from './pod-binding.ts'
import { podEviction } from './pod-eviction.ts'
import { podExec, podLog } from './pod-streams.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

/** The objects of one namespace, in memory. */
class Shelf implements Objects {
  follow(): void {}

  readonly stored = new Map<string, KubeObject>()
  readonly deleted: { name: string; grace: number; dryRun: boolean }[] = []

  put(plural: string, object: KubeObject): this {
    this.stored.set(`${plural}/${object.metadata.name}`, object)
    return this
  }

  get<T extends KubeObject>(_group: string, plural: string, _namespace: string, name: string): T | undefined {
    return this.stored.get(`${plural}/${name}`) as T | undefined
  }

  list<T extends KubeObject>(_group: string, plural: string): T[] {
    return [...this.stored].filter(([key]) => key.startsWith(`${plural}/`)).map(([, object]) => object as T)
  }

  async update<T extends KubeObject>(resource: Resource, _namespace: string, name: string, change: (copy: T, stored: T) => T, options: { dryRun?: boolean } = {}): Promise<T> {
    const stored = this.stored.get(`${resource.plural}/${name}`) as T | undefined
    if (!stored) throw notFound({ group: resource.group, resource: resource.plural }, name)
    const next = change(structuredClone(stored), stored)
    if (!options.dryRun) this.put(resource.plural, next)
    return next
  }

  async delete(resource: Resource, _namespace: string, name: string, options: DeleteOptions, { dryRun = false }: { dryRun?: boolean } = {}): Promise<KubeObject> {
    const object = this.stored.get(`${resource.plural}/${name}`)!
    this.deleted.push({ name, grace: Number(podDeletionGracePeriod(object as Pod, options.gracePeriodSeconds)), dryRun })
    return object
  }
}

function run(action: Action, objects: Objects, fields: Partial<ActionContext> = {}) {
  return action.run({
    resource: pods,
    subresource: action.of.subresource,
    namespace: 'ns',
    name: 'p',
    query: new URLSearchParams(),
    body: undefined,
    user: { name: 'u', groups: [] },
    dryRun: false,
    objects,
    rules: { gates: FeatureGates.of(), now },
    warnings: [],
    signal: () => new AbortController().signal,
    ...fields,
  })
}

/** The error of a refused action: code and message. */
async function refusal(answer: Promise<unknown>): Promise<ApiError> {
  const error = await answer.then(
    () => undefined,
    (e: unknown) => e,
  )
  if (!(error instanceof ApiError)) throw new Error(`not refused: ${String(error)}`)
  return error
}

const bound = { nodeName: 'n1' }
const binding = (fields: object = {}, metadata: object = {}) => ({
  metadata: { name: 'p', ...metadata },
  target: { name: 'n1' },
  ...fields,
}) as KubeObject

describe('pods/binding', () => {
  it('gives the pod its node, marks it as scheduled and takes labels of the binding and of the place', async () => {
    const node = { metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'z', other: 'o' } } }
    const shelf = new Shelf().put('pods', samplePod({}, { status: { nominatedNodeName: 'n9' } })).put('nodes', node)
    expect(await run(podBinding, shelf, { body: binding({}, { annotations: { a: 'b' }, labels: { l: 'm' } }) })).toMatchObject(
      { code: 201, object: { status: 'Success' } },
    )
    const pod = shelf.get<Pod>('', 'pods', 'ns', 'p')!
    expect(pod.spec.nodeName).toBe('n1')
    expect(pod.metadata).toMatchObject({ annotations: { a: 'b' }, labels: { l: 'm', 'topology.kubernetes.io/zone': 'z' } })
    expect(pod.metadata.labels).not.toHaveProperty('other')
    expect(pod.status).toEqual(
      { conditions: [{ type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z' }] },
    )
  })

  it.each([
    { name: 'that has a node', pod: samplePod(bound), why: 'pod p is already assigned to node "n1"' },
    { name: 'with gates', pod: samplePod({ schedulingGates: [{ name: 'g' }] }), why: 'pod p has non-empty .spec.schedulingGates' },
    {
      name: 'that is being deleted',
      pod: samplePod({}, { metadata: { name: 'p', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
      why: 'pod p is being deleted, cannot be assigned to a host',
    },
  ])('refuses a pod $name', async ({ pod, why }) => {
    const error = await refusal(run(podBinding, new Shelf().put('pods', pod), { body: binding() }))
    expect([error.code, error.message]).toEqual([409, `Operation cannot be fulfilled on pods/binding "p": ${why}`])
  })

  it('refuses another name, another pod of the name, and a target that is no node', async () => {
    const shelf = new Shelf().put('pods', samplePod())
    expect((await refusal((async () => run(podBinding, shelf, { body: binding({}, { name: 'q' }) }))())).code).toBe(400)
    expect((await refusal(run(podBinding, shelf, { body: binding({}, { uid: 'other' }) }))).message).toContain('UID in precondition: other')
    expect((await refusal(run(podBinding, shelf, { body: binding({ target: { kind: 'Pod', name: 'n' } }) }))).code).toBe(500)
  })

  it('changes nothing in a dry run, and takes the pod from the body by the old way', async () => {
    const shelf = new Shelf().put('pods', samplePod())
    await run(podBinding, shelf, { body: binding(), dryRun: true })
    expect(shelf.get<Pod>('', 'pods', 'ns', 'p')?.spec.nodeName).toBeUndefined()
    await run({ ...podBinding, run: bindings.virtual!.answer }, shelf, { body: binding(), name: '' })
    expect(shelf.get<Pod>('', 'pods', 'ns', 'p')?.spec.nodeName).toBe('n1')
  })
})

describe('pods/eviction', () => {
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  const podOf = (status: object) => samplePod(bound, { metadata: { name: 'p', labels: { a: 'b' } }, status })
  const budget = (status: object, spec: object = {}, name = 'b') =>
    ({
      metadata: { name, generation: 1 },
      spec: { selector: { matchLabels: { a: 'b' } }, ...spec },
      status: { observedGeneration: 1, desiredHealthy: 1, currentHealthy: 1, expectedPods: 2, disruptionsAllowed: 0, ...status },
    }) as PodDisruptionBudget
  const evict = (shelf: Shelf, fields: Partial<ActionContext> = {}, deleteOptions?: object) =>
    run(
      podEviction,
      shelf,
      { body: { metadata: { name: 'p' }, ...(deleteOptions ? { deleteOptions } : {}) } as KubeObject, ...fields },
    )
  const setUp = (status: object, ...budgets: PodDisruptionBudget[]) => {
    const shelf = new Shelf().put('pods', podOf(status))
    for (const b of budgets) shelf.put('poddisruptionbudgets', b)
    return shelf
  }

  it('marks and deletes a pod that no budget guards, with the grace asked for', async () => {
    const shelf = setUp(ready)
    await evict(shelf, {}, { gracePeriodSeconds: 7 })
    expect(shelf.deleted).toEqual([{ name: 'p', grace: 7, dryRun: false }])
    expect(shelf.get<Pod>('', 'pods', 'ns', 'p')?.status.conditions?.at(-1)).toMatchObject(
      { type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' },
    )
  })

  it('spends a disruption of the budget', async () => {
    const shelf = setUp(ready, budget({ disruptionsAllowed: 1, currentHealthy: 2 }))
    await evict(shelf)
    expect(shelf.get<PodDisruptionBudget>('', 'poddisruptionbudgets', 'ns', 'b')?.status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: '2026-01-01T00:00:00Z' },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    })
  })

  it.each([
    {
      name: 'a budget that allows none',
      budgets: [budget({})],
      code: 429,
      cause: 'The disruption budget b needs 1 healthy pods and has 1 currently',
      retry: undefined,
    },
    {
      name: 'a budget not yet seen',
      budgets: [budget({ observedGeneration: 0, disruptionsAllowed: 1 })],
      code: 429,
      cause: 'The disruption budget b is still being processed by the server.',
      retry: 10,
    },
    { name: 'two budgets', budgets: [budget({}), budget({}, {}, 'b2')], code: 500, cause: undefined, retry: undefined },
  ])('is refused by $name', async ({ budgets, code, cause, retry }) => {
    const shelf = setUp(ready, ...budgets)
    const error = await refusal(evict(shelf))
    expect(error.code).toBe(code)
    expect(error.details?.causes?.[0]?.message).toBe(cause)
    expect(error.details?.retryAfterSeconds).toBe(retry)
    expect(shelf.deleted).toEqual([])
  })

  it.each([
    { name: 'a pending pod', status: { phase: 'Pending' }, pdb: budget({}) },
    { name: 'a finished pod', status: { phase: 'Succeeded' }, pdb: budget({}) },
    { name: 'an unready pod while enough are healthy', status: { phase: 'Running' }, pdb: budget({}) },
    {
      name: 'an unready pod that may always go',
      status: { phase: 'Running' },
      pdb: budget({ currentHealthy: 0 }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
    },
    { name: 'a pod of another budget', status: ready, pdb: budget({}, { selector: { matchLabels: { a: 'x' } } }) },
  ])('lets go $name though the budget allows none', async ({ status, pdb }) => {
    const shelf = setUp(status, pdb)
    await evict(shelf)
    expect(shelf.deleted).toHaveLength(1)
  })

  it('asks a budget for everything, also about a pod without labels', async () => {
    const shelf = new Shelf().put('pods', samplePod(bound, { metadata: { name: 'p' }, status: ready })).put('poddisruptionbudgets', budget({}, { selector: {} }))
    expect((await refusal(evict(shelf))).code).toBe(429)
  })

  it('asks the budget if a pending pod becomes ready at the last moment', async () => {
    const at = (resourceVersion: string, status: object) => samplePod(bound, { metadata: { name: 'p', labels: { a: 'b' }, resourceVersion }, status })
    const shelf = new Shelf().put('pods', at('1', { phase: 'Pending' })).put('poddisruptionbudgets', budget({}))
    const update = shelf.update.bind(shelf)
    shelf.update = ((...args: Parameters<typeof update>) => update(...(shelf.put('pods', at('2', ready)), args))) as Shelf['update']
    expect((await refusal(evict(shelf))).code).toBe(429)
    expect(shelf.deleted).toEqual([])
  })

  it('keeps an unready pod while too few are healthy', async () => {
    expect((await refusal(evict(setUp({ phase: 'Running' }, budget({ currentHealthy: 0 }))))).code).toBe(429)
  })

  it('spends and deletes nothing in a dry run', async () => {
    const shelf = setUp(ready, budget({ disruptionsAllowed: 1 }))
    await evict(shelf, { dryRun: true })
    expect(shelf.deleted).toEqual([{ name: 'p', grace: 30, dryRun: true }])
    expect(shelf.get<PodDisruptionBudget>('', 'poddisruptionbudgets', 'ns', 'b')?.status.disruptionsAllowed).toBe(1)
    expect(shelf.get<Pod>('', 'pods', 'ns', 'p')?.status).toEqual(podOf(ready).status)
  })

  it('refuses another pod of the name', async () => {
    const error = await refusal(evict(setUp(ready), {}, { preconditions: { uid: 'other' } }))
    expect(error.message).toContain('Operation cannot be fulfilled on Pod "p": the UID in the precondition (other) does not match')
  })
})

describe('connections into a pod', () => {
  const ask = (action: Action, pod: Pod, query = '') => run(
    action,
    new Shelf().put('pods', pod),
    { query: new URLSearchParams(query) },
  )

  it('has no log of a pod without node', async () => {
    expect(await ask(podLog, samplePod())).toEqual({ code: 204, text: '' })
  })

  it.each([
    {
      name: 'a log of a container that is not there',
      action: podLog,
      pod: samplePod(),
      query: 'container=x',
      says: 'container x is not valid for pod p',
    },
    {
      name: 'a log of one of two containers',
      action: podLog,
      pod: samplePod({ containers: [{ name: 'a', image: 'i' }, { name: 'b', image: 'i' }] }),
      query: '',
      says: 'a container name must be specified for pod p, choose one of: [a b]',
    },
    {
      name: 'a log with options that are none',
      action: podLog,
      pod: samplePod(),
      query: 'tailLines=-1',
      says: 'PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
    },
    {
      name: 'a log with an option of many digits',
      action: podLog,
      pod: samplePod(),
      query: 'tailLines=-9007199254740993',
      says: `PodLogOptions "p" is invalid: tailLines: Invalid value: -9007199254740993: ${nonnegativeMessage}`,
    },
    {
      name: 'a log with an option that is no number',
      action: podLog,
      pod: samplePod(),
      query: 'tailLines=x',
      says: 'strconv.ParseInt: parsing "x": invalid syntax',
    },
    { name: 'a log from a node that is not there', action: podLog, pod: samplePod(bound), query: '', says: 'pods "n1" not found' },
    {
      name: 'a command in a pod without node',
      action: podExec,
      pod: samplePod(),
      query: 'command=x',
      says: 'pod p does not have a host assigned',
    },
  ])('refuses $name', async ({ action, pod, query, says }) => {
    expect((await refusal(ask(action, pod, query))).message).toBe(says)
  })
})
