import { spawn } from 'node:child_process'
import type { Clock } from '../../base/clock.ts'

export interface Command {
  file: string
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  /** True if the command may prompt the user at the terminal. */
  isInteractive: boolean
}

export interface CommandResult {
  /** The exit code; null if a signal ended the command. */
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a command. Rejects if it cannot be started, or exceeds the time limit. */
export type RunCommand = (command: Command) => Promise<CommandResult>

/** Time limits: with a user who types, and without. */
const limitsMs = { interactive: 10 * 60_000, alone: 60_000 }

/** Runs commands as child processes. */
export const processRunner =
  (clock: Clock): RunCommand =>
  ({ file, args, env, isInteractive }) =>
    new Promise((resolve, reject) => {
      const child = spawn(file, [...args], {
        env: { ...env },
        stdio: [isInteractive ? 'inherit' : 'ignore', 'pipe', isInteractive ? 'inherit' : 'pipe'],
      })
      const limitMs = isInteractive ? limitsMs.interactive : limitsMs.alone
      const cancelTimer = clock.after(limitMs, () => {
        child.kill('SIGKILL')
        reject(new Error(`did not end within ${limitMs / 1000} s`))
      })
      const out: Buffer[] = []
      const err: Buffer[] = []
      child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
      child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
      child.on('error', (e) => {
        cancelTimer()
        reject(e)
      })
      child.on('close', (code) => {
        cancelTimer()
        resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') })
      })
    })
