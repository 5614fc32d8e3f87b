import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KeyLayout, endOf, readValue, storedValue } from './layout.ts'
import { hasReliableProgress, isSupported } from './versions.ts'

describe('a stored value', () => {
  const anyBytes = fc.oneof(
    fc.uint8Array({ maxLength: 80 }),
    // Bytes that resemble our suffix.
    fc.array(fc.constantFrom(0x20, 0x09, 0x0d, 0x0a, 0x7d), { maxLength: 80 }).map((codes) => Uint8Array.from(codes)),
  ).map((array) => Buffer.from(array))
  const anyMark = fc.option(fc.integer({ min: 1, max: 0xffffff }), { nil: undefined })
  const anyId = fc.integer({ min: 0, max: 2 ** 32 - 1 })

  it('is read back with its mark, whatever its bytes', () => {
    fc.assert(fc.property(anyBytes, anyMark, anyId, (value, mark, id) => {
      const read = readValue(storedValue(value, mark, id))
      expect(read.value.equals(value)).toBe(true)
      expect(read.mark).toBe(mark)
    }))
  })

  it('differs from another write of the same bytes', () => {
    fc.assert(fc.property(anyBytes, anyMark, anyId, anyId, (value, mark, one, other) => {
      expect(storedValue(value, mark, one).equals(storedValue(value, mark, other))).toBe(one === other)
    }))
  })

  it('is JSON to everybody', () => {
    const stored = storedValue(Buffer.from('{"kind":"Pod"}'), 0xabcdef, 12_345)
    expect(JSON.parse(stored.toString())).toEqual({ kind: 'Pod' })
    expect(stored.toString().trimEnd()).toBe('{"kind":"Pod"}')
  })

  it('of kube-apiserver is read as it is', () => {
    expect(readValue(Buffer.from('{"kind":"Pod"}\n'))).toEqual({ value: Buffer.from('{"kind":"Pod"}\n'), mark: undefined })
  })

  it('that Kubernetes has encrypted is left alone', () => {
    const value = Buffer.from('k8s:enc:aesgcm:v1:key1:…')
    expect(storedValue(value, 7, 1)).toBe(value)
  })
})

describe('KeyLayout', () => {
  const layout = new KeyLayout('/registry', '/other/')

  it('names keys in both directions', () => {
    expect(layout.toEtcd('/registry/pods/default/é').toString()).toBe('/other/pods/default/é')
    expect(layout.fromEtcd(Buffer.from('/other/pods/default/é'))).toBe('/registry/pods/default/é')
    expect(() => layout.toEtcd('/elsewhere')).toThrow(RangeError)
  })

  it.each([['', '/other/'], ['/', '/other/'], ['/registry/', '/other/'], ['/registry/pods/', '/other/pods/']])('finds the prefix %j', (prefix, theirs) => {
    expect(layout.prefixToEtcd(prefix).toString()).toBe(theirs)
  })

  it('tells its keys from the fence and from those of others', () => {
    const keys = ['/other/pods', '/other!fence', '/other-too/pods', '/other/']
    expect(keys.map((key) => layout.isOurs(Buffer.from(key)))).toEqual([true, false, false, false])
    // The fence is followed together with the keys.
    expect(Buffer.compare(layout.fence, layout.root)).toBe(-1)
    expect(endOf(layout.root).toString()).toBe('/other0')
  })
})

describe('endOf()', () => {
  it.each([['61', '62'], ['61ff', '62'], ['ff', '00'], ['', '00']])('of %s is %s', (prefix, end) => {
    expect(endOf(Buffer.from(prefix, 'hex')).toString('hex')).toBe(end)
  })
})

describe('versions of etcd', () => {
  it.each<[string, boolean, boolean]>([
    ['3.3.27', false, false], ['3.4.23', true, false], ['3.4.31', true, true], ['3.5.9', true, false], ['3.5.13', true, true],
    ['3.6.0-rc.1', true, true], ['4.0.0', true, true], ['', false, false],
  ])('%s', (version, isEnough, hasProgress) => {
    expect([isSupported(version), hasReliableProgress(version)]).toEqual([isEnough, hasProgress])
  })
})
