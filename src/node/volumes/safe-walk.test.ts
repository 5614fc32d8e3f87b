import { chmodSync, linkSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { giveAway, locate } from './safe-walk.ts'

let dir: string
const at = (name: string) => path.join(dir, name)

beforeEach(() => {
  dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'coxswain-walk-')))
  for (const name of ['volume/a/b', 'outside']) mkdirSync(at(name), { recursive: true })
  for (const name of ['volume/a/b/file', 'outside/key']) writeFileSync(at(name), '', { mode: 0o600 })
})

afterEach(() => rmSync(dir, { recursive: true, force: true }))

const identityOf = (name: string) => {
  const { dev, ino } = statSync(at(name), { bigint: true })
  return `${dev}:${ino}`
}

describe('locate()', () => {
  it.runIf(process.platform === 'linux')('tells what it has found', async () => {
    expect(await locate(at('volume'), 'a/b')).toEqual({ path: at('volume/a/b'), identity: identityOf('volume/a/b') })
    expect(await locate(at('volume/a/b/file'), '')).toEqual({ path: at('volume/a/b/file'), identity: identityOf('volume/a/b/file') })
  })

  it('makes what is missing like the root', async () => {
    chmodSync(at('volume'), 0o2771)
    await locate(at('volume'), 'new/deep')
    expect(['new', 'new/deep'].map((name) => (statSync(at(`volume/${name}`)).mode & 0o7777).toString(8))).toEqual(['2771', '2771'])
  })

  it.each([
    ['a link out', 'outside', 'link'],
    ['what is behind it', 'outside', 'link/key'],
    ['what would be made behind it', 'outside', 'link/new'],
    ['a link to nothing', 'outside/none', 'link'],
    ['what would be made behind a link to nothing', 'outside/none', 'link/new'],
  ])('refuses %s', async (_what, target, below) => {
    symlinkSync(at(target), at('volume/link'))
    await expect(locate(at('volume'), below)).rejects.toThrow()
    expect([lstatSync(at('outside/new'), { throwIfNoEntry: false }), lstatSync(at('outside/none'), { throwIfNoEntry: false })]).toEqual([undefined, undefined])
  })

  it('never answers anything outside while a container swaps a directory for a link', async () => {
    symlinkSync(at('outside'), at('volume/link'))
    const inside = identityOf('volume/a')
    let isSwapped = false
    const swap = () => {
      renameSync(at('volume/a'), at('volume/aside'))
      renameSync(at('volume/link'), at('volume/a'))
      renameSync(at('volume/aside'), at('volume/link'))
      isSwapped = !isSwapped
    }
    for (let i = 0; i < 200; i++) {
      const looking = locate(at('volume'), 'a').catch(() => undefined)
      for (let turn = 0; turn < i % 7; turn++) await new Promise((resolve) => setImmediate(resolve))
      swap()
      const found = await looking
      if (found !== undefined) expect(found.identity).toBe(inside)
      if (isSwapped) swap()
    }
  })
})

describe.runIf(process.getuid?.() === 0)('giveAway()', () => {
  it('gives away all that is in a directory, and nothing behind a link', async () => {
    symlinkSync(at('outside'), at('volume/a/link'))
    symlinkSync(at('outside/key'), at('volume/a/b/link'))
    await giveAway(at('volume'), { uid: 4321, gid: 5432, fileMode: 0o060, directoryMode: 0o2070 })
    const seen = ['volume', 'volume/a', 'volume/a/b', 'volume/a/b/file', 'volume/a/link', 'volume/a/b/link', 'outside', 'outside/key'].map((name) => {
      const { uid, gid, mode } = lstatSync(at(name))
      return `${uid}:${gid} ${(mode & 0o7070).toString(8)}`
    })
    expect(seen.slice(0, 4)).toEqual(['4321:5432 2070', '4321:5432 2070', '4321:5432 2070', '4321:5432 60'])
    expect(seen.slice(4).map((one) => one.split(' ')[0])).toEqual(['4321:5432', '4321:5432', '0:0', '0:0'])
    expect(lstatSync(at('outside/key')).mode & 0o777).toBe(0o600)
  })

  it('says that a tree is too deep rather than run out of descriptors', async () => {
    mkdirSync(at(`volume/${'d/'.repeat(300)}`), { recursive: true })
    linkSync(at('volume/a/b/file'), at('volume/a/b/second'))
    await expect(giveAway(at('volume'), { uid: 4321 })).rejects.toThrow('more than 256 levels of directories')
  })
})
