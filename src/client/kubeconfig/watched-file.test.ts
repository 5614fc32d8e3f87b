import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { WatchedFile } from './watched-file.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'watched-file-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(dir, { recursive: true })
})

it('WatchedFile rereads in time although the clock of the machine is set back', () => {
  const file = path.join(dir, 'token')
  writeFileSync(file, 'old')
  let passedMs = 0
  const [wallMs, steadyMs] = [Date.now(), performance.now()]
  vi.spyOn(performance, 'now').mockImplementation(() => steadyMs + passedMs)
  const token = new WatchedFile(file, 'the token', systemClock, 1000)
  expect(token.content()).toBe('old')
  vi.spyOn(Date, 'now').mockImplementation(() => wallMs - 3_600_000)
  writeFileSync(file, 'new')
  passedMs = 999
  expect(token.content()).toBe('old')
  passedMs = 1000
  expect(token.content()).toBe('new')
})
