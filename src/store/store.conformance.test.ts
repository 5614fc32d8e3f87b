import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStore } from './conformance/index.ts'
import { openLmdbStore, openMemoryStore } from './index.ts'

describeStore('memory', async () => ({
  open: async (clock) => openMemoryStore({ clock }),
  remove: async () => undefined,
}))

describeStore('LMDB', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'store-'))
  return {
    open: (clock) => openLmdbStore({ dir, clock }),
    remove: async () => rmSync(dir, { recursive: true }),
  }
})
