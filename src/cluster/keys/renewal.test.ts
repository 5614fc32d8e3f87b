import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Logger, silentLogger } from '../../base/logger.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { createAuthority, issueServerCertificate } from '../../server/index.ts'
import { type FollowedFile, followFiles, followed } from '../serving/followed-files.ts'
import { RenewedPair, keepRenewed, timeProblem, validityOf } from './renewal.ts'

const dayMs = 24 * 3_600_000
const start = Date.UTC(2026, 0, 1)
const authority = createAuthority(start)
const issue = (nowMs: number) => issueServerCertificate(authority, ['localhost'], nowMs)

describe('RenewedPair', () => {
  it.each<[string, number, boolean]>([
    ['stays while it is valid for long', 300, false],
    ['is renewed a month before its end', 336, true],
    ['is renewed after its end, when the machine slept', 500, true],
    ['is renewed when the clock was set back before its beginning', -2, true],
  ])('%s', (_what, days, isNew) => {
    const pair = new RenewedPair(issue, start)
    const before = pair.certificate
    const nowMs = start + days * dayMs
    expect(pair.renew(nowMs)).toBe(isNew)
    expect(pair.certificate !== before).toBe(isNew)
    const { fromMs, untilMs } = validityOf(pair.certificate)
    expect(nowMs >= fromMs && nowMs < untilMs).toBe(true)
  })
})

describe('timeProblem()', () => {
  it.each<[string, number, RegExp | undefined]>([
    ['now', 0, undefined],
    ['a clock that was set back', -10, /^the CA is not valid before 2025-12-31T23:55.*, and the clock of .* says 2025-12-22/],
    ['after its end', 4000, /^the CA has expired at 2035-12-30/],
  ])('%s', (_what, days, expected) => {
    const problem = timeProblem('the CA', authority.certificate, start + days * dayMs)
    if (expected) expect(problem).toMatch(expected)
    else expect(problem).toBeUndefined()
  })
})

describe('keepRenewed()', () => {
  it('looks every minute, goes on after a failure, and ends', () => {
    const clock = new VirtualClock(start)
    const asked: number[] = []
    const renewals = [
      { what: 'broken', renew: () => { throw new Error('no room') } },
      { what: 'good', renew: (nowMs: number) => { asked.push(nowMs - start); return true } },
    ]
    const stop = keepRenewed(renewals, clock, silentLogger)
    clock.advance(120_000)
    stop()
    clock.advance(120_000)
    expect(asked).toEqual([60_000, 120_000])
  })
})

describe('followFiles()', () => {
  let dir: string
  beforeEach(() => void (dir = mkdtempSync(path.join(tmpdir(), 'followed-'))))
  afterEach(() => rmSync(dir, { recursive: true }))

  it('reads what has changed, keeps the old where the new cannot be used, and says so once', () => {
    const clock = new VirtualClock()
    const lines: string[] = []
    const file = path.join(dir, 'f')
    writeFileSync(file, '1')
    const files: FollowedFile[] = []
    const number = followed(files, '--number', file, (text) => {
      if (Number.isNaN(Number(text))) throw new Error('is no number')
      return Number(text)
    })
    let changes = 0
    const stop = followFiles(files, () => changes++, clock, new Logger((line) => lines.push(line), 'warn'))
    const after = (text: string | undefined) => {
      if (text === undefined) rmSync(file)
      else writeFileSync(file, text)
      clock.advance(20_000)
      return [number(), changes, lines.length]
    }
    expect(after('1')).toEqual([1, 0, 0])
    expect(after('2')).toEqual([2, 1, 0])
    expect(after('x')).toEqual([2, 1, 1])
    expect(after(undefined)).toEqual([2, 1, 2])
    expect(after('3')).toEqual([3, 2, 2])
    stop()
    expect(after('4')).toEqual([3, 2, 2])
    expect(lines[0]).toMatch(/--number: .*f: is no number/)
  })

  it('throws at the start what is wrong, with the flag', () => {
    const file = path.join(dir, 'f')
    expect(() => followed([], '--x', file, () => 1)).toThrow(/^--x: ENOENT/)
    writeFileSync(file, '')
    expect(() => followed([], '--x', file, () => { throw new Error('is empty') })).toThrow(`--x: ${file}: is empty`)
  })
})
