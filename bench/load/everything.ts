import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** `coxswain up` in a process of its own. */
export interface RunningEverything {
  pid: number
  kubeconfig: string
  /** From the spawn to the line that says that it is ready. */
  readyMs: number
  stop(): Promise<void>
}

/** Starts `program up` on a data directory, with flags for node and for itself, and waits until it says that it is ready. */
export async function startEverything(program: string, dataDir: string, nodeFlags: readonly string[], flags: readonly string[] = []): Promise<RunningEverything> {
  const began = performance.now()
  const args = [...nodeFlags, program, 'up', '--data-dir', dataDir, '--secure-port', '0', '--log-level', 'error', ...flags]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const line = await Promise.race([
    new Promise<string>((resolve) => createInterface({ input: child.stdout }).on('line', (text) => text.startsWith('ready ') && resolve(text))),
    ended.then(() => {
      throw new Error(`coxswain up ended with ${child.exitCode}`)
    }),
  ])
  const readyMs = performance.now() - began
  return {
    pid: child.pid!,
    kubeconfig: line.split(' ')[3]!,
    readyMs,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
