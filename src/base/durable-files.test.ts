import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeDirectory, renameDurably, replaceFile } from './durable-files.ts'

// test/store-power-cut.test.ts cuts the power of a disk.

let dir: string
beforeEach(() => void (dir = mkdtempSync(path.join(tmpdir(), 'durable-files-'))))
afterEach(() => rmSync(dir, { recursive: true }))

describe('replaceFile()', () => {
  it('replaces a file whole, leaves nothing else, and is private', () => {
    const file = path.join(dir, 'f')
    replaceFile(file, 'one')
    replaceFile(file, Buffer.from('two'))
    expect([readFileSync(file, 'utf8'), readdirSync(dir), statSync(file).mode & 0o777]).toEqual(['two', ['f'], 0o600])
  })

  it('leaves the old content where the new one cannot be written', () => {
    const file = path.join(dir, 'f')
    replaceFile(file, 'one')
    mkdirSync(`${file}.new`)
    expect(() => replaceFile(file, 'two')).toThrow('EISDIR')
    expect(readFileSync(file, 'utf8')).toBe('one')
  })
})

describe('renameDurably()', () => {
  it('renames to another directory', () => {
    writeFileSync(path.join(dir, 'a'), 'x')
    mkdirSync(path.join(dir, 'b'))
    renameDurably(path.join(dir, 'a'), path.join(dir, 'b/c'))
    expect([readdirSync(dir), readdirSync(path.join(dir, 'b'))]).toEqual([['b'], ['c']])
  })
})

describe('makeDirectory()', () => {
  it('makes what is missing, private, and leaves what is there', () => {
    mkdirSync(path.join(dir, 'a'), { mode: 0o755 })
    makeDirectory(path.join(dir, 'a/b/c'))
    makeDirectory(path.join(dir, 'a/b/c'))
    expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(path.join(dir, name)).mode & 0o777)).toEqual([0o755, 0o700, 0o700])
  })
})
