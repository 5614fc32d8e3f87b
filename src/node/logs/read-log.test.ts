import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { type LogOptions, parseLogOptions } from './log-options.ts'
import { readLog } from './read-log.ts'

const plain: LogOptions = { follow: false, previous: false, timestamps: false, tailLines: undefined, sinceMs: undefined, limitBytes: undefined, stream: 'All' }

const second = (n: number) => `2026-01-01T00:00:0${n}.000000000Z`
const line = (n: number, text = `line ${n}`, tag = 'F', stream = 'stdout') => `${second(n)} ${stream} ${tag} ${text}\n`

function newLog(...texts: string[]): string {
  const dir = mkdtempSync(path.join(tmpdir(), 'log-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = path.join(dir, '0.log')
  for (const [i, text] of texts.toReversed().entries()) writeFileSync(i === 0 ? file : `${file}.${i}`, text)
  return file
}

async function read(file: string, options: Partial<LogOptions>): Promise<string> {
  const reader = { clock: systemClock, isWritten: () => false, signal: new AbortController().signal }
  return Buffer.concat(await Readable.from(readLog(file, { ...plain, ...options }, reader)).toArray()).toString()
}

describe('readLog()', () => {
  const three = line(1) + line(2) + line(3)

  it.each<[string, string[], Partial<LogOptions>, string]>([
    ['shows the text of all lines', [three], {}, 'line 1\nline 2\nline 3\n'],
    ['shows the times', [line(1)], { timestamps: true }, `${second(1)} line 1\n`],
    ['begins with the oldest file', [line(1), line(2), line(3)], {}, 'line 1\nline 2\nline 3\n'],
    ['shows the last lines', [three], { tailLines: 2 }, 'line 2\nline 3\n'],
    ['shows the last lines over two files', [line(1) + line(2), line(3)], { tailLines: 2 }, 'line 2\nline 3\n'],
    ['shows all where there are not so many lines', [line(1), line(2)], { tailLines: 9 }, 'line 1\nline 2\n'],
    ['shows no last lines', [three], { tailLines: 0 }, ''],
    ['shows what was said since', [three], { sinceMs: Date.parse(second(2)) }, 'line 2\nline 3\n'],
    ['shows so many bytes', [three], { limitBytes: 9 }, 'line 1\nli'],
    ['puts parts of a line together', [line(1, 'ab', 'P') + line(2, 'cd')], { timestamps: true }, `${second(1)} abcd\n`],
    ['shows one stream', [line(1) + line(2, 'oh', 'F', 'stderr')], { stream: 'Stderr' }, 'oh\n'],
    ['shows empty lines', [line(1, '')], {}, '\n'],
    ['shows nothing of a log that is not there', [], {}, ''],
  ])('%s', async (_name, texts, options, expected) => {
    expect(await read(newLog(...texts), options)).toBe(expected)
  })

  it('finds the last lines of a long log', async () => {
    const text = Array.from({ length: 20_000 }, (_, i) => line(1, `number ${i}`)).join('')
    const shown = await read(newLog(text), { tailLines: 5000 })
    expect(shown.split('\n').slice(0, 2)).toEqual(['number 15000', 'number 15001'])
  })

  it('follows, over to the next file, until nothing more is written', async () => {
    const file = newLog(line(1))
    let isWritten = true
    const lines = readLog(file, { ...plain, follow: true }, { clock: systemClock, isWritten: () => isWritten, signal: new AbortController().signal })
    const next = async () => String((await lines.next()).value)
    expect(await next()).toBe('line 1\n')
    appendFileSync(file, line(2))
    expect(await next()).toBe('line 2\n')
    appendFileSync(file, line(3))
    renameSync(file, `${file}.1`)
    writeFileSync(file, line(4))
    expect(await next()).toBe('line 3\n')
    expect(await next()).toBe('line 4\n')
    appendFileSync(file, line(5))
    isWritten = false
    expect(await next()).toBe('line 5\n')
    expect((await lines.next()).done).toBe(true)
  })

  it('follows until nobody listens', async () => {
    const abort = new AbortController()
    const lines = readLog(newLog(), { ...plain, follow: true }, { clock: systemClock, isWritten: () => true, signal: abort.signal })
    const end = lines.next()
    abort.abort()
    expect((await end).done).toBe(true)
  })
})

describe('parseLogOptions()', () => {
  it('reads what is asked for', () => {
    const query = new URLSearchParams('follow=true&previous=false&tailLines=3&sinceSeconds=10&timestamps=1')
    expect(parseLogOptions(query, 60_000)).toEqual({ ...plain, follow: true, timestamps: true, tailLines: 3, sinceMs: 50_000 })
  })

  it('takes any int64', () => {
    const query = new URLSearchParams('tailLines=9223372036854775807')
    expect(parseLogOptions(query, 0)).toEqual({ ...plain, tailLines: 2 ** 63 })
  })

  it.each(['tailLines=-1', 'tailLines=9223372036854775808', 'tailLines=x', 'limitBytes=0', 'sinceTime=soon', 'stream=both'])('refuses %s', (query) => {
    expect(() => parseLogOptions(new URLSearchParams(query), 0)).toThrow(query.split('=')[0])
  })
})
