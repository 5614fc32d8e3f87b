import { describe, expect, it } from 'vitest'
import type { ObjectMeta } from '../object.ts'
import { subdomainName } from './names.ts'
import { validateAnnotations, validateLabels, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts'
import { Path } from './path.ts'

const path = Path.of('metadata')
const said = (errors: readonly { field: string; message: string }[]) => errors.map((e) => `${e.field}: ${e.message}`)
const created = (meta: ObjectMeta, namespaced = true) => said(validateObjectMeta({ name: 'a', ...(namespaced ? { namespace: 'ns' } : {}), ...meta }, namespaced, subdomainName, path))
const updated = (meta: Partial<ObjectMeta>, old: Partial<ObjectMeta> = {}) => said(validateObjectMetaUpdate({ name: 'a', uid: 'u', ...meta }, { name: 'a', uid: 'u', ...old }, path))
const owner = (more: object = {}) => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', ...more })

describe('validateObjectMeta()', () => {
  it.each([
    ['what is fine', {}, []],
    ['no name', { name: undefined }, ['metadata.name: Required value: name or generateName is required']],
    ['a generated name', { generateName: 'a-' }, []],
    ['no namespace', { namespace: undefined }, ['metadata.namespace: Required value']],
    ['a generation below nothing', { generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
    ['a finalizer of two kinds at once', { finalizers: ['orphan', 'foregroundDeletion'] }, [expect.stringMatching(/^metadata\.finalizers: Invalid value: .*cannot be both set$/)]],
    ['a finalizer that nobody owns', { finalizers: ['x'] }, [expect.stringMatching(/^metadata\.finalizers\[0\]: .*name is neither a standard finalizer name nor is it fully qualified$/)]],
    ['an owner', { ownerReferences: [owner()] }, []],
    ['an owner without a uid', { ownerReferences: [owner({ uid: '' })] }, ['metadata.ownerReferences.uid: Invalid value: "": must not be empty']],
    ['two controllers', { ownerReferences: [owner({ controller: true }), owner({ name: 'q', controller: true })] }, [expect.stringMatching(/Only one reference can have Controller set to true\. Found "true" in references for Pod\/p and Pod\/q$/)]],
    ['an event that owns', { ownerReferences: [owner({ kind: 'Event' })] }, [expect.stringMatching(/Kind=Event is disallowed from being an owner$/)]],
  ])('%s', (_what, meta, expected) => {
    expect(created(meta as ObjectMeta)).toEqual(expected)
  })

  it('judges a name by the rule of its kind, and a prefix too', () => {
    expect(created({ name: 'A' })[0]).toMatch(/^metadata\.name: Invalid value: "A": a lowercase RFC 1123 subdomain/)
    expect(created({ name: '', generateName: 'A-' })[0]).toMatch(/^metadata\.generateName: Invalid value: "A-"/)
  })

  it('lets no namespace be said where there is none', () => {
    expect(created({ namespace: 'ns' }, false)).toEqual(['metadata.namespace: Forbidden: not allowed on this type'])
  })
})

describe('validateLabels()', () => {
  it('judges keys and values, in order of keys', () => {
    const errors = said(validateLabels({ b: 'a b', '/x': 'v', ok: '' }, Path.of('labels')))
    expect(errors).toHaveLength(2)
    expect(errors[0]).toBe('labels: Invalid value: "/x": prefix part must be non-empty')
    expect(errors[1]).toMatch(/^labels: Invalid value: "a b": a valid label must be an empty string or/)
  })
})

describe('validateAnnotations()', () => {
  it('lets keys have capitals and values be anything, up to a size in all', () => {
    expect(validateAnnotations({ 'X.io/A': 'any\nthing' }, path)).toEqual([])
    expect(said(validateAnnotations({ a: 'x'.repeat(256 * 1024) }, path))).toEqual(['metadata: Too long: may not be more than 262144 bytes'])
    expect(validateAnnotations({ a: 'x'.repeat(256 * 1024 - 1) }, path)).toEqual([])
  })
})

describe('validateObjectMetaUpdate()', () => {
  it.each([
    ['nothing changes', {}, {}, []],
    ['another name', { name: 'b' }, {}, ['metadata.name: Invalid value: "b": field is immutable']],
    ['another uid', { uid: 'v' }, {}, ['metadata.uid: Invalid value: "v": field is immutable']],
    ['a generation that goes back', { generation: 1 }, { generation: 2 }, ['metadata.generation: Invalid value: 1: must not be decremented']],
    ['a finalizer more', { finalizers: ['x.io/a'] }, {}, []],
    ['a finalizer more on what is being deleted', { finalizers: ['x.io/a'], deletionTimestamp: 't' }, { deletionTimestamp: 't' }, ['metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/a"}']],
    ['a finalizer less on what is being deleted', { deletionTimestamp: 't' }, { deletionTimestamp: 't', finalizers: ['x.io/a'] }, []],
    ['a label that is none', { labels: { a: '-' } }, {}, [expect.stringMatching(/^metadata\.labels: Invalid value: "-"/)]],
  ])('%s', (_what, meta, old, expected) => {
    expect(updated(meta, old)).toEqual(expected)
  })
})
