import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openLmdbStore } from '../src/store/index.ts'
import { bundleChild } from './bundle-child.ts'
import { hear, readStore, runChild } from './crash-child.ts'
import { AckLedger } from './store-crash-ledger.ts'

const kills = 20
const writers = 24

let scripts: string
let script: string
let dir: string

beforeAll(async () => {
  scripts = mkdtempSync(join(tmpdir(), 'store-crash-child-'))
  script = await bundleChild(fileURLToPath(new URL('store-crash-child.ts', import.meta.url)), scripts)
})

afterAll(() => rmSync(scripts, { recursive: true }))

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-crash-'))
})

afterEach(() => rmSync(dir, { recursive: true }))

const run = (onLine: Parameters<typeof runChild>[1], command = [process.execPath]): Promise<unknown> => runChild([...command, script, dir, String(writers)], onLine)

describe('a store whose process is killed', () => {
  it(`loses nothing that it acknowledged, ${kills} times over`, async () => {
    const ledger = new AckLedger()
    for (let kill = 0; kill < kills; kill++) {
      const before = ledger.count
      // Any moment will do; after so many acknowledgements it is another one each time, and under load.
      const after = Math.floor(Math.random() * 900)
      const end = await run((words, child) => {
        hear(ledger, words)
        if (words[0] === 'ready' ? after < 20 : ledger.count - before >= after) child.kill('SIGKILL')
      })
      expect(end).toBe('SIGKILL')
      const { found, revision } = await readStore(dir)
      expect(ledger.account(found, revision)).toEqual([])
    }
    expect(ledger.count).toBeGreaterThan(kills * 100)
  })

  it('can be opened at once, while a second process cannot have it before', async () => {
    const refused: string[] = []
    await run(([word], child) => {
      if (word !== 'ack' || refused.length > 0) return
      refused.push(`process ${child.pid}`)
      void openLmdbStore({ dir }).catch((error: Error) => refused.push(error.message)).finally(() => child.kill('SIGKILL'))
    })
    expect(refused).toHaveLength(2)
    expect(refused[1]).toContain(dir)
    expect(refused[1]).toContain(refused[0])
    const { revision } = await readStore(dir)
    expect(revision).toBeGreaterThan(0)
  })
})

describe('a store whose disk is full', () => {
  it('rejects the writes that it cannot keep and loses no other', async () => {
    const ledger = new AckLedger()
    const failures: string[] = []
    // A limit on the size of a file looks like a full disk to whoever writes it; 512-byte or 1-KB blocks, as the shell likes.
    const limited = ['sh', '-c', 'ulimit -f 4096; exec "$@"', 'sh', process.execPath]
    const end = await run((words) => {
      hear(ledger, words)
      if (words[0] === 'failed') failures.push(words.slice(2).join(' '))
    }, limited)
    expect(end).toBe(3)
    expect(ledger.count).toBeGreaterThan(0)
    expect(failures).toHaveLength(100)
    for (const failure of failures) expect(failure).toMatch(/could not be made durable/)
    const { found, revision } = await readStore(dir)
    expect(ledger.account(found, revision)).toEqual([])
  })
})
