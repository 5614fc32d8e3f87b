import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { problemOfPath } from './private-paths.ts'

let dir: string

beforeAll(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'coxswain-private-')))
  for (const name of ['data/pki', 'data/volumes/pv-1', 'elsewhere']) mkdirSync(path.join(dir, name), { recursive: true })
  symlinkSync(path.join(dir, 'data'), path.join(dir, 'link'))
  symlinkSync('../data/pki', path.join(dir, 'elsewhere/keys'))
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

describe('problemOfPath()', () => {
  it.each<[string, string, 'pod' | 'volume', boolean]>([
    ['another directory', 'elsewhere', 'pod', true],
    ['one whose name only begins alike', 'data-of-others', 'pod', true],
    ['a directory above', '.', 'pod', true],
    ['the directory itself', 'data', 'pod', false],
    ['what is in it', 'data/pki', 'pod', false],
    ['what is not there yet', 'data/new/deep', 'pod', false],
    ['a way around', 'elsewhere/../data/pki', 'pod', false],
    ['a link to it', 'link', 'pod', false],
    ['what is behind a link', 'link/pki', 'pod', false],
    ['what will be made behind a link', 'link/new', 'pod', false],
    ['a link into it', 'elsewhere/keys', 'pod', false],
    ['the contents of a volume, for a pod', 'data/volumes/pv-1', 'pod', false],
    ['the contents of a volume, for a claim', 'data/volumes/pv-1', 'volume', true],
    ['all volumes, for a claim', 'data/volumes', 'volume', false],
    ['a key, for a claim', 'data/volumes/../pki', 'volume', false],
  ])('%s', (_what, at, askedBy, isFine) => {
    const paths = { directories: [path.join(dir, 'data')], volumes: [path.join(dir, 'data/volumes')] }
    expect(problemOfPath(paths, `${dir}/${at}`, askedBy) === undefined).toBe(isFine)
  })
})
