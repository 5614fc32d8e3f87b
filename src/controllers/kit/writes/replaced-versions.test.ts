import { describe, expect, test } from 'vitest'
import { conflictModified, notFound } from '../../../api/errors.ts'
import { ReplacedVersions } from './replaced-versions.ts'

const at = (resourceVersion: string, uid = 'u1') => ({ metadata: { uid, resourceVersion } })
const about = { group: '', resource: 'pods' }
const done = () => Promise.resolve()

async function written(...versions: string[]): Promise<ReplacedVersions> {
  const replaced = new ReplacedVersions()
  for (const version of versions) await replaced.write(at(version), done)
  return replaced
}

describe('ReplacedVersions', () => {
  const rows: [what: string, written: string[], cached: string, isBehind: boolean][] = [
    ['a cache with the version that was written to is behind', ['9'], '9', true],
    ['so is one with an older version', ['10'], '9', true],
    ['one with a newer version is not', ['9'], '10', false],
    ['the newest write counts', ['9', '10'], '10', true],
    ['nothing was written', [], '9', false],
    ['what has no version cannot be waited for', [''], '9', false],
  ]
  test.each(rows)('%s', async (_, versions, cached, isBehind) => {
    expect((await written(...versions)).has(at(cached))).toBe(isBehind)
  })

  test.each<[what: string, error: Error, isBehind: boolean]>([
    ['is gone: the cache is behind', notFound(about, 'a'), true],
    ['has changed: the cache will say how', conflictModified(about, 'a'), false],
    ['is what it was, for all one knows', new Error('read ECONNRESET'), false],
  ])('an object whose write fails %s', async (_, error, isBehind) => {
    const replaced = new ReplacedVersions()
    await expect(replaced.write(at('9'), () => Promise.reject(error))).rejects.toBe(error)
    expect(replaced.has(at('9'))).toBe(isBehind)
  })

  test('a write that fails leaves what was known before', async () => {
    const replaced = await written('9')
    await replaced.write(at('12'), () => Promise.reject(new Error('refused'))).catch(() => {})
    expect([replaced.has(at('9')), replaced.has(at('10'))]).toEqual([true, false])
  })

  test('another object of the same name is another object', async () => {
    expect((await written('9')).has(at('9', 'u2'))).toBe(false)
  })

  test('keeps nothing of what the cache has seen, even before the answer', async () => {
    const replaced = await written('9')
    replaced.saw(at('9'))
    expect(replaced.size).toBe(1)
    replaced.saw(at('10'))
    await replaced.write(at('10'), async () => replaced.gone(at('10')))
    expect(replaced.size).toBe(0)
  })

  test('keeps ten thousand at most, of which the oldest go first', async () => {
    const replaced = new ReplacedVersions()
    for (let i = 0; i <= 10_000; i++) await replaced.write(at('9', `u${i}`), done)
    expect([replaced.size, replaced.has(at('9', 'u0')), replaced.has(at('9', 'u1'))]).toEqual([10_000, false, true])
  })
})
