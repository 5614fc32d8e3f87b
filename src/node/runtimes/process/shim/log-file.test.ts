import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { VirtualClock } from '../../../../base/virtual-clock.ts'
import { LogFile } from './log-file.ts'

function newLog(sizeLimit?: number) {
  const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00.250Z'))
  const file = path.join(directory, 'a/b/0.log')
  return { log: new LogFile(file, clock, sizeLimit), clock, file, content: () => readFileSync(file, 'utf8') }
}

it('LogFile writes whole lines, each with the time of its end', () => {
  const { log, clock, content } = newLog()
  log.write('stdout', Buffer.from('one\ntw'))
  clock.advance(1000)
  log.write('stdout', Buffer.from('o\n\n'))
  expect(content()).toBe('2026-01-01T00:00:00.250000000Z stdout F one\n2026-01-01T00:00:01.250000000Z stdout F two\n2026-01-01T00:00:01.250000000Z stdout F \n')
})

it('LogFile keeps the streams apart, and ends what has no end when it is closed', () => {
  const { log, content } = newLog()
  log.write('stdout', Buffer.from('out'))
  log.write('stderr', Buffer.from('err\n'))
  expect(content().split('\n').map((l) => l.slice(31))).toEqual(['stderr F err', ''])
  log.close()
  expect(content().split('\n').map((l) => l.slice(31))).toEqual(['stderr F err', 'stdout F out', ''])
})

it('LogFile cuts long lines into parts that make up the line', () => {
  const { log, content } = newLog()
  const line = 'abcdefgh'.repeat(5000)
  log.write('stdout', Buffer.from(`${line}\n`))
  const parts = content().trimEnd().split('\n').map((l) => ({ tag: l.slice(38, 39), text: l.slice(40) }))
  expect(parts.map((p) => p.tag)).toEqual(['P', 'P', 'F'])
  expect(parts.map((p) => p.text).join('')).toBe(line)
})

it('LogFile begins another file when one is full, and keeps five', () => {
  const { log, file } = newLog(100)
  for (let i = 0; i < 20; i++) log.write('stdout', Buffer.from(`line ${i}\n`))
  expect(readdirSync(path.dirname(file)).sort()).toEqual(['0.log', '0.log.1', '0.log.2', '0.log.3', '0.log.4'])
  const lines = ['.4', '.3', '.2', '.1', ''].flatMap((end) => readFileSync(file + end, 'utf8').trimEnd().split('\n').map((l) => l.slice(40)))
  expect(lines).toEqual(Array.from({ length: 10 }, (_, i) => `line ${i + 10}`))
})

it.runIf(existsSync('/dev/full'))('LogFile drops what does not fit on the disk', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-log-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = path.join(directory, '0.log')
  symlinkSync('/dev/full', file)
  const log = new LogFile(file, new VirtualClock())
  log.write('stdout', Buffer.from('one\ntwo'))
  log.close()
  expect(readdirSync(directory)).toEqual(['0.log'])
})

const mayMount = process.platform === 'linux' && process.getuid?.() === 0

it.runIf(mayMount)('LogFile has whole lines only, before and after the disk was full', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-log-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory])
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', directory])
    rmSync(directory, { recursive: true })
  })
  const file = path.join(directory, '0.log')
  const log = new LogFile(file, new VirtualClock())
  const line = (text: string) => log.write('stdout', Buffer.from(`${text}${'.'.repeat(3000)}\n`))
  line('before')
  const filler = path.join(directory, 'filler')
  expect(() => writeFileSync(filler, Buffer.alloc(1 << 20))).toThrow('ENOSPC')
  for (let i = 0; i < 5; i++) line(`full ${i} `)
  rmSync(filler)
  line('after')
  log.close()
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  expect([lines[0], lines.at(-1)].map((text) => text?.slice(40, 46))).toEqual(['before', 'after.'])
  for (const text of lines) expect(text).toMatch(/^\S+ stdout F [a-z0-9 ]+\.{3000}$/)
})
