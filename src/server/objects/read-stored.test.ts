import { describe, expect, it } from 'vitest'
import { FeatureGates, type GateName } from '../../api/feature-gates.ts'
import type { KubeObject } from '../../api/object.ts'
import { Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { storedReader, writerMark } from './read-stored.ts'
import { Registry } from '../registry/registry.ts'
import { allResources } from '../resources/index.ts'

const registry = new Registry(allResources(systemRandom), [])

type Gates = Partial<Record<GateName, boolean>>

function readWith(gates: Gates, apiVersion: string, plural: string, stored: object) {
  const lines: string[] = []
  const logger = new Logger((line) => lines.push(line), 'warn')
  const reader = storedReader(() => ({ gates: FeatureGates.of(gates), now: 0 }), logger)
  const object = reader(registry.find(apiVersion, plural)!)(Buffer.from(JSON.stringify(stored)))
  return { object: object as KubeObject & Record<string, any>, lines }
}

const metadata = { name: 'a', namespace: 'default' }
const template = { spec: { containers: [{ name: 'c', image: 'i' }] } }
const apiVersion = 'apps/v1'
const set = (spec: object = {}) => ({ apiVersion, kind: 'StatefulSet', metadata, spec: { template, ...spec } })
const rolling = (fields: object) => ({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: fields } })

describe('writerMark()', () => {
  const markOf = (build: string | undefined, gates: Gates = {}) => writerMark(build, FeatureGates.of(gates))

  it('is the same for the same build and gates only', () => {
    expect(markOf('one', { StatefulSetConditions: true })).toBe(markOf('one'))
    const settings: Gates[] = [{}, { StatefulSetConditions: false }, { DaemonSetConditions: false }]
    const marks = settings.flatMap((gates) => [markOf('one', gates), markOf('two', gates)])
    expect(new Set(marks).size).toBe(6)
  })

  it('fits into 24 bits and is never 0', () => {
    const marks = Array.from({ length: 1000 }, (_, i) => markOf(String(i))!)
    expect(marks.every((mark) => Number.isInteger(mark) && mark > 0 && mark < 2 ** 24)).toBe(true)
  })

  it('is none where the program does not know its build', () => {
    expect(markOf(undefined)).toBeUndefined()
  })
})

describe('storedReader()', () => {
  const off = { StatefulSetConditions: false, MaxUnavailableStatefulSet: false }

  const given = { progressDeadlineSeconds: 60, ...rolling({ maxUnavailable: '30%' }) }
  it.each<[string, Gates, object, [deadline?: number, maxUnavailable?: number | string]]>([
    ['adds what its gates switch on', {}, rolling({ partition: 2 }), [2147483647, 1]],
    ['adds nothing whose gate is off', off, rolling({ partition: 2 }), [undefined, undefined]],
    ['keeps what was stored', {}, given, [60, '30%']],
    ['keeps what was stored though its gate is off now', off, given, [60, '30%']],
  ])('%s', (_what, gates, stored, expected) => {
    const { object, lines } = readWith(gates, apiVersion, 'statefulsets', set(stored))
    const { progressDeadlineSeconds, updateStrategy } = object.spec
    expect([progressDeadlineSeconds, updateStrategy.rollingUpdate.maxUnavailable]).toEqual(expected)
    expect(lines).toEqual([])
  })

  it('drops fields that the kind does not have, and writes out those that it always has', () => {
    const stored = { ...set({ colour: 'red' }), status: { mood: 'good' } }
    const { object, lines } = readWith({}, apiVersion, 'statefulsets', stored)
    expect(object.spec).not.toHaveProperty('colour')
    expect(object.status).toEqual({ replicas: 0, availableReplicas: 0 })
    expect(lines).toEqual([])
  })

  it('has no version of its own, and names version and kind', () => {
    const { object } = readWith({}, 'v1', 'configmaps', { metadata, data: { x: 'y' } })
    expect(object).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { x: 'y' } })
  })

  const annotations = { 'deprecated.daemonset.template.generation': 'x' }
  it.each([
    ['cannot be decoded', 'statefulsets', { ...set(), spec: { replicas: 'two' } }],
    ['cannot be defaulted', 'daemonsets', { ...set(), kind: 'DaemonSet', metadata: { ...metadata, annotations } }],
  ])('leaves an object alone that %s, and logs it', (_what, plural, stored) => {
    const { object, lines } = readWith({}, apiVersion, plural, stored)
    expect(object).toEqual(stored)
    const logged = lines.map((line) => JSON.parse(line) as object)
    expect(logged).toMatchObject([{ kind: stored.kind, namespace: 'default', name: 'a' }])
  })
})
