import { describe, expect, it } from 'vitest'
import { structureDiff } from './structure-diff.ts'

describe('structureDiff()', () => {
  it('shows three lines around a change', () => {
    const spec = (Path: string) => ({ GCEPersistentDisk: null, AWSElasticBlockStore: null, HostPath: { Path, Type: '' }, Glusterfs: null, NFS: null })
    expect(structureDiff(spec('/d'), spec('/e'))).toBe(
      '@@ -2,7 +2,7 @@\n  "GCEPersistentDisk": null,\n  "AWSElasticBlockStore": null,\n  "HostPath": {\n-  "Path": "/d",\n+  "Path": "/e",\n   "Type": ""\n  },\n  "Glusterfs": null,\n',
    )
  })

  it('makes one piece of changes that are near and two of those that are far', () => {
    const list = (a: number, b: number, c: number) => [a, 1, 1, 1, b, 1, 1, 1, 1, 1, 1, 1, 1, c]
    const diff = structureDiff(list(0, 0, 0), list(5, 5, 5))
    expect(diff.match(/@@ .* @@/g)).toEqual(['@@ -1,9 +1,9 @@', '@@ -12,5 +12,5 @@'])
  })

  it('counts lines that are only on one side', () => {
    expect(structureDiff({ a: [] }, { a: ['x'] })).toBe('@@ -1,3 +1,5 @@\n {\n- "a": []\n+ "a": [\n+  "x"\n+ ]\n }\n')
  })

  it('is empty when nothing changed', () => {
    expect(structureDiff({ a: 1 }, { a: 1 })).toBe('')
  })
})
