import { describe, expect, it } from 'vitest'
import type { FieldSet } from './field-set.ts'
import { type Owner, decodeOwners, encodeOwners } from './managers.ts'
import { isSameButForTimes, memberLength, noOwners, packAll, writeMember } from './packed-owner.ts'

const owner = (fields: FieldSet, more: Partial<Owner> = {}): Owner =>
  ({ manager: 'kubelet', operation: 'Update', apiVersion: 'v1', subresource: 'status', time: '2026-01-01T00:00:00Z', fields, ...more })

const addresses = (...ips: string[]): FieldSet => ({
  'f:podIPs': Object.fromEntries(ips.map((ip) => [`k:${JSON.stringify({ ip })}`, { '.': {}, 'f:ip': {} }])),
})

const rows: [string, Owner[]][] = [
  ['fields of every object', [owner({ 'f:status': { 'f:phase': {} } })]],
  ['an address of its own', [owner({ 'f:status': addresses('10.0.0.7') })]],
  ['two addresses', [owner({ 'f:status': addresses('10.0.0.7', 'fd00::7') })]],
  ['an owner and no time', [owner({ 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"a-1"}': {} } } }, { time: undefined })]],
  ['keys that need quoting', [owner({ 'f:a"],\\b': {}, 'k:{"uid":"\\"ü"}': {}, 'f:日本': {} }, { manager: 'mät"ros' })]],
  ['several managers', [owner({ 'f:a': {} }), owner({ 'f:b': {} }, { manager: 'z', operation: 'Apply', subresource: '' })]],
]

const textOf = (owners: Owner[]): string => {
  const packed = packAll(owners)
  const bytes = Buffer.alloc(memberLength(packed))
  expect(writeMember(packed, bytes, 0)).toBe(bytes.length)
  return bytes.toString()
}

describe('packAll()', () => {
  it.each(rows)('keeps %s, and writes them as managedFields', (_, owners) => {
    const entries = encodeOwners(owners)
    expect(JSON.parse(`{${textOf(owners)}"end":0}`)).toEqual({ managedFields: entries, end: 0 })
    expect(encodeOwners(packAll(owners))).toEqual(entries)
    expect(encodeOwners(packAll(decodeOwners(entries)!))).toEqual(entries)
  })

  it('hands out one set to all who have the same', () => {
    const [one, other] = [packAll([owner(addresses('10.0.0.1'))]), packAll([owner(addresses('10.0.0.1'))])]
    expect(one[0]!.fields).toBe(other[0]!.fields)
    expect(packAll([owner(addresses('10.0.0.2'))])[0]!.fields).toEqual(addresses('10.0.0.2'))
  })

  it('writes nothing where nobody manages anything', () => {
    expect([packAll([]), textOf([])]).toEqual([noOwners, ''])
  })
})

describe('isSameButForTimes()', () => {
  it('tells apart objects that differ in a value of their own', () => {
    const at = (ip: string, time: string) => packAll([owner(addresses(ip), { time })])
    expect(isSameButForTimes(at('10.0.0.1', 'x'), at('10.0.0.1', 'y'))).toBe(true)
    expect(isSameButForTimes(at('10.0.0.1', 'x'), at('10.0.0.2', 'x'))).toBe(false)
  })
})
