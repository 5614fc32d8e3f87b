import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Logger } from '../../base/logger.ts'
import { keepPrivate, warnIfOpen } from './private-files.ts'

let dir: string
let lines: { msg: string; file: string; mode: string }[]
const logger = new Logger((line) => lines.push(JSON.parse(line)))
const modeOf = (...names: string[]) => statSync(path.join(dir, ...names)).mode & 0o777

beforeEach(() => {
  lines = []
  dir = mkdtempSync(path.join(tmpdir(), 'private-'))
  for (const name of ['pki', 'db']) mkdirSync(path.join(dir, name), { mode: 0o755 })
  for (const name of ['pki/ca.key', 'db/data.mdb', 'kubeconfig']) {
    writeFileSync(path.join(dir, name), 'x')
    chmodSync(path.join(dir, name), 0o644)
  }
})

afterEach(() => rmSync(dir, { recursive: true }))

describe('keepPrivate()', () => {
  it('closes keys, store and kubeconfig, and says what others could read', () => {
    chmodSync(dir, 0o755)
    keepPrivate(dir, logger)
    expect([
      modeOf('pki'),
      modeOf('db'),
      modeOf('pki', 'ca.key'),
      modeOf('db', 'data.mdb'),
      modeOf('kubeconfig'),
    ]).toEqual([0o700, 0o700, 0o600, 0o600, 0o600])
    expect(lines.map(({ file, mode }) => `${path.relative(dir, file)} ${mode}`).sort()).toEqual([
      ' 0755',
      'db 0755',
      'db/data.mdb 0644',
      'kubeconfig 0644',
      'pki 0755',
      'pki/ca.key 0644',
    ])
  })

  it('says nothing of what nobody could reach', () => {
    chmodSync(dir, 0o700)
    keepPrivate(dir, logger)
    expect(modeOf('db', 'data.mdb')).toBe(0o600)
    expect(lines).toEqual([])
  })

  it('has nothing to do in a directory that is empty', () => {
    rmSync(path.join(dir, 'pki'), { recursive: true })
    rmSync(path.join(dir, 'db'), { recursive: true })
    rmSync(path.join(dir, 'kubeconfig'))
    keepPrivate(dir, logger)
    expect(lines).toEqual([])
  })
})

describe('warnIfOpen()', () => {
  it.each([
    [0o600, 0],
    [0o640, 1],
    [0o604, 1],
    [0o400, 0],
  ])('of a file with mode %o says so %i times', (mode, times) => {
    chmodSync(path.join(dir, 'kubeconfig'), mode)
    warnIfOpen('--x', path.join(dir, 'kubeconfig'), logger)
    expect(lines).toHaveLength(times)
  })
})
