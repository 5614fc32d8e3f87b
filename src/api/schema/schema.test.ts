import { describe, expect, test } from 'vitest'
import { fieldOf, schema, structOf } from './index.ts'
import type { FieldType } from './index.ts'

const fields = Object.entries(schema).flatMap(([type, struct]) => Object.values(struct.fields).map((field) => ({ where: `${type}.${field.name}`, ...field })))
const itemOf = (type: FieldType): FieldType => (type.kind === 'list' || type.kind === 'map' ? itemOf(type.of) : type)

describe('the schema table holds together', () => {
  test('every structure that a field names is there', () => {
    const missing = fields.flatMap(({ where, type }) => {
      const item = itemOf(type)
      return item.kind === 'struct' && !structOf(item.name) ? [where] : []
    })
    expect(missing).toEqual([])
  })

  test('lists have list types, and only lists', () => {
    expect(fields.filter((f) => f.listType && f.type.kind !== 'list').map((f) => f.where)).toEqual([])
    expect(fields.filter((f) => f.mapType && f.type.kind !== 'map').map((f) => f.where)).toEqual([])
  })

  test('keys of lists are fields of their items', () => {
    const wrong = fields.flatMap(({ where, type, listMapKeys = [], patchMergeKey }) => {
      const item = itemOf(type)
      const keys = [...listMapKeys, ...(patchMergeKey ? [patchMergeKey] : [])]
      return keys.filter((key) => item.kind !== 'struct' || !fieldOf(item.name, key)).map((key) => `${where} by ${key}`)
    })
    expect(wrong).toEqual([])
  })

  test('lists that are maps have keys, others have none', () => {
    expect(fields.filter((f) => (f.listType === 'map') !== (f.listMapKeys !== undefined)).map((f) => f.where)).toEqual([])
  })
})

describe('the schema table knows Kubernetes', () => {
  test.each([
    ['PodSpec', 'containers', { listType: 'map', listMapKeys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name' }],
    ['PodSpec', 'volumes', { patchStrategy: 'merge,retainKeys', patchMergeKey: 'name' }],
    ['PodSpec', 'tolerations', { listType: 'atomic' }],
    ['Container', 'ports', { listMapKeys: ['containerPort', 'protocol'], patchMergeKey: 'containerPort' }],
    ['ObjectMeta', 'finalizers', { listType: 'set', patchStrategy: 'merge' }],
    ['ObjectMeta', 'ownerReferences', { patchMergeKey: 'uid' }],
    ['DeploymentSpec', 'strategy', { patchStrategy: 'retainKeys' }],
    ['JobStatus', 'conditions', { listType: 'atomic', patchStrategy: 'merge', patchMergeKey: 'type' }],
    ['ServiceSpec', 'selector', { mapType: 'atomic' }],
    ['StatefulSetSpec', 'progressDeadlineSeconds', { type: { kind: 'int32' }, zero: 'keep' }],
  ])('%s.%s', (type, field, expected) => {
    expect(fieldOf(type, field)).toMatchObject(expected)
  })

  test('what is served has a group, a version and a kind', () => {
    expect(structOf('Deployment')).toMatchObject({ apiVersion: 'apps/v1', kind: 'Deployment' })
    expect(structOf('V2HorizontalPodAutoscaler')).toMatchObject({ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' })
    expect(structOf('PodSpec')?.kind).toBeUndefined()
  })

  test('what JavaScript objects inherit is no type and no field', () => {
    expect(structOf('constructor')).toBeUndefined()
    expect(fieldOf('Pod', 'toString')).toBeUndefined()
  })
})
