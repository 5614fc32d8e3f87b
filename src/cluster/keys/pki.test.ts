import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isKeyOf } from '../../server/index.ts'
import { loadAuthority } from './pki.ts'

let dir: string
const now = Date.UTC(2026, 0, 1)

beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'pki-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

describe('loadAuthority()', () => {
  it('makes one at the first start, and finds the same at every other', () => {
    const first = loadAuthority(dir, now)
    expect(isKeyOf(first)).toBe(true)
    expect(loadAuthority(dir, now + 1000)).toEqual(first)
  })

  it('keeps the key to itself', () => {
    loadAuthority(dir, now)
    expect(statSync(path.join(dir, 'pki/ca.key')).mode & 0o777).toBe(0o600)
    expect(statSync(path.join(dir, 'pki')).mode & 0o777).toBe(0o700)
  })

  it.each([
    ['a key of another', () => readFileSync(path.join(dir, 'other/pki/ca.key'), 'utf8')],
    ['no key at all', () => 'nonsense'],
    ['nothing', () => ''],
  ])('refuses %s, and changes nothing', (_what, key) => {
    const { certificate } = loadAuthority(dir, now)
    loadAuthority(path.join(dir, 'other'), now)
    writeFileSync(path.join(dir, 'pki/ca.key'), key())
    expect(() => loadAuthority(dir, now)).toThrow('ca.crt and ca.key are not a certificate and its key')
    expect(readFileSync(path.join(dir, 'pki/ca.crt'), 'utf8')).toBe(certificate)
  })

  it('makes another where a start was cut short before it had a certificate', () => {
    loadAuthority(dir, now)
    rmSync(path.join(dir, 'pki/ca.crt'))
    expect(isKeyOf(loadAuthority(dir, now))).toBe(true)
  })
})
