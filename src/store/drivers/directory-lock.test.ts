import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DirectoryInUse, directoryOwner, lockDirectory } from './directory-lock.ts'

describe('lockDirectory()', () => {
  let dir: string

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lock-'))
  })

  afterEach(() => rmSync(dir, { recursive: true }))

  it('gives the directory to one at a time and leaves nothing behind', async () => {
    const release = await lockDirectory(dir)
    await expect(lockDirectory(dir)).rejects.toThrow(new DirectoryInUse(process.pid))
    await release()
    const again = await lockDirectory(dir)
    await again()
    expect(readdirSync(dir)).toEqual([])
  })

  it('gives it to exactly one of those that come together', async () => {
    for (let round = 0; round < 10; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDirectory(dir)))
      const won = results.filter((result) => result.status === 'fulfilled')
      expect(won).toHaveLength(1)
      await won[0]!.value()
    }
  })

  it('is not impressed by what a dead owner left', async () => {
    writeFileSync(join(dir, 'owner-0-1-abc'), '')
    const release = await lockDirectory(dir)
    expect(readdirSync(dir)).toHaveLength(1)
    await release()
  })

  it('tells its owner, and nobody when the owner is gone', async () => {
    expect(await directoryOwner(dir)).toBeUndefined()
    const release = await lockDirectory(dir)
    expect(await directoryOwner(dir)).toBe(process.pid)
    await release()
    writeFileSync(join(dir, 'owner-0-1-abc'), '')
    expect(await directoryOwner(dir)).toBeUndefined()
  })
})
