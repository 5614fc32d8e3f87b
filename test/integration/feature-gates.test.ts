import { afterEach, describe, expect, it } from 'vitest'
import type { GateName } from '../../src/api/feature-gates.ts'
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
  const rolling = (maxUnavailable: number | string) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } } })

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

describe('fields that came while their gates were on', () => {
  it('are kept by updates after the gates were switched off', async () => {
    const { path, make } = kinds.statefulsets
    const on = await startWith({})
    await on.create(path, make({ progressDeadlineSeconds: 120, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }))
    const { ApiServer, Authenticator, admissionPlugins } = await import('../../src/server/index.ts')
    const { FeatureGates } = await import('../../src/api/feature-gates.ts')
    const { silentLogger } = await import('../../src/base/logger.ts')
    const { MemoryExchange } = await import('./exchange.ts')
    const off = await ApiServer.open({
      store: on.store,
      gates: FeatureGates.of({ StatefulSetConditions: false, MaxUnavailableStatefulSet: false }),
      authenticator: new Authenticator(),
      admission: admissionPlugins,
      clock: on.clock,
      random: on.api.parts.random,
      logger: silentLogger,
      release: '0.0.0-test',
      freezesObjects: true,
      address: '127.0.0.1:6443',
    })
    const body = Buffer.from(JSON.stringify({ spec: { replicas: 3 } }))
    const exchange = new MemoryExchange({ method: 'PATCH', url: `${path}/a`, headers: { 'content-type': 'application/merge-patch+json' }, body })
    await off.handle(exchange)
    const { spec } = JSON.parse((await exchange.answered).text) as { spec: { replicas: number; progressDeadlineSeconds: number; updateStrategy: { rollingUpdate: { maxUnavailable: number } } } }
    expect([spec.replicas, spec.progressDeadlineSeconds, spec.updateStrategy.rollingUpdate.maxUnavailable]).toEqual([3, 120, 2])
    off.close()
  })
})

describe('gates', () => {
  it('are told in the metrics', async () => {
    const server = await startWith({ DaemonSetConditions: false })
    expect(await server.metric('kubernetes_feature_enabled', { name: 'DaemonSetConditions' })).toBe(0)
    expect(await server.metric('kubernetes_feature_enabled', { name: 'StatefulSetConditions' })).toBe(1)
  })
})
