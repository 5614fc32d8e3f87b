import { spawn } from 'node:child_process'
import { existsSync, readlinkSync } from 'node:fs'
import { allProcesses } from './proc.ts'
import { shellWord } from './tools.ts'

const script = ['/usr/bin/script', '/bin/script'].find((file) => existsSync(file))

/** True if this machine can create terminals. */
export const hasTerminals = script !== undefined

/** Wraps a command so that it runs in a terminal. Returns it unchanged if terminals are not available. */
export function inTerminal(command: readonly string[]): readonly string[] {
  if (!script) return command
  if (process.platform !== 'linux') return [script, '-q', '/dev/null', ...command]
  return [script, '-q', '-e', '-f', '-c', `exec ${command.map(shellWord).join(' ')}`, '/dev/null']
}

/** Sets the size of the terminal that the process holds for its child. The kernel notifies the program. */
export function setTerminalSize(holder: number, columns: number, rows: number): void {
  const child = allProcesses().find((p) => p.parent === holder)
  if (!child) return
  try {
    // Uses the open file, because its path may be in another root directory.
    const file = `/proc/${child.pid}/fd/0`
    if (!/\/dev\/pts\/\d+$/.test(readlinkSync(file))) return
    spawn('stty', ['-F', file, 'cols', String(columns), 'rows', String(rows)], { stdio: 'ignore' }).on(
      'error',
      () => {},
    )
  } catch {
    // The process has ended meanwhile.
  }
}
