import { describe, expect, it } from 'vitest'
import { WatchChunks } from './watch-chunks.ts'

const [a, b, long] = [Buffer.from('a\n'), Buffer.from('ü\n'), Buffer.alloc(1 << 19, 'x')]

describe('WatchChunks', () => {
  it('puts lines together, as they are and as a chunk of HTTP/1.1', () => {
    const { lines, framed } = new WatchChunks().of([a, b])
    expect(lines.toString()).toBe('a\nü\n')
    expect(framed.toString()).toBe('5\r\na\nü\n\r\n')
  })

  const rows: [what: string, first: Buffer[], second: Buffer[], isShared: boolean][] = [
    ['the same lines', [a, b], [a, b], true],
    ['one line more', [a], [a, b], false],
    ['the same lines in another order', [a, b], [b, a], false],
    ['lines that only look alike', [a], [Buffer.from(a)], false],
    ['what is too long to be kept', [long], [long], false],
  ]
  it.each(rows)('makes a chunk once for watchers of the same lines: %s', (_, first, second, isShared) => {
    const chunks = new WatchChunks()
    expect(chunks.of(first) === chunks.of(second)).toBe(isShared)
  })
})
