import { closeSync, fstatSync, mkdtempSync, openSync, readFileSync, readSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreOpenError } from '../src/store/index.ts'
import { bundleChild } from './bundle-child.ts'
import { readStore, runChild } from './crash-child.ts'
import type { Found } from './store-crash-ledger.ts'

const copies = 24

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'store-copy-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** All acknowledged writes of each key, in the order of revisions; a delete has no seq. */
class WriteHistory {
  readonly #attempts = new Map<string, number | undefined>()
  readonly #writes = new Map<string, { revision: number; seq: number | undefined }[]>()
  #waiting: (() => void)[] = []
  count = 0

  hear([word, key = '', number = '']: string[]): void {
    if (word === 'try') this.#attempts.set(key, number === '-' ? undefined : Number(number))
    if (word !== 'ack') return
    const writes = this.#writes.get(key) ?? []
    this.#writes.set(key, [...writes, { revision: Number(number), seq: this.#attempts.get(key) }])
    this.count++
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves after the next acknowledged write. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  at(revision: number): Map<string, Found> {
    const state = new Map<string, Found>()
    for (const [key, writes] of this.#writes) {
      const last = writes.findLast((write) => write.revision <= revision)
      if (last?.seq !== undefined) state.set(key, { revision: last.revision, seq: last.seq })
    }
    return state
  }
}

/**
 * Copies a file that is written to, a piece at a time and the pieces in some order, as any tool might. A write is
 * acknowledged between two pieces, so that copies are torn on a machine of any speed.
 */
async function copyInPieces(from: string, to: string, isBackwards: boolean, history: WriteHistory): Promise<void> {
  const file = openSync(from, 'r')
  try {
    const bytes = Buffer.alloc(fstatSync(file).size)
    const piece = 1 << 14
    const starts = Array.from({ length: Math.ceil(bytes.length / piece) }, (_, i) => i * piece)
    for (const start of isBackwards ? starts.reverse() : starts) {
      readSync(file, bytes, start, Math.min(piece, bytes.length - start), start)
      await history.next()
    }
    writeFileSync(to, bytes)
  } finally {
    closeSync(file)
  }
}

describe('a copy of a directory that is in use', () => {
  it('is the state of one revision, or is refused and left as it is', async () => {
    const script = await bundleChild(fileURLToPath(new URL('store-crash-child.ts', import.meta.url)), dir)
    const original = join(dir, 'original')
    const history = new WriteHistory()
    const targets: string[] = []
    let isCopying = false
    let heardAtEnd = Infinity
    const copyAll = async (): Promise<void> => {
      for (let i = 0; i < copies; i++) {
        const to = mkdtempSync(join(dir, 'copy-'))
        await copyInPieces(join(original, 'data.mdb'), join(to, 'data.mdb'), i % 2 === 1, history)
        targets.push(to)
      }
      heardAtEnd = history.count
    }
    let copying = Promise.resolve()
    await runChild([process.execPath, script, original, '24'], (words, child) => {
      history.hear(words)
      if (!isCopying && history.count > 200) {
        isCopying = true
        copying = copyAll()
      }
      // By then all writes that a copy may hold have been acknowledged.
      if (history.count > heardAtEnd + 500) child.kill('SIGKILL')
    })
    await copying

    const outcomes = { whole: 0, refused: 0 }
    for (const target of targets) {
      const before = readFileSync(join(target, 'data.mdb'))
      try {
        const { found, revision } = await readStore(target)
        expect(found).toEqual(history.at(revision))
        outcomes.whole++
      } catch (e) {
        if (!(e instanceof StoreOpenError)) throw e
        expect(e.message).toMatch(/copies of a file in use are inconsistent: use `coxswain backup`|of another application, or damaged/)
        expect(readFileSync(join(target, 'data.mdb')).equals(before)).toBe(true)
        expect(readdirSync(target)).toEqual(['data.mdb'])
        outcomes.refused++
      }
    }
    expect(outcomes.whole + outcomes.refused).toBe(copies)
    // Otherwise no copy was torn, and this test has shown nothing.
    expect(outcomes.refused).toBeGreaterThan(0)
  })
})
