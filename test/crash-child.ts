import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { openLmdbStore } from '../src/store/index.ts'
import type { AckLedger, Found } from './store-crash-ledger.ts'
import { readSeq } from './store-crash-value.ts'

type OnLine = (words: string[], child: ChildProcess) => void

/** Runs a command, such as store-crash-child.ts with its arguments, until it ends, handing over each line that it says. Returns its exit code or signal. */
export async function runChild([program = '', ...args]: readonly string[], onLine: OnLine): Promise<unknown> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
    for await (const line of createInterface({ input: child.stdout })) onLine(line.split(' '), child)
    return await ended
  } finally {
    child.kill('SIGKILL')
  }
}

/** Reads the child's keys from a store's directory. */
export async function readStore(dir: string): Promise<{ found: Map<string, Found>; revision: number }> {
  const store = await openLmdbStore({ dir })
  const { items, revision } = await store.range('/crash/')
  await store.close()
  return { found: new Map(items.map(({ key, value, revision }) => [key, { revision, seq: readSeq(value, key) }])), revision }
}

/** A ledger that listens to what the child says. */
export function hear(ledger: AckLedger, [word, key = '', number = '']: string[]): void {
  if (word === 'try') ledger.attempt(key, number === '-' ? undefined : Number(number))
  if (word === 'ack') ledger.acknowledge(key, Number(number))
}
