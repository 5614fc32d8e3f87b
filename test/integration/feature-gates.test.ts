import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { GateName } from '../../src/api/feature-gates.ts'
import { openLmdbStore } from '../../src/store/index.ts'
import { TestServer } from './server.ts'

const started: TestServer[] = []

afterEach(async () => {
  for (const server of started.splice(0)) {
    expect(server.errors).toEqual([])
    await server.close()
  }
})

async function startWith(gates: Partial<Record<GateName, boolean>>): Promise<TestServer> {
  const server = await TestServer.start({ gates })
  started.push(server)
  return server
}

const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'main', image: 'nginx' }] } }
const selector = { matchLabels: { app: 'a' } }

const rolling = (maxUnavailable: number | string) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
})

const kinds = {
  statefulsets: { gate: 'StatefulSetConditions', path: '/apis/apps/v1/namespaces/default/statefulsets', make: (spec: object) => ({ metadata: { name: 'a' }, spec: { serviceName: 'a', selector, template, ...spec } }) },
  daemonsets: { gate: 'DaemonSetConditions', path: '/apis/apps/v1/namespaces/default/daemonsets', make: (spec: object) => ({ metadata: { name: 'a' }, spec: { selector, template, ...spec } }) },
} as const

describe.each(Object.entries(kinds))('progressDeadlineSeconds of %s', (_plural, { gate, path, make }) => {
  it('is kept and judged while its gate is on', async () => {
    const server = await startWith({ [gate]: true })
    const { code, body } = await server.create(path, make({ progressDeadlineSeconds: 120 }))
    expect([code, body.spec.progressDeadlineSeconds]).toEqual([201, 120])
    expect((await server.patch(`${path}/a`, { spec: { progressDeadlineSeconds: -1 } })).code).toBe(422)
    expect((await server.patch(`${path}/a`, { spec: { progressDeadlineSeconds: 30 } })).body.spec.progressDeadlineSeconds).toBe(30)
  })

  it('is dropped while its gate is off', async () => {
    const server = await startWith({ [gate]: false })
    const { code, body } = await server.create(path, make({ progressDeadlineSeconds: 120 }))
    expect([code, body.spec.progressDeadlineSeconds]).toEqual([201, undefined])
    const patched = await server.patch(`${path}/a`, { spec: { progressDeadlineSeconds: 30 } })
    expect(patched.body.spec.progressDeadlineSeconds).toBeUndefined()
  })
})

describe('maxUnavailable of statefulsets', () => {
  const { path, make } = kinds.statefulsets
  it('is kept and judged while its gate is on', async () => {
    const server = await startWith({ MaxUnavailableStatefulSet: true })
    const { body } = await server.create(path, make(rolling('25%')))
    expect(body.spec.updateStrategy.rollingUpdate.maxUnavailable).toBe('25%')
    expect((await server.patch(`${path}/a`, { spec: rolling(0) })).code).toBe(422)
  })

  it('that is more than there can be comes with a warning, and without one when the gate is off', async () => {
    const sets = await Promise.all([true, false].map((isOn) => startWith({ MaxUnavailableStatefulSet: isOn })))
    const replies = await Promise.all(sets.map((server) => server.create(path, make({ replicas: 3, ...rolling(7) }))))
    expect(replies.map((r) => r.code)).toEqual([201, 201])
    expect(replies.map((r) => r.warnings)).toEqual([['299 - "spec.updateStrategy.rollingUpdate.maxUnavailable: 7 is more than spec.replicas (3) and acts as 3"'], []])
  })

  it('is dropped while its gate is off', async () => {
    const server = await startWith({ MaxUnavailableStatefulSet: false })
    const { body } = await server.create(path, make(rolling(2)))
    expect(body.spec.updateStrategy.rollingUpdate.maxUnavailable).toBeUndefined()
  })
})

const deadline = {
  field: 'progressDeadlineSeconds',
  set: (value: number) => ({ progressDeadlineSeconds: value }),
  read: (spec: any) => spec.progressDeadlineSeconds,
  byDefault: 2147483647,
}

/** The fields that gates switch, with the default that they have while the gate is on. */
const fields = [
  { ...kinds.statefulsets, ...deadline },
  { ...kinds.daemonsets, ...deadline },
  {
    ...kinds.statefulsets,
    gate: 'MaxUnavailableStatefulSet',
    field: 'maxUnavailable',
    set: rolling,
    read: (spec: any) => spec.updateStrategy.rollingUpdate.maxUnavailable,
    byDefault: 1,
  },
] as const

describe.each(fields)('$field, by $gate,', ({ gate, path, make, set, read, byDefault }) => {
  const isOnAt = [
    { words: 'on all the time', atFirst: true, later: true },
    { words: 'on, then off', atFirst: true, later: false },
    { words: 'off, then on', atFirst: false, later: true },
    { words: 'off all the time', atFirst: false, later: false },
  ]
  let server: TestServer

  /** The field and the generation of an answer. */
  const seen = ({ body }: { body: any }) => [read(body.spec), body.metadata.generation]
  const seenNow = async () => seen(await server.get(`${path}/a`))

  async function makeThenRestart(spec: object, { atFirst, later }: (typeof isOnAt)[number]): Promise<void> {
    const first = await TestServer.start({ gates: { [gate]: atFirst } })
    expect((await first.create(path, make(spec))).code).toBe(201)
    server = await first.restart({ gates: { [gate]: later } })
    started.push(server)
  }

  it.each(isOnAt)('that was given is as it should be with the gate $words', async (isOn) => {
    await makeThenRestart({ minReadySeconds: 0, ...set(7) }, isOn)
    const stored = isOn.atFirst ? 7 : isOn.later ? byDefault : undefined
    expect(await seenNow()).toEqual([stored, 1])
    expect(seen(await server.patch(`${path}/a`, { metadata: { labels: { l: 'v' } } }))).toEqual([stored, 1])
    const isTaken = isOn.atFirst || isOn.later
    expect(seen(await server.patch(`${path}/a`, { spec: set(9) }))).toEqual(isTaken ? [9, 2] : [undefined, 1])
    const other = await server.patch(`${path}/a`, { spec: { minReadySeconds: 1 } })
    expect(seen(other)).toEqual(isTaken ? [9, 3] : [undefined, 2])
  })

  it.each(isOnAt)('that was left out is as it should be with the gate $words', async (isOn) => {
    await makeThenRestart({}, isOn)
    const stored = isOn.atFirst || isOn.later ? byDefault : undefined
    expect(await seenNow()).toEqual([stored, 1])
    expect(seen(await server.patch(`${path}/a`, { metadata: { labels: { l: 'v' } } }))).toEqual([stored, 1])
    // With the gate off nobody puts back the default that a whole new object leaves out.
    const isCleared = isOn.atFirst && !isOn.later
    expect(seen(await server.update(`${path}/a`, make({})))).toEqual(isCleared ? [undefined, 2] : [stored, 1])
    if (isCleared) expect(seen(await server.patch(`${path}/a`, { spec: set(9) }))).toEqual([undefined, 2])
  })

  it('of a live object survives the gate being off for a while, on one data directory', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'coxswain-gates-'))
    const restart = async (isOn: boolean) => {
      await server?.close()
      server = await TestServer.start({ gates: { [gate]: isOn }, store: await openLmdbStore({ dir }) })
    }
    try {
      await restart(true)
      await server.create(path, make(set(7)))
      await restart(false)
      expect(await seenNow()).toEqual([7, 1])
      await server.patch(`${path}/a`, { metadata: { labels: { l: 'off' } } })
      // A second object comes while it is off.
      await server.create(path, { ...make(set(7)), metadata: { name: 'b' } })
      await restart(true)
      expect(await seenNow()).toEqual([7, 1])
      expect(seen(await server.get(`${path}/b`))).toEqual([byDefault, 1])
      expect(seen(await server.patch(`${path}/b`, { metadata: { labels: { l: 'on' } } }))).toEqual([byDefault, 1])
      await restart(false)
      // The label has stored the default along with it.
      expect(seen(await server.get(`${path}/b`))).toEqual([byDefault, 1])
      expect(server.errors).toEqual([])
    } finally {
      await server.close()
      rmSync(dir, { recursive: true })
    }
  })
})

describe('gates', () => {
  it('are told in the metrics', async () => {
    const server = await startWith({ DaemonSetConditions: false })
    expect(await server.metric('kubernetes_feature_enabled', { name: 'DaemonSetConditions' })).toBe(0)
    expect(await server.metric('kubernetes_feature_enabled', { name: 'StatefulSetConditions' })).toBe(1)
  })
})
