// Run by store-crash.test.ts: writes as fast as it can until it is killed, and says so. One line per word:
//   ready REVISION · try KEY SEQ · ack KEY REVISION · failed KEY MESSAGE · refused WHY MESSAGE. SEQ is - for a delete.
import { writeSync } from 'node:fs'
import { StoreOpenError, openLmdbStore } from '../src/store/index.ts'
import { keysPerWriter, makeValue, readSeq } from './store-crash-value.ts'

const [dir = '', writers = '0'] = process.argv.slice(2)

// Whoever was to kill it may be gone.
setTimeout(() => {
  say('failed - nobody has killed this process for two minutes')
  process.exit(4)
}, 120_000).unref()

// Not through a stream: what was said must be in the pipe when the process is killed.
const say = (line: string): number => writeSync(1, `${line}\n`)

try {
  const store = await openLmdbStore({ dir })
  say(`ready ${store.revision}`)
  let failures = 0

  const compactNowAndThen = async (): Promise<void> => {
    for (;;) {
      await store.compact(Math.max(store.compactedRevision, store.revision - 300)).catch(() => undefined) // writers tell
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  const keepWriting = async (writer: number): Promise<void> => {
    for (let turn = 0; ; turn++) {
      const key = `/crash/${writer}/${turn % keysPerWriter}`
      const current = await store.get(key)
      const seq = current && turn % 5 === 4 ? undefined : (current ? readSeq(current.value, key) : store.revision * 1000) + 1
      say(`try ${key} ${seq ?? '-'}`)
      try {
        const value = seq === undefined ? undefined : makeValue(key, seq)
        const result = await store.write({ key, expected: current?.revision ?? 0, value })
        say(result.ok ? `ack ${key} ${result.revision}` : `failed ${key} conflict`)
      } catch (error) {
        say(`failed ${key} ${(error as Error).message}`)
        // Not at the first: a store that cannot write must go on saying so.
        if (++failures === 100) process.exit(3)
      }
    }
  }

  await Promise.all([compactNowAndThen(), ...Array.from({ length: Number(writers) }, (_, writer) => keepWriting(writer))])
} catch (error) {
  say(`refused ${error instanceof StoreOpenError ? error.why : 'Error'} ${(error as Error).message}`)
  process.exit(2)
}
