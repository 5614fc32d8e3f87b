import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** `coxswain up` in a process of its own. */
export interface RunningEverything {
  pid: number
  kubeconfig: string
  /** From the spawn to the line that says that it is ready. */
  readyMs: number
  /** Resolves with the dashboard's link when it is printed. */
  link: Promise<string>
  /** Resolves with the exit code or the signal when the process has ended, whoever ended it. */
  ended: Promise<number | string>
  /** Asks the process to stop, and kills it if it has not stopped within 20 seconds. */
  stop(): Promise<void>
}

const startLimitMs = 120_000
const stopLimitMs = 20_000

/** Starts `program up` on a data directory, with flags for node and for itself, and waits until it says that it is ready. */
export async function startEverything(program: string, dataDir: string, nodeFlags: readonly string[], flags: readonly string[] = []): Promise<RunningEverything> {
  const began = performance.now()
  const args = [...nodeFlags, program, 'up', '--data-dir', dataDir, '--secure-port', '0', '--log-level', 'error', ...flags]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const kill = () => child.kill('SIGKILL')
  // A bench that ends early leaves no cluster behind.
  process.once('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    return (code ?? signal) as number | string
  })
  const tooLate = setTimeout(kill, startLimitMs)
  const lines = createInterface({ input: child.stdout })
  const link = new Promise<string>((resolve) => lines.on('line', (text) => text.includes('?key=') && resolve(/http:\S+/.exec(text)![0])))
  const line = await Promise.race([
    new Promise<string>((resolve) => lines.on('line', (text) => text.startsWith('ready ') && resolve(text))),
    ended.then((how) => {
      const seconds = Math.round((performance.now() - began) / 1000)
      throw new Error(`coxswain up ended with ${how} after ${seconds} s, before it was ready`)
    }),
  ]).finally(() => clearTimeout(tooLate))
  const readyMs = performance.now() - began
  return {
    pid: child.pid!,
    kubeconfig: line.split(' ')[3]!,
    readyMs,
    link,
    ended,
    async stop() {
      child.kill('SIGTERM')
      const patience = setTimeout(kill, stopLimitMs)
      await ended
      clearTimeout(patience)
    },
  }
}
/** Has SIGINT and SIGTERM end the bench by `process.exit`, so that what it has started is ended with it. */
export function endOnSignals(cleanUp: () => Promise<void> = async () => {}): void {
  const codes = { SIGINT: 130, SIGTERM: 143 } as const
  for (const [signal, code] of Object.entries(codes)) {
    process.once(signal, () => void cleanUp().finally(() => process.exit(code)))
  }
}
