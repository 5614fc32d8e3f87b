import { writeSync } from 'node:fs'
import { StoreOpenError, openLmdbStore } from '../src/store/index.ts'

// Opens a store whose data is of an older format, and says when it begins and when it is done. The parent kills it in
// between. Written past the event loop, which stands still during a conversion.
const say = (line: string): void => void writeSync(1, `${line}\n`)

say('opening')
try {
  const store = await openLmdbStore({ dir: process.argv[2]!, onConverted: () => say('converted') })
  say('open')
  await store.close()
} catch (error) {
  say(error instanceof StoreOpenError ? `refused ${error.why} ${error.message}` : `failed ${String(error)}`)
}
