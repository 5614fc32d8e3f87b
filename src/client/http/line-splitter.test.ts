import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter } from './line-splitter.ts'

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = []
  const splitter = new LineSplitter((line) => lines.push(line))
  for (const chunk of chunks) splitter.push(chunk)
  splitter.end()
  return lines
}

describe('LineSplitter', () => {
  it('finds the same lines wherever the bytes are cut, in the middle of a character too', () => {
    // Any character. The library's own set of all of them takes seconds to build.
    const character = fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code))
    const line = fc.string({ unit: character, minLength: 1 }).map((s) => s.replaceAll(/[\n\ud800-\udfff]/g, 'é'))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), fc.boolean(), (lines, cuts, isEnded) => {
        const bytes = Buffer.from(lines.map((l) => `${l}\n`).join(''))
        const whole = isEnded ? bytes : bytes.subarray(0, Math.max(0, bytes.length - 1))
        const chunks: Buffer[] = []
        let at = 0
        for (const cut of cuts) {
          chunks.push(whole.subarray(at, at + cut))
          at += cut
        }
        chunks.push(whole.subarray(at))
        expect(split(chunks)).toEqual(lines)
      }),
    )
  })

  it('leaves out empty lines, which only keep a connection awake', () => {
    expect(split([Buffer.from('\n\na\n\n'), Buffer.from('\nb\n')])).toEqual(['a', 'b'])
  })

  it('looks at each byte of a long line once: 64 MB in small chunks is a matter of moments', () => {
    const chunk = Buffer.alloc(16 << 10, 'x')
    const started = performance.now()
    const [line] = split([...Array.from({ length: 4096 }, () => chunk), Buffer.from('\n')])
    expect(line!.length).toBe(64 << 20)
    // Linear, this takes a tenth of a second; searched again from the start with each chunk, it takes minutes.
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  it('hands over nothing more once it is stopped, within a chunk too', () => {
    const lines: string[] = []
    const splitter = new LineSplitter((line) => {
      lines.push(line)
      if (line === 'b') splitter.stop()
    })
    splitter.push(Buffer.from('a\nb\nc\nd'))
    splitter.push(Buffer.from('e\n'))
    splitter.end()
    expect(lines).toEqual(['a', 'b'])
  })
})
