import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutManagedFields } from './cut-managed-fields.ts'

const fields = (element = 'f:a') => [{ manager: 'm', operation: 'Update', fieldsV1: { [element]: { '.': {}, 'k:{"name":"x"}': {} } } }, { manager: 'n', fieldsV1: {} }]
const line = (object: object) => JSON.stringify({ type: 'ADDED', object })

describe('cutManagedFields()', () => {
  it.each<[string, object, object]>([
    ['as the first member', { kind: 'Pod', metadata: { resourceVersion: '1', managedFields: fields(), name: 'a' }, spec: {} }, { resourceVersion: '1', name: 'a' }],
    ['as the last member', { kind: 'Pod', metadata: { name: 'a', labels: { b: '{"' }, managedFields: fields() }, spec: {} }, { name: 'a', labels: { b: '{"' } }],
    ['behind texts with quotes and slashes', { metadata: { annotations: { a: '\\"managedFields":[{\\' }, managedFields: fields(), name: 'a' } }, { annotations: { a: '\\"managedFields":[{\\' }, name: 'a' }],
    ['with names that look like their end', { metadata: { managedFields: fields('f:}],'), name: 'a' } }, { name: 'a' }],
  ])('leaves out those of metadata, %s', (_, object, metadata) => {
    expect(JSON.parse(cutManagedFields(line(object)))).toEqual({ type: 'ADDED', object: { ...object, metadata } })
  })

  it.each<[string, object]>([
    ['an object without', { kind: 'Pod', metadata: { name: 'a' }, spec: {} }],
    ['those of an embedded object', { metadata: { name: 'a' }, spec: { template: { metadata: { managedFields: fields() } } } }],
    ['those before metadata', { data: { managedFields: fields() }, metadata: { name: 'a' } }],
    ['those of something embedded before metadata', { a: { metadata: { managedFields: fields(), name: 'b' } }, metadata: { name: 'a' } }],
    ['a text that reads like them', { metadata: { name: 'a', annotations: { b: JSON.stringify({ managedFields: fields() }) } } }],
  ])('leaves alone %s', (_, object) => {
    expect(cutManagedFields(line(object))).toBe(line(object))
  })

  it('changes nothing else, or leaves no JSON', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('}],"', '}]}', '"managedFields":[{', '\\', '"metadata":{'))
    fc.assert(
      fc.property(text, text, fc.boolean(), (one, other, isLast) => {
        const rest = { name: one, labels: { [other]: one } }
        const metadata = isLast ? { ...rest, managedFields: fields(`f:${other}`) } : { managedFields: fields(`f:${other}`), ...rest }
        const object = { kind: 'Pod', metadata, spec: { a: one } }
        let read: unknown
        try {
          read = JSON.parse(cutManagedFields(line(object)))
        } catch {
          return
        }
        const expected = { type: 'ADDED', object: { ...object, metadata: rest } }
        expect([JSON.stringify(expected), line(object)]).toContain(JSON.stringify(read))
      }),
      { numRuns: 1000 },
    )
  })
})
